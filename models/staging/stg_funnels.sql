-- Funnels and web sites: pages that lead visitors from one to the next.
SELECT
  location_id,
  id,
  name,
  type,
  category,
  url,
  domain_id,
  parent_id,
  is_store_active,
  date_added,
  updated_at,
  deleted,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'funnels') }}
WHERE _deleted_at IS NULL

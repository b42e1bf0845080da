-- Groups of products in the online store.
SELECT
  location_id,
  id,
  name,
  slug,
  image,
  created_at,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'collections') }}
WHERE _deleted_at IS NULL

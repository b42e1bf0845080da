-- Contacts and other records that each deal is tied to.
SELECT
  location_id,
  opportunity_id,
  position,
  object_key,
  record_id,
  relation_id,
  association_id,
  is_primary,
  full_name,
  company_name,
  email,
  phone,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'opportunity_relations') }}
WHERE _deleted_at IS NULL

-- Further phones of each contact.
SELECT
  location_id,
  contact_id,
  phone,
  phone_label,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'contact_phones') }}
WHERE _deleted_at IS NULL

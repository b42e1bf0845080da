-- Other records that each note is tied to.
SELECT
  location_id,
  contact_note_id,
  position,
  object_key,
  record_id,
  relation_id,
  association_id,
  is_primary,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'contact_note_relations') }}
WHERE _deleted_at IS NULL

SELECT
  contacts.location_id,
  contacts.id AS contact_id,
  coalesce(nullif(contacts.name, ''), nullif(concat_ws(' ', nullif(contacts.first_name, ''), nullif(contacts.last_name, '')), '')) AS contact_name,
  contacts.first_name,
  contacts.last_name,
  contacts.email,
  contacts.phone,
  contacts.company_name,
  contacts.type AS contact_type,
  contacts.source,
  contacts.assigned_to AS assigned_user_id,
  coalesce(tags.tags, []) AS tags,
  contacts.city,
  contacts.state,
  contacts.postal_code,
  contacts.country,
  contacts.dnd AS is_dnd,
  contacts.date_added AS created_at,
  contacts.date_added AT TIME ZONE locations.time_zone AS created_local,
  created_local::DATE AS created_local_date,
  contacts.date_updated AS updated_at,
  contacts._synced_at
FROM {{ ref('stg_contacts') }} AS contacts
LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)
LEFT JOIN (
  SELECT location_id, contact_id, list(tag ORDER BY tag) AS tags
  FROM {{ ref('stg_contact_tags') }}
  GROUP BY ALL
) AS tags ON tags.location_id = contacts.location_id AND tags.contact_id = contacts.id

SELECT
  contacts.location_id,
  contacts.id AS contact_id,
  coalesce(nullif(contacts.name, ''), nullif(concat_ws(' ', contacts.first_name, contacts.last_name), '')) AS contact_name,
  contacts.first_name,
  contacts.last_name,
  contacts.email,
  contacts.phone,
  contacts.company_name,
  contacts.type AS contact_type,
  contacts.source,
  contacts.assigned_to AS assigned_user_id,
  tags.tags,
  contacts.city,
  contacts.state,
  contacts.postal_code,
  contacts.country,
  contacts.dnd AS is_do_not_disturb,
  contacts.date_added AS created_at,
  (contacts.date_added AT TIME ZONE locations.time_zone)::DATE AS created_local_date,
  contacts.date_updated AS updated_at,
  contacts._synced_at
FROM {{ ref('stg_contacts') }} AS contacts
LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)
LEFT JOIN (
  SELECT location_id, contact_id, string_agg(tag, ', ' ORDER BY tag) AS tags
  FROM {{ ref('stg_contact_tags') }}
  GROUP BY ALL
) AS tags ON tags.location_id = contacts.location_id AND tags.contact_id = contacts.id

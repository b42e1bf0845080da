-- The first and the last visit that the service attributes to a contact.
SELECT
  contacts.location_id,
  contacts.id AS contact_id,
  contacts.date_added AS created_at,
  contacts.date_added AT TIME ZONE locations.time_zone AS created_local,
  created_local::DATE AS created_local_date,
  contacts.source,
  contacts.attribution_source_session_source AS first_session_source,
  contacts.attribution_source_medium AS first_medium,
  contacts.attribution_source_campaign AS first_campaign,
  contacts.attribution_source_utm_source AS first_utm_source,
  contacts.attribution_source_utm_medium AS first_utm_medium,
  contacts.attribution_source_utm_campaign AS first_utm_campaign,
  contacts.attribution_source_url AS first_url,
  contacts.attribution_source_referrer AS first_referrer,
  contacts.last_attribution_source_session_source AS last_session_source,
  contacts.last_attribution_source_medium AS last_medium,
  contacts.last_attribution_source_campaign AS last_campaign,
  contacts.last_attribution_source_utm_source AS last_utm_source,
  contacts.last_attribution_source_utm_medium AS last_utm_medium,
  contacts.last_attribution_source_utm_campaign AS last_utm_campaign,
  coalesce(
    nullif(contacts.attribution_source_session_source, ''),
    nullif(contacts.attribution_source_utm_source, ''),
    nullif(contacts.source, ''),
    'unknown'
  ) AS channel
FROM {{ ref('stg_contacts') }} AS contacts
LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)

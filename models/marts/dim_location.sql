-- A time zone of a location that is not known becomes UTC, so that dates can be computed for every row. A currency that the
-- service does not send is the one that the settings state, and otherwise NULL: it is not guessed.
SELECT
  locations.id AS location_id,
  locations.name AS location_name,
  coalesce(zones.time_zone, 'UTC') AS time_zone,
  zones.time_zone IS NULL AS is_time_zone_unknown,
  coalesce(locations.currency, stated.currency) AS currency,
  locations.country
FROM {{ ref('stg_locations') }} AS locations
LEFT JOIN {{ ref('stated_currencies') }} AS stated ON stated.location_id = locations.id
LEFT JOIN {{ ref('location_time_zones') }} AS zones ON zones.location_id = locations.id

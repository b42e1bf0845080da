-- An unknown time zone of a location becomes UTC, so that dates can be computed for every row.
SELECT
  locations.id AS location_id,
  locations.name AS location_name,
  coalesce(zones.name, 'UTC') AS time_zone,
  zones.name IS NULL AS is_time_zone_unknown,
  locations.currency,
  locations.country
FROM {{ ref('stg_locations') }} AS locations
LEFT JOIN (SELECT DISTINCT name FROM pg_timezone_names()) AS zones ON zones.name = locations.timezone

-- An unknown time zone of a location becomes UTC, so that dates can be computed for every row. A currency that the service does
-- not send is the one that the settings state, and otherwise NULL: it is not guessed.
SELECT
  locations.id AS location_id,
  locations.name AS location_name,
  coalesce(zones.name, 'UTC') AS time_zone,
  zones.name IS NULL AS is_time_zone_unknown,
  coalesce(nullif(locations.currency, ''), stated.currency) AS currency,
  locations.country
FROM {{ ref('stg_locations') }} AS locations
LEFT JOIN {{ ref('stated_currencies') }} AS stated ON stated.location_id = locations.id
LEFT JOIN (SELECT lower(name) AS key, min(name) AS name FROM pg_timezone_names() GROUP BY ALL) AS zones
  ON zones.key = lower(trim(regexp_replace(locations.timezone, '^\(.*?\)', '')))

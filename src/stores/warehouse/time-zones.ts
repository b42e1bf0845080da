/** The time zone that a location names, as people and programs write it: of IANA, of Windows, or by a city. */
import * as Effect from "effect/Effect"
import { windowsZones } from "../../catalog/windows-zones.ts"
import { query } from "./query.ts"
import { literal } from "./sql.ts"

/** The continents and oceans of IANA: a city of another zone, such as that of US/Central, is none. */
const regions = "^(Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific)/"

/** Windows has a name for the winter, the summer, and the list from which people choose. */
const windowsNames = Object.entries(windowsZones).flatMap(([name, zone]) =>
  ["Standard Time", "Daylight Time", "Time"].map(
    (end) => [name.replace(/Standard Time$/, end).toLowerCase(), zone] as const
  )
)

/**
 * SELECT of `location_id` and `time_zone`, for the locations whose time zone is known. `from`: a table of locations. Letters of
 * either case, blanks at the ends, and an offset before the name, such as (UTC+01:00), do not matter. Of a list of cities, the
 * first one that is a zone counts.
 */
export const locationZonesSql = (from: string): string => {
  const zones = Object.entries({ ...Object.fromEntries(windowsNames), "coordinated universal time": "UTC" })
  return `WITH zones AS (
  SELECT key, arg_min(name, place) AS name FROM (
    SELECT lower(name) AS key, name, 1 AS place FROM pg_timezone_names()
    UNION ALL SELECT lower(replace(regexp_extract(name, '[^/]+$'), '_', ' ')), name, 3 FROM pg_timezone_names()
      WHERE regexp_matches(name, ${literal(regions)})
    UNION ALL SELECT key, name, 2 FROM (VALUES
      ${zones.map(([key, zone]) => `(${literal(key)}, ${literal(zone)})`).join(",\n      ")}) AS windows(key, name)
  ) GROUP BY key
), written AS (
  SELECT id AS location_id, lower(trim(regexp_replace(trim(timezone, ${blanks}), '^\\(.*?\\)', ''), ${blanks})) AS name FROM ${from}
), candidates AS (
  SELECT location_id, unnest([name, trim(regexp_replace(name, '\\(.*\\)$', ''))] || list_transform(string_split(name, ','), lambda part: trim(part))) AS key,
    generate_subscripts([name, name] || string_split(name, ','), 1) AS place
  FROM written WHERE name <> ''
)
SELECT location_id, arg_min(zones.name, place) AS time_zone
FROM candidates JOIN zones USING (key)
GROUP BY location_id`
}

const blanks = `' ' || chr(9) || chr(10) || chr(13) || chr(160)`

/** Locations that name a time zone which is not known: their days are those of UTC. */
export const unknownTimeZones = Effect.fnUntraced(
  function* () {
    return yield* query(
      { location: String, timeZone: String },
      `SELECT id AS location, timezone AS "timeZone" FROM crm.locations AS l
     ANTI JOIN (${locationZonesSql("crm.locations")}) AS known ON known.location_id = l.id
     WHERE l._deleted_at IS NULL AND trim(l.timezone) <> '' ORDER BY id`
    )
  },
  // The settings may keep the table or the column out.
  Effect.orElseSucceed((): ReadonlyArray<UnknownTimeZone> => [])
)
export interface UnknownTimeZone {
  readonly location: string
  readonly timeZone: string
}

/** A location that sends no time zone is not among them. */
export const timeZoneText = ({ location, timeZone }: UnknownTimeZone): string =>
  `The location ${location} has the time zone ${JSON.stringify(timeZone.slice(0, 80))}, which is not known: its days and hours are those of UTC.`

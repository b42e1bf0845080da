/** `meta.watermarks`: up to which time each resource was read completely, and the capabilities of the service for it. */
import * as Effect from "effect/Effect"
import type { Failure } from "../../../values/failure.ts"
import { type Capabilities, decodeCapabilities, encodeCapabilities } from "../../../values/capabilities.ts"
import { isAny, query, queryTexts } from "../query.ts"
import { instantOf, literal, numberOf } from "../sql.ts"
import { locationZonesSql } from "../time-zones.ts"
import { Warehouse } from "../warehouse.ts"

/** Times are epoch milliseconds. */
export interface Watermark {
  readonly watermark: number | undefined
  readonly completeAt: number | undefined
  readonly fullCompleteAt: number | undefined
  /** The service's total at the last complete full reading. */
  readonly total: number | undefined
  readonly capabilities: Capabilities
}

/** Watermarks by resource, or by label of children. */
export const watermarksOf = Effect.fnUntraced(function* (
  location: string
): Effect.fn.Return<ReadonlyMap<string, Watermark>, Failure, Warehouse> {
  const rows = yield* query(
    {
      resource: String,
      watermark: numberOf,
      completeAt: numberOf,
      fullCompleteAt: numberOf,
      total: numberOf,
      capabilities: decodeCapabilities
    },
    `SELECT resource, epoch_ms(watermark) AS watermark, epoch_ms(complete_at) AS completeAt,
       epoch_ms(full_complete_at) AS fullCompleteAt, total,
       capabilities FROM meta.watermarks WHERE location_id = ${literal(location)}`
  )
  return new Map(rows.map(({ resource, ...watermark }) => [resource, watermark]))
})

/** The days, in the time zone of each location, on which resources were last read completely. */
export const readingDays = Effect.suspend(() => {
  const days = (zone: string, joins: string) =>
    queryTexts(
      `SELECT DISTINCT (w.complete_at AT TIME ZONE ${zone})::DATE::VARCHAR AS day FROM meta.watermarks AS w ${joins}
       WHERE w.full_complete_at IS NOT NULL AND w.complete_at IS NOT NULL ORDER BY ALL`
    )
  const ofLocations = `LEFT JOIN (${locationZonesSql("crm.locations")}) AS z ON z.location_id = w.location_id`
  // The copy of a masked release may have no locations.
  return Effect.catch(days("coalesce(z.time_zone, 'UTC')", ofLocations), () => days("'UTC'", ""))
})

/** The end of a complete reading. */
export interface CompleteReading {
  readonly location: string
  readonly resource: string
  /** When it ended, epoch milliseconds. */
  readonly at: number
  /** When its rows were read, if earlier: a parent whose children are not due is not requested, and a run may resume a list. */
  readonly fetchedAt?: number | undefined
  readonly isFull: boolean
  readonly watermark?: number | undefined
  readonly total?: number | undefined
  readonly requests: number
  /** When deleted rows were last looked for, epoch milliseconds. */
  readonly soughtAt?: number | undefined
  readonly capabilities?: Capabilities | undefined
}

/**
 * A watermark never moves back, and values that a reading does not have stay as they were. `readings`: in the order of time;
 * several may be of the same resource.
 */
export const advanceWatermarks = (readings: ReadonlyArray<CompleteReading>): ReadonlyArray<string> => {
  if (readings.length === 0) return []
  const values = readings.map(
    ({ location, resource, at, fetchedAt = at, isFull, watermark, total, requests, soughtAt, capabilities }, n) =>
      `(${n}, ${literal(location)}, ${literal(resource)}, ${watermark === undefined ? "NULL" : instantOf(watermark)},
       ${instantOf(Math.min(fetchedAt, at))}, ${isFull ? instantOf(at) : "NULL"}, ${literal(total)}, ${requests},
       ${literal(capabilities && encodeCapabilities(capabilities))}, ${soughtAt === undefined ? "NULL" : instantOf(soughtAt)})`
  )
  // One statement: ON CONFLICT for each reading costs more than the rest of its state.
  return [
    `INSERT INTO meta.watermarks
       (location_id, resource, watermark, complete_at, full_complete_at, total, requests, capabilities, deletions_sought_at)
     SELECT location_id, resource, max(watermark::TIMESTAMPTZ), arg_max(complete_at, n), arg_max(full_at::TIMESTAMPTZ, n),
       arg_max(total::BIGINT, n), arg_max(requests, n), arg_max(capabilities::VARCHAR, n),
       max(sought_at::TIMESTAMPTZ)
     FROM (VALUES ${values.join(", ")}) AS v (n, location_id, resource, watermark, complete_at, full_at, total, requests, capabilities, sought_at)
     GROUP BY location_id, resource
     ON CONFLICT DO UPDATE SET watermark = greatest(watermark, excluded.watermark), complete_at = excluded.complete_at,
       full_complete_at = coalesce(excluded.full_complete_at, full_complete_at), total = coalesce(excluded.total, total),
       requests = excluded.requests, capabilities = coalesce(excluded.capabilities, capabilities),
       deletions_sought_at = coalesce(excluded.deletions_sought_at, deletions_sought_at)`
  ]
}

/** When each location was last read completely, by its least fresh list; epoch milliseconds. */
export const freshnessByLocation = Effect.fnUntraced(function* () {
  const rows = yield* query(
    { location: String, at: Number },
    "SELECT location_id AS location, epoch_ms(min(complete_at)) AS at FROM meta.watermarks WHERE full_complete_at IS NOT NULL GROUP BY ALL"
  )
  return new Map(rows.map(({ location, at }) => [location, at]))
})

/** Whether any resource was ever read completely. */
export const isAnythingComplete = () => isAny("meta.watermarks")

/**
 * When the rows of each resource of each location were read completely, epoch milliseconds: for children, those of the least
 * recently fetched parent.
 */
export const completeReadings = () =>
  query(
    // `isList`: a list, which each run reads, and not requests for single parents. An earlier release has no `deletions_sought_at`.
    { location: String, resource: String, completeAt: Number, isList: Boolean, soughtAt: numberOf },
    `SELECT location_id AS location, resource, epoch_ms(complete_at) AS completeAt, full_complete_at IS NOT NULL AS isList,
       epoch_ms(deletions_sought_at) AS soughtAt
     FROM (FROM meta.watermarks UNION ALL BY NAME SELECT NULL::TIMESTAMPTZ AS deletions_sought_at WHERE false)
     WHERE complete_at IS NOT NULL ORDER BY ALL`
  )

/** Every watermark, and whether it is later than the end of the last complete reading. Times are text. */
export const allWatermarks = () =>
  query(
    { location: String, resource: String, watermark: String, completeAt: String, isAhead: Boolean },
    `SELECT location_id AS location, resource, watermark, complete_at AS completeAt, watermark > complete_at AS isAhead
     FROM meta.watermarks ORDER BY ALL`
  )

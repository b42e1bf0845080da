/** What the warehouse knows about earlier readings: where plan and extract begin. */
import { Clock, Effect } from "effect"
import type { Window } from "../catalog/instants.ts"
import type { FollowUp } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import { instantOf, literal, name } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"

/** A parent row for which a request is due. */
export interface Due {
  readonly id: string
  /** The state of it that made it due. */
  readonly state: string
  /** Everything under it is to be read, not only what is recent. */
  readonly full: boolean
  /** Where an interrupted reading stands. */
  readonly begun: unknown
}

interface DueQuery {
  readonly location: string
  readonly followUp: FollowUp
  /** Whatever was fetched before this moment is due again, epoch milliseconds. */
  readonly before?: number | undefined
  readonly limit: number
}

/**
 * New and changed parents first, then those whose turn it is. Each parent has a period of its own between half and the
 * whole of `everyDays`, so that those read in one night do not all come back in one night.
 */
export const dueParents = Effect.fnUntraced(function* (
  query: DueQuery
): Effect.fn.Return<ReadonlyArray<Due>, Failure, Warehouse> {
  const now = instantOf(yield* Clock.currentTimeMillis)
  const { recent } = query.followUp
  const full =
    recent && query.before === undefined
      ? `f.full_at IS NULL OR f.full_at < ${now} - to_days(${recent.fullEveryDays}) OR ${isAhead("f.full_at", now)}`
      : "true"
  const rows = yield* (yield* Warehouse).rows(
    `SELECT p.id, p.state, ${full} AS is_full, f.progress ${dueFrom(query, now)}
     ORDER BY f.fetched_at IS NOT NULL AND f.parent_state IS NOT DISTINCT FROM p.state, f.fetched_at LIMIT ${query.limit}`
  )
  return rows.map((row) => ({
    id: String(row["id"]),
    state: String(row["state"]),
    full: row["is_full"] === true,
    begun: row["progress"] === null ? undefined : JSON.parse(String(row["progress"]))
  }))
})

export const dueCount = Effect.fnUntraced(function* (
  query: Omit<DueQuery, "limit">
): Effect.fn.Return<number, Failure, Warehouse> {
  const now = instantOf(yield* Clock.currentTimeMillis)
  const [row] = yield* (yield* Warehouse).rows(`SELECT count(*) AS n ${dueFrom(query, now)}`)
  return Number(row?.["n"])
})

/** Parents that are not asked for, because only some of the rows are. */
export const leftOutCount = Effect.fnUntraced(function* (
  location: string,
  { table, where = "true" }: Pick<FollowUp, "table" | "where">
): Effect.fn.Return<number, Failure, Warehouse> {
  const [row] = yield* (yield* Warehouse).rows(
    `SELECT count(*) AS n FROM crm.${name(table)}
     WHERE location_id = ${literal(location)} AND _deleted_at IS NULL AND (${where}) IS NOT TRUE`
  )
  return Number(row?.["n"] ?? 0)
})

const dueFrom = ({ location, followUp, before }: Omit<DueQuery, "limit">, now: string): string => {
  const { table, label, changedBy, everyDays, where = "true", ids, tombstone } = followUp
  const there = tombstone ? `(_deleted_at IS NULL OR ${name(tombstone)})` : "_deleted_at IS NULL"
  const state = changedBy === undefined ? "_row_hash" : `coalesce(${name(changedBy)}::VARCHAR, _row_hash)`
  const rows = `SELECT ${ids ?? "id"} AS id, ${state} AS state FROM crm.${name(table)}
    WHERE location_id = ${literal(location)} AND ${there} AND (${where})`
  // Several rows may name one id: any change of any of them counts.
  const parents = ids ? `SELECT id, max(state) AS state FROM (${rows}) WHERE id <> '' GROUP BY id` : rows
  return `FROM (${parents}) AS p
    LEFT JOIN (FROM meta.fanout WHERE location_id = ${literal(location)} AND resource = ${literal(label)}) AS f ON f.parent_id = p.id
    WHERE f.parent_id IS NULL ${before === undefined ? "" : `OR f.fetched_at < ${instantOf(before)}`} OR f.parent_state IS DISTINCT FROM p.state
    OR f.fetched_at < ${now} - to_seconds(86400 * ${everyDays} * (0.5 + hash(p.id) % 1000 / 2000.0))
    OR ${isAhead("f.fetched_at", now)}`
}

/** SQL: whether a moment was written down while our clock was ahead. */
export const isAhead = (moment: string, now: string): string => `${moment} > ${now} + INTERVAL 1 DAY`

/** Windows of the past that were read, by resource. */
export const backfilled = Effect.fnUntraced(function* (
  location: string
): Effect.fn.Return<ReadonlyMap<string, ReadonlyArray<Window>>, Failure, Warehouse> {
  const rows = yield* (yield* Warehouse).rows(
    `SELECT resource, epoch_ms(from_at) AS "from", epoch_ms(to_at) AS "to" FROM meta.backfilled WHERE location_id = ${literal(location)}`
  )
  const read = new Map<string, Array<Window>>()
  for (const { resource, from, to } of rows)
    read.set(String(resource), [...(read.get(String(resource)) ?? []), [Number(from), Number(to)]])
  return read
})

export interface Known {
  /** Epoch milliseconds. */
  readonly watermark: number | undefined
  readonly fullCompleteAt: number | undefined
  readonly total: number | undefined
  readonly requests: number | undefined
  readonly way: unknown
  readonly passes: Readonly<Record<string, unknown>>
}

/** By resource: how far it was read, and readings begun and not ended. */
export const knownReadings = Effect.fnUntraced(function* (
  location: string
): Effect.fn.Return<ReadonlyMap<string, Known>, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const marks = yield* warehouse.rows(
    `SELECT resource, epoch_ms(watermark) AS watermark, epoch_ms(full_complete_at) AS full_complete_at, total, requests, way
     FROM meta.watermarks WHERE location_id = ${literal(location)}`
  )
  const passes = yield* warehouse.rows(
    `SELECT resource, pass, progress FROM meta.passes WHERE location_id = ${literal(location)}`
  )
  const begun = new Map<string, Record<string, unknown>>()
  for (const { resource, pass, progress } of passes)
    begun.set(String(resource), { ...begun.get(String(resource)), [String(pass)]: JSON.parse(String(progress)) })
  const number = (value: unknown) => (value === null || value === undefined ? undefined : Number(value))
  const known = new Map<string, Known>()
  for (const resource of new Set([...marks.map((row) => String(row["resource"])), ...begun.keys()])) {
    const row = marks.find((mark) => mark["resource"] === resource)
    known.set(resource, {
      watermark: number(row?.["watermark"]),
      fullCompleteAt: number(row?.["full_complete_at"]),
      total: number(row?.["total"]),
      requests: number(row?.["requests"]),
      way: row?.["way"] ? JSON.parse(String(row["way"])) : undefined,
      passes: begun.get(resource) ?? {}
    })
  }
  return known
})

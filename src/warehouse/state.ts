/** What the warehouse knows about earlier readings: where plan and extract begin. */
import { Clock, Effect } from "effect"
import type { Failure } from "../failure.ts"
import { instantOf, literal, name } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"

/** A parent row for which a second request is due, with the state of it that made it due. */
export interface Due {
  readonly id: string
  readonly state: string
}

interface DueQuery {
  readonly location: string
  /** Resource that is read under the parent. */
  readonly resource: string
  readonly parentTable: string
  readonly changedBy: string | undefined
  readonly everyDays: number
  readonly limit: number
}

/**
 * New and changed parents first, then those whose turn it is. Each parent has a period of its own between half and the
 * whole of `everyDays`, so that those read in one night do not all come back in one night.
 */
export const dueParents = Effect.fnUntraced(function* (
  query: DueQuery
): Effect.fn.Return<ReadonlyArray<Due>, Failure, Warehouse> {
  const rows = yield* (yield* Warehouse).rows(
    `SELECT p.id, ${stateOf(query)} AS state ${yield* dueFrom(query)}
     ORDER BY f.fetched_at IS NOT NULL AND f.parent_state = ${stateOf(query)}, f.fetched_at LIMIT ${query.limit}`
  )
  return rows.map((row) => ({ id: String(row["id"]), state: String(row["state"]) }))
})

export const dueCount = Effect.fnUntraced(function* (
  query: Omit<DueQuery, "limit">
): Effect.fn.Return<number, Failure, Warehouse> {
  const [row] = yield* (yield* Warehouse).rows(`SELECT count(*) AS n ${yield* dueFrom(query)}`)
  return Number(row?.["n"])
})

const stateOf = ({ changedBy }: Pick<DueQuery, "changedBy">) =>
  changedBy === undefined ? "p._row_hash" : `coalesce(p.${name(changedBy)}::VARCHAR, p._row_hash)`

const dueFrom = Effect.fnUntraced(function* (query: Omit<DueQuery, "limit">) {
  const { location, resource, parentTable, everyDays } = query
  const now = yield* Clock.currentTimeMillis
  const days = `${everyDays} * (0.5 + hash(p.id) % 1000 / 2000.0)`
  return `FROM crm.${name(parentTable)} AS p
    LEFT JOIN (FROM meta.fanout WHERE location_id = ${literal(location)} AND resource = ${literal(resource)}) AS f ON f.parent_id = p.id
    WHERE p.location_id = ${literal(location)} AND p._deleted_at IS NULL
    AND (f.parent_id IS NULL OR f.parent_state <> ${stateOf(query)} OR f.fetched_at < ${instantOf(now)} - to_seconds(86400 * ${days}))`
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

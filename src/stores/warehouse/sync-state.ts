/** The state that earlier readings left in the warehouse, from which plan and extract start. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { ChildRequest } from "../../catalog/resource.ts"
import { type Checkpoint, decodeCheckpoint } from "../../values/checkpoint.ts"
import { checkpointsOf } from "./meta/checkpoints.ts"
import { parentStateSql } from "./meta/parent-state.ts"
import { type Watermark, watermarksOf } from "./meta/watermarks.ts"
import { query, queryValue } from "./query.ts"
import { instantOf, literal, name, numberOf } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"

/** A parent whose children or detail are due to be requested. */
export interface Due {
  readonly id: string
  /** The current version of the parent, to be stored with what is fetched. */
  readonly version: string
  /** Whether to read all its children, not only recent ones. */
  readonly full: boolean
  /** Where to resume an interrupted reading of this parent. */
  readonly checkpoint: Checkpoint | undefined
}

interface DueQuery {
  readonly location: string
  readonly childRequest: ChildRequest
  /** Parents fetched before this time are due again; epoch milliseconds. */
  readonly refreshCutoff?: number | undefined
  readonly limit: number
}

/**
 * Parents that are due: new and changed ones first, then those that were fetched longest ago, and last those that could not be
 * read when they were requested last. Each parent is fetched again
 * after a period between half of `refreshAfter` and all of it, so that parents read on one day are not all due on one day.
 */
export const dueParents = Effect.fnUntraced(function* (due: DueQuery) {
  const now = instantOf(yield* Clock.currentTimeMillis)
  const { incremental } = due.childRequest
  const isFull =
    incremental && due.refreshCutoff === undefined
      ? `f.full_at IS NULL OR f.full_at < ${now} - to_seconds(${Duration.toSeconds(incremental.fullEvery)}) OR ${isAhead("f.full_at", now)}`
      : "true"
  return yield* query(
    { id: String, version: String, full: Boolean, checkpoint: decodeCheckpoint },
    `SELECT p.id, p.version, ${isFull} AS "full", f.checkpoint ${parentsFrom(due)}
     WHERE ${isDue(due, now)}
     ORDER BY f.fetched_at IS NOT NULL AND f.parent_version IS NULL AND f.checkpoint IS NULL,
       f.fetched_at IS NOT NULL AND f.parent_version IS NOT DISTINCT FROM p.version, f.fetched_at, p.id LIMIT ${due.limit}`
  )
})

/** These parents, with their versions, whether they are due or not. */
export const parentVersions = Effect.fnUntraced(function* (
  location: string,
  childRequest: ChildRequest,
  ids: ReadonlyArray<string>
) {
  if (ids.length === 0) return []
  return yield* query(
    { id: String, version: String },
    `SELECT p.id, p.version FROM ${parentsSql(location, childRequest)} AS p
     SEMI JOIN (SELECT unnest([${ids.map(literal).join(", ")}]) AS id) AS wanted ON wanted.id = p.id`
  )
})

/** When the children of the least recently fetched parent were fetched, epoch milliseconds; `undefined` without parents. */
export const oldestFetch = (parents: Pick<DueQuery, "location" | "childRequest">) =>
  queryValue(numberOf, `SELECT epoch_ms(${oldestSql}) ${parentsFrom(parents)}`)

/** When the children or the detail of some parent were fetched last, epoch milliseconds. */
export const newestFetch = (location: string) =>
  queryValue(
    numberOf,
    `SELECT epoch_ms(max(fetched_at)) FROM meta.parent_state WHERE location_id = ${literal(location)}`
  )

/** The state of the parents, by label. A few in a statement, because DuckDB holds the joins of one in memory together. */
export const parentsStates = Effect.fnUntraced(function* (queries: ReadonlyArray<Omit<DueQuery, "limit">>) {
  const now = instantOf(yield* Clock.currentTimeMillis)
  const selects = queries.map(
    (one) =>
      `SELECT ${literal(one.childRequest.label)} AS label, count(*) FILTER (WHERE ${isDue(one, now)}) AS due,
         epoch_ms(${oldestSql}) AS oldestFetch ${parentsFrom(one)}`
  )
  const found = new Map<string, { readonly due: number; readonly oldestFetch: number | undefined }>()
  for (let from = 0; from < selects.length; from += statesAtOnce)
    for (const { label, ...state } of yield* query(
      { label: String, due: Number, oldestFetch: numberOf },
      selects.slice(from, from + statesAtOnce).join(" UNION ALL ")
    ))
      found.set(label, state)
  return found
})

const statesAtOnce = 4

/** The number of rows that are not deleted, by table; a table without any is absent. */
export const liveCounts = Effect.fnUntraced(function* (location: string, tables: ReadonlyArray<string>) {
  if (tables.length === 0) return new Map()
  const rows = tables.map(
    (table) =>
      `SELECT ${literal(table)} AS "table" FROM crm.${name(table)} WHERE location_id = ${literal(location)} AND _deleted_at IS NULL`
  )
  const found = yield* query(
    { table: String, n: Number },
    `SELECT "table", count(*) AS n FROM (${rows.join(" UNION ALL ")}) GROUP BY "table"`
  )
  return new Map(found.map(({ table, n }) => [table, n]))
})

/** The rows of a table in each window, by a timestamp column. */
export const countsByWindow = Effect.fnUntraced(function* (
  location: string,
  table: string,
  column: string,
  windows: ReadonlyArray<readonly [from: number, to: number]>
) {
  if (windows.length === 0) return []
  const counts = windows.map(
    ([from, to], index) =>
      `count(*) FILTER (${name(column)} >= ${instantOf(from)} AND ${name(column)} < ${instantOf(to)}) AS "${index}"`
  )
  const [row] = yield* (yield* Warehouse).rows(
    `SELECT ${counts.join(", ")} FROM crm.${name(table)} WHERE location_id = ${literal(location)}`
  )
  return windows.map((_, index) => Number(row?.[index]))
})

/** SQL for the parents of a child request: id, version. */
const parentsSql = (location: string, { table, versionColumn, where = "true", ids, tombstone }: ChildRequest) => {
  const isPresent = tombstone ? `(_deleted_at IS NULL OR ${name(tombstone)})` : "_deleted_at IS NULL"
  const version = versionColumn === undefined ? "_row_hash" : `coalesce(${name(versionColumn)}::VARCHAR, _row_hash)`
  const rows = `SELECT ${ids ?? "id"} AS id, ${version} AS version FROM crm.${name(table)}
    WHERE location_id = ${literal(location)} AND ${isPresent} AND (${where})`
  // Several rows may have one id, which is due again if the highest of their versions changes.
  return ids ? `(SELECT id, max(version) AS version FROM (${rows}) WHERE id <> '' GROUP BY id)` : `(${rows})`
}

/** SQL for the live parents `p`, each with what was fetched for it, `f`. */
const parentsFrom = ({ location, childRequest }: Pick<DueQuery, "location" | "childRequest">): string =>
  `FROM ${parentsSql(location, childRequest)} AS p
    LEFT JOIN ${parentStateSql({ location, label: childRequest.label })} AS f ON f.parent_id = p.id`

/** SQL: when the children were fetched. A parent without a version was requested, and not read. */
const oldestSql = "min(f.fetched_at) FILTER (f.parent_version IS NOT NULL)"

/** SQL: whether the children or the detail of `p` are due. */
const isDue = ({ refreshCutoff, childRequest: { refreshAfter } }: Omit<DueQuery, "limit">, now: string): string => {
  return `f.parent_id IS NULL ${refreshCutoff === undefined ? "" : `OR f.fetched_at < ${instantOf(refreshCutoff)}`} OR f.parent_version IS DISTINCT FROM p.version
    OR f.fetched_at < ${now} - to_seconds(${Duration.toSeconds(refreshAfter)} * (0.5 + hash(p.id) % 1000 / 2000.0))
    OR ${isAhead("f.fetched_at", now)}`
}

/** SQL: whether a stored time is in the future, because the local clock was ahead when it was stored. */
export const isAhead = (time: string, now: string): string => `${time} > ${now} + INTERVAL 1 DAY`

/** State of a resource, of its children, or of a backfill. */
export interface SyncState extends Partial<Watermark> {
  /** Checkpoints of lists that were not read to their end, by partition. */
  readonly checkpoints: Readonly<Record<string, Checkpoint>>
}

/** State by resource, or by label of children or of a backfill. */
export const readSyncState = Effect.fnUntraced(function* (location: string) {
  const watermarks = yield* watermarksOf(location)
  const checkpoints = yield* checkpointsOf(location)
  return new Map(
    [...new Set([...watermarks.keys(), ...checkpoints.keys()])].map((resource) => [
      resource,
      { ...watermarks.get(resource), checkpoints: checkpoints.get(resource) ?? {} }
    ])
  )
})

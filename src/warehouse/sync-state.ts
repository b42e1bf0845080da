/** What the warehouse knows about earlier readings: where plan and extract begin. */
import { Clock, Duration, Effect } from "effect"
import type { ChildRequest } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import { type Checkpoint, decodeCheckpoint } from "../values/checkpoint.ts"
import { checkpointsOf } from "./meta/checkpoints.ts"
import { parentStateSql } from "./meta/parent-state.ts"
import { type Watermark, watermarksOf } from "./meta/watermarks.ts"
import { instantOf, literal, name } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"

/** A parent row for which a request is due. */
export interface Due {
  readonly id: string
  /** The version of it that made it due. */
  readonly version: string
  /** Everything under it is to be read, not only what is recent. */
  readonly full: boolean
  /** Where an interrupted reading stands. */
  readonly checkpoint: Checkpoint | undefined
}

interface DueQuery {
  readonly location: string
  readonly childRequest: ChildRequest
  /** Whatever was fetched before this moment is due again, epoch milliseconds. */
  readonly refreshCutoff?: number | undefined
  readonly limit: number
}

/**
 * New and changed parents first, then those whose turn it is. Each parent has a period of its own between half and the
 * whole of `refreshAfter`, so that those read in one night do not all come back in one night.
 */
export const dueParents = Effect.fnUntraced(function* (
  query: DueQuery
): Effect.fn.Return<ReadonlyArray<Due>, Failure, Warehouse> {
  const now = instantOf(yield* Clock.currentTimeMillis)
  const { incremental } = query.childRequest
  const full =
    incremental && query.refreshCutoff === undefined
      ? `f.full_at IS NULL OR f.full_at < ${now} - to_seconds(${Duration.toSeconds(incremental.fullEvery)}) OR ${isAhead("f.full_at", now)}`
      : "true"
  const rows = yield* (yield* Warehouse).rows(
    `SELECT p.id, p.version, ${full} AS is_full, f.checkpoint ${dueFrom(query, now)}
     ORDER BY f.fetched_at IS NOT NULL AND f.parent_version IS NOT DISTINCT FROM p.version, f.fetched_at LIMIT ${query.limit}`
  )
  return rows.map((row) => ({
    id: String(row["id"]),
    version: String(row["version"]),
    full: row["is_full"] === true,
    checkpoint: decodeCheckpoint(row["checkpoint"])
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
export const excludedCount = Effect.fnUntraced(function* (
  location: string,
  { table, where = "true" }: Pick<ChildRequest, "table" | "where">
): Effect.fn.Return<number, Failure, Warehouse> {
  const [row] = yield* (yield* Warehouse).rows(
    `SELECT count(*) AS n FROM crm.${name(table)}
     WHERE location_id = ${literal(location)} AND _deleted_at IS NULL AND (${where}) IS NOT TRUE`
  )
  return Number(row?.["n"] ?? 0)
})

const dueFrom = ({ location, childRequest, refreshCutoff }: Omit<DueQuery, "limit">, now: string): string => {
  const { table, label, versionColumn, refreshAfter, where = "true", ids, tombstone } = childRequest
  const there = tombstone ? `(_deleted_at IS NULL OR ${name(tombstone)})` : "_deleted_at IS NULL"
  const version = versionColumn === undefined ? "_row_hash" : `coalesce(${name(versionColumn)}::VARCHAR, _row_hash)`
  const rows = `SELECT ${ids ?? "id"} AS id, ${version} AS version FROM crm.${name(table)}
    WHERE location_id = ${literal(location)} AND ${there} AND (${where})`
  // Several rows may name one id: any change of any of them counts.
  const parents = ids ? `SELECT id, max(version) AS version FROM (${rows}) WHERE id <> '' GROUP BY id` : rows
  return `FROM (${parents}) AS p
    LEFT JOIN ${parentStateSql({ location, label })} AS f ON f.parent_id = p.id
    WHERE f.parent_id IS NULL ${refreshCutoff === undefined ? "" : `OR f.fetched_at < ${instantOf(refreshCutoff)}`} OR f.parent_version IS DISTINCT FROM p.version
    OR f.fetched_at < ${now} - to_seconds(${Duration.toSeconds(refreshAfter)} * (0.5 + hash(p.id) % 1000 / 2000.0))
    OR ${isAhead("f.fetched_at", now)}`
}

/** SQL: whether a moment was written down while our clock was ahead. */
export const isAhead = (moment: string, now: string): string => `${moment} > ${now} + INTERVAL 1 DAY`

/** What earlier runs know about a resource, or about its children. */
export interface SyncState extends Partial<Watermark> {
  /** Of lists that were not read to their end, by partition. */
  readonly checkpoints: Readonly<Record<string, Checkpoint>>
}

/** By resource, or label of children or of a backfill. */
export const readSyncState = Effect.fnUntraced(function* (
  location: string
): Effect.fn.Return<ReadonlyMap<string, SyncState>, Failure, Warehouse> {
  const watermarks = yield* watermarksOf(location)
  const checkpoints = yield* checkpointsOf(location)
  return new Map(
    [...new Set([...watermarks.keys(), ...checkpoints.keys()])].map((resource) => [
      resource,
      { ...watermarks.get(resource), checkpoints: checkpoints.get(resource) ?? {} }
    ])
  )
})

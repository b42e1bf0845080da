/** Finds rows that the service may have deleted, because a complete reading did not return them. */
import { Clock, Effect } from "effect"
import type { Resource } from "../catalog/resource.ts"
import { keyText } from "../catalog/tables.ts"
import type { Failure } from "../failure.ts"
import { seenKeysSql } from "./meta/seen-keys.ts"
import { instantOf, literal, name } from "./sql.ts"
import { isAhead } from "./sync-state.ts"
import { Warehouse } from "./warehouse.ts"

export interface MissingRows {
  readonly keys: ReadonlyArray<string>
  /** How many of them are explained by the deletion of a row of another table, from which deletions cascade. */
  readonly explained: number
  /** Live rows in the table; 0 if no keys are missing. */
  readonly rows: number
}

/** Live rows of a list that were loaded before its reading began, and whose keys the reading did not return. */
export const missingRows = Effect.fnUntraced(function* (
  resource: Resource,
  location: string,
  begunAt: number
): Effect.fn.Return<MissingRows, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const table = `crm.${name(resource.table)}`
  const inLocation = `location_id = ${literal(location)}`
  const now = instantOf(yield* Clock.currentTimeMillis)
  const { childOf, cascadesFrom } = resource
  // Rows that are read as children of another table are not in the list.
  const listed =
    childOf === undefined
      ? "true"
      : `${name(childOf.column)} NOT IN (SELECT id FROM crm.${name(childOf.table)} WHERE ${inLocation} AND (${childOf.where ?? "true"}))`
  const explained = cascadesFrom
    ? `${name(cascadesFrom.column)} IN (SELECT id FROM crm.${name(cascadesFrom.table)} WHERE ${inLocation} AND _deleted_at IS NOT NULL)`
    : "false"
  // NOT IN would hold all keys in memory at once; a join does not.
  const found = yield* warehouse.rows(
    `SELECT ${keyText(resource, "t.")} AS key, ${explained} AS explained FROM ${table} AS t
     ANTI JOIN ${seenKeysSql({ location, label: resource.table })} AS seen ON seen.key = ${keyText(resource, "t.")}
     WHERE ${inLocation} AND _deleted_at IS NULL AND (_synced_at < ${instantOf(begunAt)} OR ${isAhead("_synced_at", now)}) AND (${listed})`
  )
  const [count] =
    found.length === 0
      ? []
      : yield* warehouse.rows(`SELECT count(*) AS n FROM ${table} WHERE ${inLocation} AND _deleted_at IS NULL`)
  return {
    keys: found.map((row) => String(row["key"])),
    explained: found.filter((row) => row["explained"] === true).length,
    rows: Number(count?.["n"] ?? 0)
  }
})

/**
 * Keys of live children of a parent that was deleted within the last three days. Its children are not requested any more,
 * unless the parent is only flagged as deleted.
 */
export const orphanedRows = Effect.fnUntraced(function* (
  resource: Resource,
  location: string
): Effect.fn.Return<ReadonlyArray<string>, Failure, Warehouse> {
  const { table: parent, column, tombstone } = resource.childOf!
  const now = instantOf(yield* Clock.currentTimeMillis)
  const rows = yield* (yield* Warehouse).rows(
    `SELECT ${keyText(resource, "t.")} AS key FROM crm.${name(resource.table)} AS t
     JOIN crm.${name(parent)} AS p ON p.location_id = t.location_id AND p.id = t.${name(column)}
     WHERE t.location_id = ${literal(location)} AND t._deleted_at IS NULL AND p._deleted_at > ${now} - INTERVAL 3 DAYS
     ${tombstone ? `AND NOT coalesce(p.${name(tombstone)}, false)` : ""}`
  )
  return rows.map((row) => String(row["key"]))
})

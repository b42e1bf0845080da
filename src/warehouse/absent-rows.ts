/** Rows that a complete reading did not show: what may be gone. */
import { Clock, Effect } from "effect"
import type { Resource } from "../catalog/resource.ts"
import { keyText } from "../catalog/tables.ts"
import type { Failure } from "../failure.ts"
import { seenKeysSql } from "./meta/seen-keys.ts"
import { instantOf, literal, name } from "./sql.ts"
import { isAhead } from "./sync-state.ts"
import { Warehouse } from "./warehouse.ts"

export interface Missing {
  readonly keys: ReadonlyArray<string>
  /** How many of them went with a row of another table, whose going explains theirs. */
  readonly explained: number
  /** Live rows there were. */
  readonly rows: number
}

/** Of a list: live rows, known before its reading began, whose keys were not met. */
export const missingRows = Effect.fnUntraced(function* (
  resource: Resource,
  location: string,
  begunAt: number
): Effect.fn.Return<Missing, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const table = `crm.${name(resource.table)}`
  const here = `location_id = ${literal(location)}`
  const now = instantOf(yield* Clock.currentTimeMillis)
  const { childOf, cascadesFrom } = resource
  // Rows that are read under others are not in the list.
  const listed =
    childOf === undefined
      ? "true"
      : `${name(childOf.column)} NOT IN (SELECT id FROM crm.${name(childOf.table)} WHERE ${here} AND (${childOf.where ?? "true"}))`
  const explained = cascadesFrom
    ? `${name(cascadesFrom.column)} IN (SELECT id FROM crm.${name(cascadesFrom.table)} WHERE ${here} AND _deleted_at IS NOT NULL)`
    : "false"
  // A join and no NOT IN, which holds all the keys in memory at once.
  const found = yield* warehouse.rows(
    `SELECT ${keyText(resource, "t.")} AS key, ${explained} AS explained FROM ${table} AS t
     ANTI JOIN ${seenKeysSql({ location, label: resource.table })} AS seen ON seen.key = ${keyText(resource, "t.")}
     WHERE ${here} AND _deleted_at IS NULL AND (_synced_at < ${instantOf(begunAt)} OR ${isAhead("_synced_at", now)}) AND (${listed})`
  )
  const [count] =
    found.length === 0
      ? []
      : yield* warehouse.rows(`SELECT count(*) AS n FROM ${table} WHERE ${here} AND _deleted_at IS NULL`)
  return {
    keys: found.map((row) => String(row["key"])),
    explained: found.filter((row) => row["explained"] === true).length,
    rows: Number(count?.["n"] ?? 0)
  }
})

/** Of what is read under other rows: live rows under one that went lately, and is not asked for any more. */
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

/**
 * Archives replaced versions and marks deleted rows. Nothing is removed: a replaced version moves to the history with its
 * end time, and the row of a deleted record stays, with `_deleted_at`.
 */
import * as Effect from "effect/Effect"
import { type Resource, childLabelOf } from "../../../catalog/resource.ts"
import { keyOf, keyText, tablesOf } from "../../../catalog/tables.ts"
import type { Entry } from "../../../stores/vault/entry.ts"
import { forgetMissing } from "../../../stores/warehouse/meta/missing-children.ts"
import { deleteParentState } from "../../../stores/warehouse/meta/parent-state.ts"
import type { Counted } from "../../../stores/warehouse/meta/run-changes.ts"
import { instantOf, literal, name, names } from "../../../stores/warehouse/sql.ts"
import type { Transaction } from "../../../stores/warehouse/transaction.ts"
import type { Changes } from "./changes.ts"

interface Target {
  readonly resource: Resource
  readonly location: string
  readonly run: string
}

/**
 * SQL for the moment at which a row takes the place of an earlier version: when it was read, but after the moment of that one.
 * Runs follow each other, whatever the clock said meanwhile.
 */
export const notBefore = (earlier: string, at: string): string =>
  `greatest(${at}, ${earlier}._synced_at + INTERVAL 1 MILLISECOND)`

/**
 * Copies replaced versions and their child rows to the history. A version is the state at the end of a run: a row that is
 * written twice in one run has no version in between. Returns the number of rows of the resource's own table.
 */
export const archiveVersions = Effect.fnUntraced(function* (
  tx: Transaction,
  { resource, location }: Target,
  /** FROM clause: the replaced rows, each with its end time in `_ends_at`. */
  ending: string
) {
  const keys = keyOf(resource)
  const versions = `(SELECT ${keys.map((column, index) => `${name(column)} AS _key${index}`).join(", ")}, _synced_at AS _from, _ends_at FROM ${ending})`
  const [parent, ...children] = tablesOf(resource).map((table) => {
    const columns = names(table.columns.map((column) => column.name))
    const own = table.parentColumn === undefined ? keys : [table.parentColumn]
    return `INSERT INTO crm_history.${name(table.name)} (${columns}, _valid_from, _valid_to)
     SELECT ${columns}, _from, _ends_at FROM crm.${name(table.name)}
     JOIN ${versions} ON ${own.map((column, index) => `${name(column)} = _key${index}`).join(" AND ")} WHERE location_id = ${literal(location)}`
  })
  const rows = yield* tx.write(parent!)
  if (rows > 0) tx.run(...children)
  return rows
})

/** Marks the rows of the temporary table `deleted` (key, at_) as deleted. `rows`: their number. */
export const markDeleted = Effect.fnUntraced(function* (
  tx: Transaction,
  target: Target & Counted & { readonly changes: Changes },
  rows: number
) {
  const { resource, location, run, changes } = target
  const [, ...children] = tablesOf(resource)
  const table = `crm.${name(resource.table)}`
  const inLocation = `location_id = ${literal(location)}`
  changes.counts.add(target, { deleted_rows: rows })
  const after = notBefore("t", "at_")
  tx.run(
    `UPDATE deleted SET at_ = ${after} FROM ${table} AS t
     WHERE t.${inLocation} AND ${keyText(resource, "t.")} = deleted.key AND t._run_id <> ${literal(run)} AND ${after} > at_`,
    ...changes.ofRows(resource.table, `(SELECT ${literal(location)} AS location_id, key FROM deleted)`)
  )
  yield* archiveVersions(
    tx,
    target,
    `(SELECT t.*, at_ AS _ends_at FROM ${table} AS t JOIN deleted ON deleted.key = ${keyText(resource, "t.")}
      WHERE t.${inLocation} AND _run_id <> ${literal(run)})`
  )
  tx.run(
    `UPDATE ${table} AS t SET _deleted_at = at_, _synced_at = CASE WHEN _run_id = ${literal(run)} THEN _synced_at ELSE at_ END,
       _run_id = ${literal(run)} FROM deleted WHERE t.${inLocation} AND ${keyText(resource, "t.")} = deleted.key`,
    ...children.map(
      (child) =>
        `UPDATE crm.${name(child.name)} AS t SET _deleted_at = at_ FROM deleted WHERE t.${inLocation} AND t.${name(child.parentColumn)} = deleted.key`
    )
  )
})

/** What a frame says about records. */
export interface Decision {
  readonly entry: Entry
  readonly keys: ReadonlyArray<string>
}

/** Applies a frame whose body lists the keys of records that are deleted, or that still exist. */
export const applyDecision = Effect.fnUntraced(function* (
  tx: Transaction,
  resources: ReadonlyArray<Resource>,
  changes: Changes,
  { entry, keys }: Decision
) {
  const resource = resources.find(({ table }) => table === entry.resource)
  if (!resource) return
  const { run, location, at } = entry
  const target = { resource, run, location, label: resource.table, changes }
  changes.counts.add(target)
  const decided = `SELECT unnest([${keys.map(literal).join(", ")}]::VARCHAR[]) AS key`
  const { childOf } = resource
  if (childOf) tx.run(forgetMissing({ location, label: childLabelOf(resource) }, decided))
  if (entry.kind === "existing") return
  const children = resources.filter(({ childOf }) => childOf?.table === resource.table && childOf.ids === undefined)
  const rows = yield* tx.write(
    `CREATE OR REPLACE TEMP TABLE deleted AS SELECT ${keyText(resource, "t.")} AS key, ${instantOf(at)} AS at_ FROM crm.${name(resource.table)} AS t
     SEMI JOIN (${decided}) AS reported ON reported.key = ${keyText(resource, "t.")}
     WHERE t.location_id = ${literal(location)} AND t._deleted_at IS NULL`
  )
  if (rows === 0) return
  yield* markDeleted(tx, target, rows)
  // If the service restores the record, its children are due.
  tx.run(
    ...children.map((child) => deleteParentState({ location, label: childLabelOf(child) }, "SELECT key FROM deleted"))
  )
})

/** Extract wrote the body, so it needs no validation. */
export const decidedKeys = (body: string): ReadonlyArray<string> => JSON.parse(body)

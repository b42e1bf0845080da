/**
 * Archives replaced versions and marks deleted rows. Nothing is removed: a replaced version moves to the history with its
 * end time, and the row of a deleted record stays, with `_deleted_at`.
 */
import { type Resource, childRequestOf } from "../../catalog/resource.ts"
import { keyOf, keyText, tablesOf } from "../../catalog/tables.ts"
import type { Decoded } from "../../vault/frame.ts"
import { recordChange } from "../../warehouse/meta/content-versions.ts"
import { forgetMissing } from "../../warehouse/meta/missing-children.ts"
import { deleteParentState } from "../../warehouse/meta/parent-state.ts"
import { addCounts } from "../../warehouse/meta/run-resources.ts"
import { instantOf, literal, name, names } from "../../warehouse/sql.ts"
import type { Statement } from "../../warehouse/warehouse.ts"

interface Target {
  readonly resource: Resource
  readonly location: string
  readonly run: string
}

/**
 * Copies replaced versions and their child rows to the history. A version is the state at the end of a run: a row that is
 * written twice in one run has no version in between.
 */
export const archiveVersions = (
  { resource, location }: Target,
  /** FROM clause: the replaced rows, each with its end time in `_ends_at`. */
  ending: string
): ReadonlyArray<string> => {
  const keys = keyOf(resource)
  const versions = `(SELECT ${keys.map((column, index) => `${name(column)} AS _key${index}`).join(", ")}, _synced_at AS _from, _ends_at FROM ${ending})`
  return tablesOf(resource).map((table) => {
    const columns = names(table.columns.map((column) => column.name))
    const own = table.parentColumn === undefined ? keys : [table.parentColumn]
    return `INSERT INTO crm_history.${name(table.name)} (${columns}, _valid_from, _valid_to)
     SELECT ${columns}, _from, _ends_at FROM crm.${name(table.name)}
     JOIN ${versions} ON ${own.map((column, index) => `${name(column)} = _key${index}`).join(" AND ")} WHERE location_id = ${literal(location)}`
  })
}

/** Marks the rows of the temporary table `deleted` (key, at_) as deleted. */
export const markDeleted = (target: Target & { readonly label: string }): ReadonlyArray<string> => {
  const { resource, location, run } = target
  const table = `crm.${name(resource.table)}`
  const inLocation = `location_id = ${literal(location)}`
  return [
    addCounts(target, { deleted_rows: "(SELECT count(*) FROM deleted)" }),
    ...recordChange(resource.table, `(SELECT ${literal(location)} AS location_id, key FROM deleted)`),
    ...archiveVersions(
      target,
      `(SELECT t.*, at_ AS _ends_at FROM ${table} AS t JOIN deleted ON deleted.key = ${keyText(resource, "t.")}
        WHERE t.${inLocation} AND _run_id <> ${literal(run)})`
    ),
    `UPDATE ${table} AS t SET _deleted_at = at_, _synced_at = CASE WHEN _run_id = ${literal(run)} THEN _synced_at ELSE at_ END,
       _run_id = ${literal(run)} FROM deleted WHERE t.${inLocation} AND ${keyText(resource, "t.")} = deleted.key`,
    ...tablesOf(resource)
      .slice(1)
      .map(
        (child) =>
          `UPDATE crm.${name(child.name)} AS t SET _deleted_at = at_ FROM deleted WHERE t.${inLocation} AND t.${name(child.parentColumn!)} = deleted.key`
      )
  ]
}

/** Statements for a frame whose body lists the keys of records that are deleted, or that still exist. */
export const decidedStatements = (
  resources: ReadonlyArray<Resource>,
  { entry, body }: Decoded
): ReadonlyArray<Statement> => {
  const resource = resources.find(({ table }) => table === entry.resource)
  if (!resource) return []
  const { run, location, at } = entry
  const target = { run, location, label: resource.table }
  // Extract wrote the body, so it needs no validation.
  const keys = JSON.parse(body) as ReadonlyArray<string>
  const decided = `SELECT unnest([${keys.map(literal).join(", ")}]::VARCHAR[])`
  const { childOf } = resource
  return [
    ...(childOf ? [forgetMissing({ location, label: childRequestOf(resource)!.label }, decided)] : []),
    ...(entry.kind === "existing" ? [] : deletedStatements(resources, resource, { ...target, at }, keys))
  ]
}

const deletedStatements = (
  resources: ReadonlyArray<Resource>,
  resource: Resource,
  { at, ...target }: Omit<Target, "resource"> & { readonly at: number; readonly label: string },
  keys: ReadonlyArray<string>
): ReadonlyArray<Statement> => {
  const { location } = target
  const children = resources.filter(({ childOf }) => childOf?.table === resource.table && childOf.ids === undefined)
  return [
    `CREATE OR REPLACE TEMP TABLE deleted AS SELECT ${keyText(resource, "t.")} AS key, ${instantOf(at)} AS at_ FROM crm.${name(resource.table)} AS t
     SEMI JOIN (SELECT unnest([${keys.map(literal).join(", ")}]) AS key) AS reported ON reported.key = ${keyText(resource, "t.")}
     WHERE t.location_id = ${literal(location)} AND t._deleted_at IS NULL`,
    {
      ifAny: "deleted",
      run: [
        ...markDeleted({ ...target, resource }),
        // If the service restores the record, its children are due.
        ...children.map((child) =>
          deleteParentState({ location, label: childRequestOf(child)!.label }, "SELECT key FROM deleted")
        )
      ]
    }
  ]
}

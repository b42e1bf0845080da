/**
 * Rows that leave: nothing is removed. A version that ends goes to the history with the moment of its end, and the row
 * of a record that is gone stays, with `_deleted_at`.
 */
import type { Resource } from "../../catalog/resource.ts"
import { keyOf, keyText, tablesOf } from "../../catalog/tables.ts"
import type { Decoded } from "../../vault/frame.ts"
import { addCounts, ensureRow } from "../../warehouse/meta/run-resources.ts"
import { instantOf, literal, name, names } from "../../warehouse/sql.ts"

interface Place {
  readonly resource: Resource
  readonly location: string
  readonly run: string
}

/**
 * Puts versions that end into the history, with their child rows. Versions are what stood at the end of a run: a row
 * written twice in one run leaves none behind.
 */
export const archiveVersions = (
  { resource, location }: Place,
  /** FROM clause: the rows that end, each with the moment of its end in `_ends_at`. */
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
export const markDeleted = (place: Place & { readonly label: string }): ReadonlyArray<string> => {
  const { resource, location, run } = place
  const table = `crm.${name(resource.table)}`
  const here = `location_id = ${literal(location)}`
  return [
    addCounts(place, { deleted_rows: "(SELECT count(*) FROM deleted)" }),
    ...archiveVersions(
      place,
      `(SELECT t.*, at_ AS _ends_at FROM ${table} AS t JOIN deleted ON deleted.key = ${keyText(resource, "t.")}
        WHERE t.${here} AND _run_id <> ${literal(run)})`
    ),
    `UPDATE ${table} AS t SET _deleted_at = at_, _synced_at = CASE WHEN _run_id = ${literal(run)} THEN _synced_at ELSE at_ END,
       _run_id = ${literal(run)} FROM deleted WHERE t.${here} AND ${keyText(resource, "t.")} = deleted.key`,
    ...tablesOf(resource)
      .slice(1)
      .map(
        (child) =>
          `UPDATE crm.${name(child.name)} AS t SET _deleted_at = at_ FROM deleted WHERE t.${here} AND t.${name(child.parentColumn!)} = deleted.key`
      )
  ]
}

/** A frame of records that are gone; the body lists their keys. */
export const deletedStatements = (
  resources: ReadonlyArray<Resource>,
  { entry, body }: Decoded
): ReadonlyArray<string> => {
  const { run, location, at } = entry
  const resource = resources.find(({ table }) => table === entry.resource)
  if (!resource) return []
  // Written by extract.
  const place = { run, location, label: resource.table }
  const keys = JSON.parse(body) as ReadonlyArray<string>
  return [
    `CREATE OR REPLACE TEMP TABLE deleted AS SELECT ${keyText(resource, "t.")} AS key, ${instantOf(at)} AS at_ FROM crm.${name(resource.table)} AS t
     SEMI JOIN (SELECT unnest([${keys.map(literal).join(", ")}]) AS key) AS told ON told.key = ${keyText(resource, "t.")}
     WHERE t.location_id = ${literal(location)} AND t._deleted_at IS NULL`,
    ensureRow(place),
    ...markDeleted({ ...place, resource })
  ]
}

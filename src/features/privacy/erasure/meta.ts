/**
 * What `meta` has of erased records: values as they were sent. A rejected value or record goes by the key of its record; a
 * sample too, and one whose record is not known goes if its table lost a record. The value of an enum column goes if no row
 * that stays has it.
 */
import type { Resource } from "../../../catalog/resource.ts"
import { type Table, keySeparator, tablesOf } from "../../../catalog/tables.ts"
import { literal, name } from "../../../stores/warehouse/sql.ts"

/**
 * Statements to run after the rows were removed. `resources`: those that lost a record. `keys`: a relation with table_name,
 * location_id and key of the records.
 */
export const metaStatements = (resources: ReadonlyArray<Resource>, keys: string): ReadonlyArray<string> => [
  ...resources.flatMap((resource) => {
    const tables = tablesOf(resource)
    const ofRecord = `(SELECT (location_id, key) FROM ${keys} WHERE table_name = ${literal(resource.table)})`
    // Rejects separate the columns of a key as people read it.
    const asShown = `(SELECT (location_id, replace(key, chr(${keySeparator.charCodeAt(0)}), '/')) FROM ${keys} WHERE table_name = ${literal(resource.table)})`
    const inTables = `table_name IN (${tables.map((table) => literal(table.name)).join(", ")})`
    return [
      `DELETE FROM meta.rejected_values WHERE ${inTables} AND (location_id, ${recordIn("key", tables)}) IN ${asShown}`,
      `DELETE FROM meta.rejected_records WHERE ${inTables} AND (location_id, ${recordIn("regexp_extract(reason, '; in (.*)$', 1)", tables)}) IN ${asShown}`,
      `UPDATE meta.schema_changes SET sample = NULL, sample_key = NULL
       WHERE ${inTables} AND kind NOT LIKE '% value' AND (sample_key IS NULL OR (location_id, sample_key) IN ${ofRecord})`,
      ...tables.flatMap(enumStatements)
    ]
  }),
  // A frozen schema lists the values that it does not accept.
  `UPDATE meta.run_resources SET blocked_fields = list_filter(blocked_fields, lambda field: NOT contains(field, ' = ') OR list_contains(known, field))
   FROM (SELECT coalesce(list(table_name || '.' || field), []) AS known FROM meta.schema_changes WHERE kind LIKE '% value')
   WHERE list_contains(list_transform(blocked_fields, lambda field: contains(field, ' = ')), true)`
]

/** SQL for the key of the record in that of a child row: `inv1` in `inv1/invoice_items/3`. */
const recordIn = (key: string, [, ...children]: ReadonlyArray<Table>): string =>
  children.length === 0 ? key : `regexp_replace(${key}, '/(${children.map((table) => table.name).join("|")})/.*$', '')`

/** Values that no row has any more. */
const enumStatements = ({ columns, name: table }: Table): ReadonlyArray<string> => {
  const enums = columns.filter(({ enumValues }) => enumValues !== undefined).map((column) => column.name)
  if (enums.length === 0) return []
  const values = enums.flatMap((column) =>
    ["crm", "crm_history"].map(
      (schema) =>
        `SELECT location_id, ${literal(column)} AS column_name, ${name(column)} AS value FROM ${schema}.${name(table)} WHERE ${name(column)} IS NOT NULL`
    )
  )
  const kept = "memory.main.kept_values"
  return [
    `CREATE OR REPLACE TABLE ${kept} AS ${values.join(" UNION ")}`,
    ...["enum_values", "unexpected_values"].map(
      (list) =>
        `DELETE FROM meta.${list} WHERE table_name = ${literal(table)} AND (location_id, column_name, value) NOT IN (SELECT (location_id, column_name, value) FROM ${kept})`
    ),
    `DELETE FROM meta.schema_changes WHERE table_name = ${literal(table)} AND kind LIKE '% value'
       AND (location_id, field) NOT IN (SELECT (location_id, column_name || ' = ' || value) FROM ${kept})`,
    `DROP TABLE ${kept}`
  ]
}

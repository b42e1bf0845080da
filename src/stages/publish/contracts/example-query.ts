/** An example query for each table: the rows that exist, newest first, with the name of what they refer to. */
import { name } from "../../../stores/warehouse/sql.ts"
import type { ContractColumn, ContractTable } from "./contract.ts"

export const exampleQuery = (table: ContractTable, tables: ReadonlyArray<ContractTable>): string => {
  const plain = table.columns.filter(
    (column) => !column.name.startsWith("_") && column.name !== "location_id" && column.type !== "JSON"
  )
  const joined = plain.map((column) => joinOf(column, tables)).find((join) => join !== undefined)
  const shown = plain.filter((column) => column !== joined?.column).slice(0, columnsMax)
  const newest = plain.find(({ type }) => type === "TIMESTAMPTZ")
  const columns = [
    ...shown.map((column) => `t.${name(column.name)}`),
    ...(joined ? [`r.${name(joined.label)} AS ${name(`${joined.table}_${joined.label}`)}`] : [])
  ]
  return [
    `SELECT ${columns.join(", ")}`,
    `FROM ${name(table.name)} AS t`,
    ...(joined
      ? [
          `LEFT JOIN ${name(joined.table)} AS r`,
          `  ON r.location_id = t.location_id AND r.${name(joined.key)} = t.${name(joined.column.name)}`
        ]
      : []),
    "WHERE t._deleted_at IS NULL",
    ...(newest ? [`ORDER BY t.${name(newest.name)} DESC NULLS LAST`] : []),
    "LIMIT 20;"
  ].join("\n")
}

const columnsMax = 5

/** Names by which people know a record. */
const labels = ["name", "title", "subject", "email", "contact_name"]

const joinOf = (column: ContractColumn, tables: ReadonlyArray<ContractTable>) => {
  const { refersTo } = column
  const target = tables.find((table) => table.name === refersTo?.table)
  const label = labels.find((wanted) => target?.columns.some((one) => one.name === wanted))
  return refersTo && label ? { column, table: refersTo.table, key: refersTo.column, label } : undefined
}

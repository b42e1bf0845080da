/** `meta.columns`: the data dictionary, with the meaning of every column of every table. */
import type { Column, Table } from "../../../catalog/tables.ts"
import { literal } from "../sql.ts"
import type { WideColumn } from "../wide-view.ts"

export const dictionaryStatements = (tables: ReadonlyArray<Table>): ReadonlyArray<string> => [
  "DELETE FROM meta.columns",
  ...(tables.length === 0
    ? []
    : [
        `INSERT INTO meta.columns (table_name, column_name, type, description, personal_data, refers_to) VALUES ${tables
          .flatMap(({ name, columns }) => columns.map((column) => rowOf(name, column)))
          .join(", ")}`
      ])
]

const rowOf = (table: string, { name, sql, description, personal, references }: Column): string =>
  `(${[table, name, sql, description, personal, references].map(literal).join(", ")})`

/** Describes the columns of wide views: those of their tables, and those of custom fields with their label and class. */
export const wideDictionaryStatements = (
  views: ReadonlyArray<{
    readonly view: string
    readonly table: string
    readonly columns: ReadonlyArray<WideColumn>
  }>
): ReadonlyArray<string> => {
  const fields = views.flatMap(({ columns, view }) =>
    columns.map(({ column, label, personal }) => `(${[view, column, label, personal].map(literal).join(", ")})`)
  )
  if (views.length === 0) return []
  return [
    `DELETE FROM meta.columns WHERE table_name IN (${views.map(({ view }) => literal(view)).join(", ")})`,
    `INSERT INTO meta.columns SELECT c.* REPLACE (v.view AS table_name) FROM meta.columns AS c
     JOIN (VALUES ${views.map(({ table, view }) => `(${literal(view)}, ${literal(table)})`).join(", ")}) AS v (view, "table") ON v."table" = c.table_name`,
    // One statement, because duckdb_columns() lists the columns of every table.
    ...(fields.length === 0
      ? []
      : [
          `INSERT INTO meta.columns (table_name, column_name, type, description, personal_data)
           SELECT table_name, column_name, replace(data_type, 'TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ'), description, personal
           FROM (VALUES ${fields.join(", ")}) AS field (table_name, column_name, description, personal)
           JOIN duckdb_columns() USING (table_name, column_name)
           WHERE database_name = current_database() AND schema_name = 'crm'`
        ])
  ]
}

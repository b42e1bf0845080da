/** `meta.columns`: the data dictionary, every column of every table with its meaning. */
import type { Table } from "../../catalog/tables.ts"
import { literal } from "../sql.ts"

export const dictionaryStatements = (tables: ReadonlyArray<Table>): ReadonlyArray<string> => [
  "DELETE FROM meta.columns",
  ...tables.map(
    ({ name, columns }) =>
      `INSERT INTO meta.columns (table_name, column_name, type, description, personal_data, refers_to) VALUES ${columns
        .map(
          (column) =>
            `(${[name, column.name, column.sql, column.description, column.personal, column.references].map(literal).join(", ")})`
        )
        .join(", ")}`
  )
]

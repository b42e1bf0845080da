/** `meta.columns`: the data dictionary, with the meaning of every column of every table. */
import type { Column, Table } from "../../catalog/tables.ts"
import { literal } from "../sql.ts"

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

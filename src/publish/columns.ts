/** A table's columns as they are, and every value as the text that stands in a CSV file. */
import { Effect } from "effect"
import { name } from "../warehouse/sql.ts"
import { Warehouse } from "../warehouse/warehouse.ts"

export interface CsvColumn {
  readonly name: string
  /** As DuckDB names it. */
  readonly type: string
}

export type CsvRow = ReadonlyArray<string | null>

export const columnsOf = Effect.fnUntraced(function* (path: string) {
  const rows = yield* (yield* Warehouse).rows(`DESCRIBE ${path}`)
  return rows.map((row): CsvColumn => ({ name: String(row["column_name"]), type: String(row["column_type"]) }))
})

export const selectText = (path: string, columns: ReadonlyArray<CsvColumn>): string => select(path, columns, textOf)

/**
 * The same for rows that come through the driver, which drops a byte order mark at the beginning of a text; of two it
 * drops one.
 */
export const selectStream = (path: string, columns: ReadonlyArray<CsvColumn>): string =>
  select(path, columns, (column) =>
    isText(column)
      ? `CASE WHEN starts_with(${textOf(column)}, chr(65279)) THEN chr(65279) || ${textOf(column)} ELSE ${textOf(column)} END`
      : textOf(column)
  )

/** Whatever a person or a program wrote; of the other types DuckDB makes the text. */
export const isText = ({ type }: CsvColumn): boolean => type === "VARCHAR" || type === "JSON"

const select = (path: string, columns: ReadonlyArray<CsvColumn>, expression: (column: CsvColumn) => string) =>
  `SELECT ${columns.map((column) => `${expression(column)} AS ${name(column.name)}`).join(", ")} FROM ${path}`

/** Instants in ISO 8601 UTC: milliseconds as the service writes them, microseconds only where they say more. */
const textOf = ({ name: column, type }: CsvColumn): string => {
  const instant = (fraction: string) => `strftime(${name(column)}, '%Y-%m-%dT%H:%M:%S.${fraction}Z')`
  // A list as JSON: DuckDB's own text for one cannot be read back.
  if (type.endsWith("[]")) return `CAST(to_json(${name(column)}) AS VARCHAR)`
  return type === "TIMESTAMP WITH TIME ZONE"
    ? `CASE WHEN epoch_us(${name(column)}) % 1000 = 0 THEN ${instant("%g")} ELSE ${instant("%f")} END`
    : `CAST(${name(column)} AS VARCHAR)`
}

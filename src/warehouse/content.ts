/**
 * What a table holds, in a form that every copy of it can be asked for: the number of rows, and a sum over the rows that
 * does not depend on their order. Equal in the warehouse, `crm.duckdb`, Parquet and CSV, and in later versions of DuckDB,
 * whose own `hash` may change.
 */
import { Effect } from "effect"
import type { Failure } from "../failure.ts"
import { name } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"

/** A column as it stands in a file of DuckDB, with its type as DuckDB names it. */
export interface StoredColumn {
  readonly name: string
  readonly type: string
}

export interface Content {
  readonly rows: number
  /** Sum of 64 bits of the MD5 of each row's values. */
  readonly sum: string
}

export const empty: Content = { rows: 0, sum: "0" }

/** `text`: the values are the text of a CSV file already. */
export const contentOf = Effect.fn("warehouse.contentOf")(function* (
  from: string,
  columns: ReadonlyArray<StoredColumn>,
  text = false
): Effect.fn.Return<Content, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  // Most tables have no history; planning the sum of many columns takes ten times as long as counting.
  const [count] = yield* warehouse.rows(`SELECT count(*) AS n FROM ${from}`)
  if (Number(count?.["n"]) === 0) return empty
  const values = columns.map((column) => {
    const value = text ? name(column.name) : textOf(column)
    // DuckDB holds 2,048 rows at a time.
    return isText(column) ? `if(strlen(${value}) > 100, md5(${value}), ${value})` : value
  })
  const [row] = yield* warehouse.rows(
    `SELECT count(*) AS n, coalesce(sum(md5_number_lower(to_json([${values.join(", ")}])::VARCHAR)), 0)::VARCHAR AS sum FROM ${from}`
  )
  return { rows: Number(row?.["n"]), sum: String(row?.["sum"]) }
})

/** Columns that the CSV profile for spreadsheets leaves as they are. */
export const untouched = (columns: ReadonlyArray<StoredColumn>): ReadonlyArray<StoredColumn> =>
  columns.filter((column) => !isText(column))

/** Whatever a person or a program wrote; of the other types DuckDB makes the text. */
export const isText = ({ type }: StoredColumn): boolean => type === "VARCHAR" || type === "JSON"

/** Instants in ISO 8601 UTC: milliseconds as the service writes them, microseconds only where they say more. */
export const textOf = ({ name: column, type }: StoredColumn): string => {
  const instant = (fraction: string) => `strftime(${name(column)}, '%Y-%m-%dT%H:%M:%S.${fraction}Z')`
  // A list as JSON: DuckDB's own text for one cannot be read back.
  if (type.endsWith("[]")) return `CAST(to_json(${name(column)}) AS VARCHAR)`
  return type === "TIMESTAMP WITH TIME ZONE"
    ? `CASE WHEN epoch_us(${name(column)}) % 1000 = 0 THEN ${instant("%g")} ELSE ${instant("%f")} END`
    : `CAST(${name(column)} AS VARCHAR)`
}

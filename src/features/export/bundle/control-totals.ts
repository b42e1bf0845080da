/**
 * Control totals: figures about a table that a reader can compute again from each of its files. The export computes them
 * from the Parquet file; `export verify` computes them from both files.
 */
import * as Schema from "effect/Schema"
import { itemAt } from "../../../catalog/present.ts"
import { type KindName, kindOf } from "../../../catalog/kinds.ts"
import { decimalType, scale } from "../../../catalog/decimals.ts"
import { columnWithRole } from "../../../catalog/tables.ts"
import { literal, name } from "../../../stores/warehouse/sql.ts"
import type { BundledTable } from "./tables.ts"
import { inMemory } from "../../../stores/warehouse/in-memory.ts"
import { orNull, readRows } from "../../../values/rows.ts"
import type { Row } from "../../../stores/warehouse/warehouse.ts"

const Total = Schema.Struct({
  column: Schema.String,
  /** NULL: the table has no column of currencies, or the row has none. */
  currency: Schema.NullOr(Schema.String),
  /** The number of values, without NULL. */
  values: Schema.Int,
  /** A decimal as text. */
  sum: Schema.String
})

export const TableTotals = Schema.Struct({
  table: Schema.String,
  rows: Schema.Int,
  /** Rows that are not marked as deleted. */
  currentRows: Schema.Int,
  currencyColumn: Schema.NullOr(Schema.String),
  decimalColumns: Schema.Array(Schema.String),
  /** Of the current rows, by column and currency. */
  sums: Schema.Array(Total),
  /** The earliest and the latest value of the main column with a time, in UTC; NULL without such a column. */
  time: Schema.NullOr(
    Schema.Struct({ column: Schema.String, min: Schema.NullOr(Schema.String), max: Schema.NullOr(Schema.String) })
  ),
  /** The totals that the API named, each with the time of the complete reading that received it. */
  apiTotals: Schema.Array(
    Schema.Struct({ location: Schema.String, resource: Schema.String, total: Schema.Int, readAt: Schema.String })
  )
})
export type TableTotals = typeof TableTotals.Type

export const ControlTotals = Schema.Struct({ run: Schema.String, tables: Schema.Array(TableTotals) })

/** What to compute for a table. */
export type Measured = Pick<TableTotals, "table" | "currencyColumn" | "decimalColumns"> & {
  readonly timeColumn: string | undefined
}

/**
 * Chooses the columns of a table, of those that its file has: every decimal, its currency, and the time at which the records were
 * made or else the first time.
 */
export const measuredOf = ({ released: { columns, name: table }, published }: BundledTable): Measured => {
  const ofKind = (kind: KindName) =>
    Object.entries(columns).flatMap(([column, type]) => (kindOf(type) === kind ? [column] : []))
  const times = ofKind("instant").filter((column) => !column.startsWith("_"))
  const created = columnWithRole(published.definition, "created")
  return {
    table,
    currencyColumn: "currency" in columns ? "currency" : null,
    decimalColumns: ofKind("decimal"),
    timeColumn: times.find((column) => column === created) ?? times[0]
  }
}

/** Computes the totals of a relation; the columns of a CSV file are texts. */
export const measure = async (
  ask: Ask,
  relation: string,
  { currencyColumn, decimalColumns, timeColumn }: Measured
): Promise<Pick<TableTotals, "rows" | "currentRows" | "sums" | "time">> => {
  const isCurrent = "_deleted_at IS NULL"
  const time = timeColumn === undefined ? "NULL::TIMESTAMPTZ" : `${name(timeColumn)}::TIMESTAMPTZ`
  const counted = await ask(
    `SELECT count(*) AS rows, count(*) FILTER (WHERE ${isCurrent}) AS currentRows, ${isoText(`min(${time})`)} AS min,
       ${isoText(`max(${time})`)} AS max FROM ${relation}`
  )
  const read = readRows({ rows: Number, currentRows: Number, min: orNull(String), max: orNull(String) }, counted)
  const { currentRows, max, min, rows } = itemAt(read, 0)
  const values = decimalColumns.map((column) => `${name(column)}::${decimalType}`)
  const currency = currencyColumn === null ? "NULL" : `${name(currencyColumn)}`
  // The sum of the whole numbers and that of the fractions: together they could be too large for the type.
  const sums = values.flatMap((value, index) => [
    `count(${value}) AS values_${index}`,
    `sum(trunc(${value})::DECIMAL(38, 0)) AS whole_${index}`,
    `sum(${value} - trunc(${value})) AS fraction_${index}`
  ])
  const groups =
    values.length === 0
      ? []
      : await ask(
          `SELECT ${currency} AS currency, ${sums.join(", ")} FROM ${relation} WHERE ${isCurrent} GROUP BY ALL
           ORDER BY currency NULLS FIRST`
        )
  return {
    rows,
    currentRows,
    sums: decimalColumns.flatMap((column, index) =>
      groups
        .filter((group) => Number(group[`values_${index}`]) > 0)
        .map((group) => ({
          column,
          currency: group["currency"] as string | null,
          values: Number(group[`values_${index}`]),
          sum: sumText(group[`whole_${index}`], group[`fraction_${index}`])
        }))
    ),
    time: timeColumn === undefined ? null : { column: timeColumn, min, max }
  }
}

export const isoText = (expression: string): string =>
  `strftime(${expression} AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ')`

/** Adds two decimals, and writes the result as DuckDB writes a sum. */
const sumText = (whole: unknown, fraction: unknown): string => {
  const units = unitsOf(String(whole)) + unitsOf(String(fraction))
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, "0")
  return `${units < 0n ? "-" : ""}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

const unitsOf = (text: string): bigint => {
  const [whole = "0", fraction = ""] = text.split(".")
  return BigInt(`${whole}${fraction.slice(0, scale).padEnd(scale, "0")}`)
}

export const parquetRelation = (path: string): string => `read_parquet(${literal(path)}, hive_partitioning = false)`

/** Returns the rows of a query. BIGINT and DECIMAL are text. */
export type Ask = (sql: string) => Promise<ReadonlyArray<Row>>

/** Files of others are read here, so DuckDB must not follow a name in them to another place. */
export const withDatabase = <A>(folder: string, use: (ask: Ask) => Promise<A>): Promise<A> =>
  inMemory(async (connection) => {
    await connection.run(
      `SET TimeZone = 'UTC'; SET allowed_directories = [${literal(folder)}]; SET enable_external_access = false;
       SET lock_configuration = true`
    )
    return use(async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson() as Array<Row>)
  })

/**
 * Checksums of the content of tables: the number of rows, and a sum over the rows that does not depend on their order.
 * They are equal for every copy of a table, in the warehouse, `crm.duckdb`, Parquet and CSV. They do not use DuckDB's
 * `hash`, which may differ in later versions.
 */
import { Effect, Stream } from "effect"
import { hash } from "node:crypto"
import { isText, kindOf } from "../../catalog/kinds.ts"
import { query, queryNumber } from "./query.ts"
import { name, selected, together } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"

/** A column of a table in a DuckDB file, with the name of its DuckDB type. */
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

/** `from`: a table or relation. `text`: its values are already text, as in a CSV file. */
export const contentOf = Effect.fn("warehouse.contentOf")(function* (
  from: string,
  columns: ReadonlyArray<StoredColumn>,
  text = false
) {
  // Planning the sum of many columns takes ten times as long as counting.
  const rows = yield* queryNumber(`SELECT count(*) FROM ${from}`)
  return rows === 0 ? empty : yield* contentOfRows(from, columns, text)
})

/** The same, for a relation that is known to have rows. */
export const contentOfRows = Effect.fnUntraced(function* (
  from: string,
  columns: ReadonlyArray<StoredColumn>,
  text = false
) {
  const [content] = yield* contentsOfRows([{ from, columns, text }])
  return content!
})

export interface Summed {
  readonly from: string
  readonly columns: ReadonlyArray<StoredColumn>
  /** Its values are already text. */
  readonly text?: boolean
}

/** The contents of several relations that are known to have rows, by one statement. */
export const contentsOfRows = Effect.fnUntraced(function* (relations: ReadonlyArray<Summed>) {
  if (relations.length === 0) return []
  return yield* query({ rows: Number, sum: String }, `${together(relations.map(sumSql))} ORDER BY place`)
})

const sumSql = ({ columns, from, text = false }: Summed): string => {
  const values = columns.map((column) => {
    const value = text ? fromFile(column) : textOf(column)
    // DuckDB processes 2,048 rows at a time, so long texts would take much memory.
    return isText(column.type) ? `if(strlen(${value}) > 100, md5(${value}), ${value})` : value
  })
  return `SELECT count(*) AS rows, coalesce(sum(md5_number_lower(to_json([${values.join(", ")}])::VARCHAR)), 0)::VARCHAR AS sum FROM ${from}`
}

/** SQL for the texts of a row, as a JSON list. */
export const jsonOfRow = (columns: ReadonlyArray<StoredColumn>, text = false): string =>
  `to_json([${columns.map(text ? fromFile : textOf).join(", ")}])::VARCHAR`

/**
 * Calls `use` with the rows of several relations and the place of each one's relation: planning a statement for each would
 * take longer than reading them. `row`: SQL for the texts of a row, as `jsonOfRow` makes it, or NULL.
 */
export const forEachRowOf = Effect.fnUntraced(function* (
  relations: ReadonlyArray<{ readonly row: string; readonly from: string }>,
  use: (place: number, row: ReadonlyArray<string | null> | null) => void
) {
  if (relations.length === 0) return
  const selects = relations.map(({ from, row }, place) => `(SELECT '${place}' AS place, ${row} AS row FROM ${from})`)
  yield* (yield* Warehouse)
    .stream(selects.join(" UNION ALL "))
    .pipe(
      Stream.runForEachArray((rows) =>
        Effect.sync(() => rows.forEach(([place, row]) => use(Number(place), selected(row))))
      )
    )
})

/** The same as `contentOf`, for rows of which every value is its text. */
export const contentOfTexts = (
  columns: ReadonlyArray<StoredColumn>,
  rows: ReadonlyArray<ReadonlyArray<string | null>>
): Content => {
  const areTexts = columns.map(({ type }) => isText(type))
  let sum = 0n
  for (const row of rows) {
    const values = row.map((text, index) =>
      text !== null && areTexts[index] && Buffer.byteLength(text) > 100 ? hash("md5", text) : text
    )
    sum += hash("md5", duckdbJson(values), "buffer").readBigUInt64LE(8)
  }
  return { rows: rows.length, sum: String(sum) }
}

/** DuckDB writes the digits of an escaped control character as capitals. */
const duckdbJson = (values: ReadonlyArray<string | null>): string =>
  JSON.stringify(values).replace(/\\(?:\\|u00[01][a-f])/g, (escape) =>
    escape.replace(/[a-f]$/, (digit) => digit.toUpperCase())
  )

/** Columns that the CSV profile for spreadsheets does not change. */
export const untouched = (columns: ReadonlyArray<StoredColumn>): ReadonlyArray<StoredColumn> =>
  columns.filter((column) => !isText(column.type))

/** SQL for a decimal without the zeros that only fill the decimal places up. `type`: that of the column. */
export const shortDecimal = (value: string, type: string): string =>
  type.endsWith(",0)") ? `CAST(${value} AS VARCHAR)` : `rtrim(rtrim(CAST(${value} AS VARCHAR), '0'), '.')`

/** SQL for the text of a value in a file of text. */
export const fileTextOf = (column: StoredColumn): string =>
  kindOf(column.type) === "decimal" ? shortDecimal(name(column.name), column.type) : textOf(column)

/** SQL that makes of a text in a file what `textOf` makes of its value. The files of earlier versions have all zeros. */
const fromFile = ({ name: column, type }: StoredColumn): string => {
  const value = name(column)
  const [, places] = /^DECIMAL\(\d+,(\d+)\)$/.exec(type) ?? []
  if (places === undefined || places === "0") return value
  const padded = `rpad(${value}, greatest(strlen(${value}), instr(${value}, '.') + ${places})::INTEGER, '0')`
  return `CASE WHEN contains(${value}, '.') THEN ${padded} ELSE ${value} || '.${"0".repeat(Number(places))}' END`
}

/** SQL for the text of a value. Timestamps are ISO 8601 in UTC, with milliseconds, or microseconds if they have more. */
export const textOf = ({ name: column, type }: StoredColumn): string => {
  const instant = (fraction: string) => `strftime(${name(column)}, '%Y-%m-%dT%H:%M:%S.${fraction}Z')`
  // Lists are JSON, because DuckDB's own text for a list cannot be parsed again.
  if (type.endsWith("[]")) return `CAST(to_json(${name(column)}) AS VARCHAR)`
  return kindOf(type) === "instant"
    ? `CASE WHEN epoch_us(${name(column)}) % 1000 = 0 THEN ${instant("%g")} ELSE ${instant("%f")} END`
    : `CAST(${name(column)} AS VARCHAR)`
}

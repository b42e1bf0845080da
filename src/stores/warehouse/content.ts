/**
 * Checksums of the content of tables: the number of rows, and a sum over the rows that does not depend on their order.
 * They are equal for every copy of a table, in the warehouse, `crm.duckdb`, Parquet and CSV. DuckDB's own `hash` may differ in
 * later versions, so it is no part of them; it takes a tenth of their time to show that two copies are equal.
 */
import { Array as Arr, Effect, Stream } from "effect"
import { hash } from "node:crypto"
import { isText, kindOf } from "../../catalog/kinds.ts"
import { TotalMap, itemAt } from "../../catalog/present.ts"
import { Failure } from "../../values/failure.ts"
import { Limits } from "../../values/limits.ts"
import { inGroups, rowsOfEach } from "./groups.ts"
import { query, queryRow } from "./query.ts"
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

/** The texts of the rows of relations that were read as texts, by FROM clause. */
export type RowTexts = Map<string, ReadonlyArray<ReadonlyArray<string | null>>>

/** The content of the rows of both. */
export const added = (one: Content, other: Content): Content => ({
  rows: one.rows + other.rows,
  sum: String(BigInt(one.sum) + BigInt(other.sum))
})

export interface Summed {
  readonly from: string
  readonly columns: ReadonlyArray<StoredColumn>
  /** Its values are already text. */
  readonly text?: boolean
  /** How many rows it should have; if it has others, that costs a second look. */
  readonly size: number
  /** A relation that it should be a copy of, with the content of that. */
  readonly source?: { readonly from: string; readonly content: Content } | undefined
  /** Gets its rows, if they are few. */
  readonly texts?: RowTexts | undefined
}

/**
 * The contents of many relations by FROM clause, or why one cannot be read. Of a relation with few rows, planning the sum takes several times
 * as long as reading the rows, and of an empty one, planning anything takes longer than everything else.
 */
export const contentsIfReadable = Effect.fn("warehouse.contents")(function* (all: ReadonlyArray<Summed>) {
  const limits = (yield* Limits).warehouse
  const relations = [...new Map(all.map((one) => [one.from, one])).values()]
  const isLarge = ({ size }: Summed) => limits.smallRows.isExceededBy(size)
  const found = new TotalMap<string, Content | Failure>(
    yield* equalCopies(relations.filter((one) => isLarge(one) || !one.text))
  )
  const small = relations.filter((one) => !isLarge(one) && !found.has(one.from))
  for (const some of limits.smallTables.groupsOf(small))
    for (const [from, content] of yield* smallContents(some, limits.smallRows.value)) found.set(from, content)
  const rest = relations.filter(({ from }) => !found.has(from))
  const columns = { rows: Number, sum: String }
  for (const group of inGroups(rest, limits)) {
    const contents = yield* query(columns, `${together(group.map(sumSql))} ORDER BY place`).pipe(
      // The failure of relations that are read together does not name the one that cannot be read.
      Effect.catch((failure) =>
        group.length === 1
          ? Effect.succeed<ReadonlyArray<Content | Failure>>([failure])
          : Effect.forEach(group, (one) => Effect.catch(queryRow(columns, sumSql(one)), Effect.succeed))
      )
    )
    for (const [{ from }, content] of Arr.zip(group, contents)) found.set(from, content)
  }
  return found
})

/** The same; fails if one cannot be read. */
export const contentsOfEach = Effect.fnUntraced(function* (relations: ReadonlyArray<Summed>) {
  const contents = new TotalMap<string, Content>()
  for (const [from, content] of yield* contentsIfReadable(relations)) {
    if (content instanceof Failure) return yield* content
    contents.set(from, content)
  }
  return contents
})

/** The contents of relations that have few rows after all, if all can be read. */
const smallContents = Effect.fnUntraced(function* (relations: ReadonlyArray<Summed>, rowsMax: number) {
  const found = relations.map((of) => ({
    of,
    row: of.size === 0 ? "NULL::VARCHAR" : jsonOfRow(of.columns, of.text),
    from: `${of.from} LIMIT ${of.size === 0 ? 1 : rowsMax + 1}`,
    rows: 0,
    sum: 0n,
    read: new Array<ReadonlyArray<string | null>>()
  }))
  const isRead = yield* forEachRowOf(found, (one, row) => {
    one.rows += row === null ? rowsMax + 1 : 1
    if (row !== null) one.sum += BigInt(contentOfTexts(one.of.columns, [row]).sum)
    if (row !== null && one.of.texts) one.read.push(row)
  }).pipe(
    Effect.as(true),
    Effect.catch(() => Effect.succeed(false))
  )
  return found.flatMap(({ of, read, rows, sum }) => {
    if (!isRead || rows > rowsMax) return []
    of.texts?.set(of.from, read)
    return [[of.from, { rows, sum: String(sum) }] as const]
  })
})

/** The contents of relations that have the rows of their source, if all can be read. */
const equalCopies = Effect.fnUntraced(function* (relations: ReadonlyArray<Summed>) {
  const copies = relations.flatMap(({ columns, from, size, source, text }) => {
    if (source === undefined) return []
    const hashed = (of: string, valueOf: (column: StoredColumn) => string) =>
      `SELECT count(*) AS rows, coalesce(sum(hash(${columns.map(valueOf).join(", ")})), 0)::VARCHAR AS sum FROM ${of}`
    const valueOf = (column: StoredColumn) => name(column.name)
    const own = hashed(from, text ? fromFile : valueOf)
    return [{ from, size, own, theirs: hashed(source.from, text ? textOf : valueOf), content: source.content }]
  })
  const sizes = new Map(copies.flatMap(({ own, size, theirs }) => [own, theirs].map((sql) => [sql, size] as const)))
  const queries = [...sizes].map(([sql, size]) => ({ sql, size }))
  const read = yield* rowsOfEach({ rows: Number, sum: String }, queries, ({ sql }) => sql).pipe(
    Effect.orElseSucceed(() => [])
  )
  const sums = new Map(read.map(([{ sql }, { rows, sum }]) => [sql, `${rows} ${sum}`]))
  return copies.flatMap(({ content, from, own, theirs }) => {
    const sum = sums.get(own)
    return sum !== undefined && sum === sums.get(theirs) ? [[from, content] as const] : []
  })
})

const sumSql = ({ columns, from, text }: Omit<Summed, "size">): string =>
  `SELECT count(*) AS rows, coalesce(sum(${rowSum(columns, text)}), 0)::VARCHAR AS sum FROM ${from}`

/** SQL for 64 bits of the MD5 of a row's values. */
const rowSum = (columns: ReadonlyArray<StoredColumn>, text = false): string => {
  const values = columns.map((column) => {
    const value = text ? fromFile(column) : textOf(column)
    // DuckDB processes 2,048 rows at a time, so long texts would take much memory.
    return isText(column.type) ? `if(strlen(${value}) > 100, md5(${value}), ${value})` : value
  })
  return `md5_number_lower(to_json([${values.join(", ")}])::VARCHAR)`
}

/** SQL for the texts of a row, as a JSON list. */
export const jsonOfRow = (columns: ReadonlyArray<StoredColumn>, text = false): string =>
  `to_json([${columns.map(text ? fromFile : textOf).join(", ")}])::VARCHAR`

/**
 * Calls `use` with the rows of several relations, each with its relation: planning a statement for each would
 * take longer than reading them. `row`: SQL for the texts of a row, as `jsonOfRow` makes it, or NULL.
 */
export const forEachRowOf = Effect.fnUntraced(function* <One extends { readonly row: string; readonly from: string }>(
  relations: ReadonlyArray<One>,
  use: (one: One, row: ReadonlyArray<string | null> | null) => void
) {
  if (relations.length === 0) return
  const selects = relations.map(({ from, row }, place) => `(SELECT '${place}' AS place, ${row} AS row FROM ${from})`)
  yield* (yield* Warehouse)
    .stream(selects.join(" UNION ALL "))
    .pipe(
      Stream.runForEachArray((rows) =>
        Effect.sync(() => rows.forEach(([place, row]) => use(itemAt(relations, Number(place)), selected(row))))
      )
    )
})

/** The same, for rows of which every value is its text. */
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
  if (type === "VARCHAR") return name(column)
  return kindOf(type) === "instant"
    ? `CASE WHEN epoch_us(${name(column)}) % 1000 = 0 THEN ${instant("%g")} ELSE ${instant("%f")} END`
    : `CAST(${name(column)} AS VARCHAR)`
}

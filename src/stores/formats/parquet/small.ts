/**
 * The Parquet file of a table with few rows, made of their texts, with the schema and metadata that DuckDB would write. For a
 * type or value that this code does not know there is none, and DuckDB writes the file.
 */
import { sluiceVersion } from "../../../values/version.ts"
import type { StoredColumn } from "../../warehouse/content.ts"
import type { CsvRow } from "../../warehouse/columns.ts"
import { type ChunkKind, chunkOf } from "./chunk.ts"
import { type Footer, type SchemaElement, pathsOf } from "./footer.ts"
import { footerBytes, magic } from "./output.ts"
import type { Metadata } from "../format.ts"

interface SmallColumn {
  readonly elements: ReadonlyArray<SchemaElement>
  readonly kind: ChunkKind
  /** Positions of the rows with a value. */
  readonly rows: ReadonlyArray<number>
  readonly texts: ReadonlyArray<string>
}

/** What the file contains; `undefined` if DuckDB must write it. `rows`: texts as those in the CSV file. */
export const smallParquet = (
  columns: ReadonlyArray<StoredColumn>,
  rows: ReadonlyArray<CsvRow>
): ReadonlyArray<SmallColumn> | undefined => {
  const found = columns.map(({ name, type }, index): SmallColumn | undefined => {
    const kind = kindOf(type)
    if (kind === undefined) return undefined
    const filled = rows.flatMap((row, position) => (row[index] === null ? [] : [position]))
    const texts = filled.map((position) => plainText(kind, rows[position]![index]!))
    if (texts.includes(undefined)) return undefined
    return { elements: elementsOf(name, type, kind), kind, rows: filled, texts: texts as ReadonlyArray<string> }
  })
  return found.includes(undefined) ? undefined : (found as ReadonlyArray<SmallColumn>)
}

export const smallParquetBytes = (
  columns: ReadonlyArray<SmallColumn>,
  rows: number,
  { description, sluice }: Metadata
): Buffer => {
  const footer: Footer = {
    field_1: 1,
    field_2: [
      { field_3: 0, field_4: bytesOf("duckdb_schema"), field_5: columns.length },
      ...columns.flatMap(({ elements }) => elements)
    ],
    field_3: BigInt(rows),
    field_4: [],
    field_5: Object.entries({ description, sluice }).map(([key, value]) => ({ field_1: key, field_2: value })),
    field_6: `sluice version ${sluiceVersion}`,
    field_7: columns.map(() => ({ field_1: {} }))
  }
  if (rows === 0) return Buffer.concat([magic, footerBytes(footer, [])])
  const paths = pathsOf(footer)
  const parts: Array<Buffer> = [magic]
  const chunks: Array<object> = []
  let [compressed, plain] = [0n, 0n]
  for (const [index, column] of columns.entries()) {
    const { bytes, metadata } = chunkOf(column.kind, rows, column.rows, column.texts)
    const chunk = metadata(paths[index]!, magic.length + Number(compressed))
    parts.push(bytes)
    chunks.push({ field_2: 0n, field_3: chunk })
    compressed += chunk.field_7
    plain += chunk.field_6
  }
  const group = { field_1: chunks, field_2: plain, field_3: BigInt(rows), field_6: compressed }
  return Buffer.concat([...parts, footerBytes(footer, [group])])
}

const kindOf = (type: string): ChunkKind | undefined => {
  switch (type) {
    case "VARCHAR":
    case "JSON":
      return "text"
    case "BOOLEAN":
      return "boolean"
    case "BIGINT":
      return "integer"
    case "DATE":
      return "date"
    case "TIMESTAMP WITH TIME ZONE":
      return "instant"
    case "VARCHAR[]":
      return "list"
    default:
      return decimalOf(type) && "decimal"
  }
}

/** Those with as many digits that DuckDB stores them in 16 bytes. */
const decimalOf = (type: string) => {
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? []
  return Number(precision) > 18 ? { precision: Number(precision), scale: Number(scale) } : undefined
}

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** The elements of the specification's schema, as DuckDB writes them. Every column is optional. */
const elementsOf = (name: string, type: string, kind: ChunkKind): ReadonlyArray<SchemaElement> => {
  const optional = { field_3: 1, field_4: bytesOf(name) }
  switch (kind) {
    case "text":
      return type === "JSON"
        ? [{ field_1: 6, ...optional, field_6: 19, field_10: { field_12: {} } }]
        : [{ field_1: 6, ...optional, field_6: 0 }]
    case "boolean":
      return [{ field_1: 0, ...optional }]
    case "integer":
      return [{ field_1: 2, ...optional, field_6: 18 }]
    case "date":
      return [{ field_1: 1, ...optional, field_6: 6 }]
    case "instant":
      return [
        { field_1: 2, ...optional, field_6: 10, field_10: { field_8: { field_1: true, field_2: { field_2: {} } } } }
      ]
    case "decimal": {
      const { precision, scale } = decimalOf(type)!
      const logical = { field_5: { field_1: scale, field_2: precision } }
      return [
        { field_1: 7, field_2: 16, ...optional, field_6: 5, field_7: scale, field_8: precision, field_10: logical }
      ]
    }
    case "list":
      return [
        { ...optional, field_5: 1, field_6: 3 },
        { field_3: 2, field_4: bytesOf("list"), field_5: 1 },
        { field_1: 6, field_3: 1, field_4: bytesOf("element"), field_6: 0 }
      ]
  }
}

/** The text from which `chunkOf` makes the bytes of a value; `undefined` for dates that JavaScript cannot parse. */
const plainText = (kind: ChunkKind, text: string): string | undefined => {
  switch (kind) {
    case "decimal":
      return text.replace(".", "")
    case "date":
      return /^\d{4}-\d\d-\d\d$/.test(text) ? String(Date.parse(text) / 86_400_000) : undefined
    case "instant": {
      const [, milliseconds, microseconds] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})(\d{3})?Z$/.exec(text) ?? []
      return milliseconds === undefined
        ? undefined
        : String(BigInt(Date.parse(`${milliseconds}Z`)) * 1000n + BigInt(microseconds ?? 0))
    }
    default:
      return text
  }
}

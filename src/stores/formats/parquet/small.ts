/**
 * The Parquet file of a table with few rows, made of their texts, with the schema and metadata that DuckDB would write. For a
 * type or value that this code does not know there is none, and DuckDB writes the file.
 */
import { sluiceVersion } from "../../../values/version.ts"
import type { StoredColumn } from "../../warehouse/content.ts"
import type { CsvRow } from "../../warehouse/columns.ts"
import { type KindName, kindOf } from "../../../catalog/kinds.ts"
import { chunkOf } from "./chunk.ts"
import { type Footer, type SchemaElement, pathsOf } from "./footer.ts"
import { decimalOf, parquetKinds } from "./kinds.ts"
import { footerBytes, magic } from "./output.ts"
import type { Metadata } from "../format.ts"

interface SmallColumn {
  readonly elements: ReadonlyArray<SchemaElement>
  readonly kind: KindName
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
    if (kind === undefined || (kind === "decimal" && !decimalOf(type))) return undefined
    const { elements, fromText } = parquetKinds[kind]
    const filled = rows.flatMap((row, position) => (row[index] === null ? [] : [position]))
    const texts = filled.map((position) => fromText(rows[position]![index]!))
    if (texts.includes(undefined)) return undefined
    return { elements: elements(name, type), kind, rows: filled, texts: texts as ReadonlyArray<string> }
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

const bytesOf = (text: string) => new TextEncoder().encode(text)

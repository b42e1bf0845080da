/** How the values of each kind are in a Parquet file; the numbers are those of enums of the Apache Parquet specification. */
import type { KindName } from "../../../catalog/kinds.ts"
import type { SchemaElement } from "./footer.ts"

interface ParquetKind {
  readonly physicalType: number
  /** The elements of the schema for a column, as DuckDB writes them. Every column is optional. */
  readonly elements: (name: string, type: string) => ReadonlyArray<SchemaElement>
  /** SQL for the text from which `bytes` are made. */
  readonly form: (value: string) => string
  /** The same from the text of a value in a CSV file; `undefined` for dates that JavaScript cannot parse. */
  readonly fromText: (text: string) => string | undefined
  /** The bytes of all values of a page; those of a list are the bytes of its items. */
  readonly bytes: (texts: ReadonlyArray<string>) => Buffer
}

const optional = (name: string) => ({ field_3: 1, field_4: new TextEncoder().encode(name) })
const same = (text: string): string => text

/** Those with as many digits that DuckDB stores them in 16 bytes. */
export const decimalOf = (type: string) => {
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? []
  return Number(precision) > 18 ? { precision: Number(precision), scale: Number(scale) } : undefined
}

const infinite = (value: string, epoch: string, largest: string) =>
  `if(${value} > ${epoch}, '${largest}', '-${largest}')`

const textBytes = (texts: ReadonlyArray<string>): Buffer => {
  const bytes = Buffer.allocUnsafe(texts.reduce((sum, text) => sum + 4 + Buffer.byteLength(text), 0))
  let end = 0
  for (const text of texts) {
    const length = bytes.write(text, end + 4)
    end = bytes.writeUInt32LE(length, end) + length
  }
  return bytes
}

const int64 = (texts: ReadonlyArray<string>): Buffer => {
  const bytes = Buffer.allocUnsafe(8 * texts.length)
  for (const [index, text] of texts.entries()) bytes.writeBigInt64LE(BigInt(text), 8 * index)
  return bytes
}

export const parquetKinds: Readonly<Record<KindName, ParquetKind>> = {
  text: {
    physicalType: 6,
    elements: (name) => [{ field_1: 6, ...optional(name), field_6: 0 }],
    form: same,
    fromText: same,
    bytes: textBytes
  },
  json: {
    physicalType: 6,
    elements: (name) => [{ field_1: 6, ...optional(name), field_6: 19, field_10: { field_12: {} } }],
    form: same,
    fromText: same,
    bytes: textBytes
  },
  flag: {
    physicalType: 0,
    elements: (name) => [{ field_1: 0, ...optional(name) }],
    form: same,
    fromText: same,
    bytes: (texts) => {
      const bytes = Buffer.alloc(Math.ceil(texts.length / 8))
      for (const [index, text] of texts.entries()) if (text === "true") bytes[index >> 3]! |= 1 << (index & 7)
      return bytes
    }
  },
  count: {
    physicalType: 2,
    elements: (name) => [{ field_1: 2, ...optional(name), field_6: 18 }],
    form: same,
    fromText: same,
    bytes: int64
  },
  // Days since 1970.
  date: {
    physicalType: 1,
    elements: (name) => [{ field_1: 1, ...optional(name), field_6: 6 }],
    form: (value) =>
      `CASE WHEN isinf(${value}) THEN ${infinite(value, "DATE '1970-01-01'", "2147483647")} ELSE date_diff('day', DATE '1970-01-01', ${value})::VARCHAR END`,
    fromText: (text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? String(Date.parse(text) / 86_400_000) : undefined),
    bytes: (texts) => {
      const bytes = Buffer.allocUnsafe(4 * texts.length)
      for (const [index, text] of texts.entries()) bytes.writeInt32LE(Number(text), 4 * index)
      return bytes
    }
  },
  // Microseconds since 1970, in UTC.
  instant: {
    physicalType: 2,
    elements: (name) => [
      { field_1: 2, ...optional(name), field_6: 10, field_10: { field_8: { field_1: true, field_2: { field_2: {} } } } }
    ],
    form: (value) =>
      `CASE WHEN isinf(${value}) THEN ${infinite(value, "TIMESTAMPTZ '1970-01-01'", "9223372036854775807")} ELSE epoch_us(${value})::VARCHAR END`,
    fromText: (text) => {
      const [, milliseconds, microseconds] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})(\d{3})?Z$/.exec(text) ?? []
      return milliseconds === undefined
        ? undefined
        : String(BigInt(Date.parse(`${milliseconds}Z`)) * 1000n + BigInt(microseconds ?? 0))
    },
    bytes: int64
  },
  // The digits as an integer of 16 bytes.
  decimal: {
    physicalType: 7,
    elements: (name, type) => {
      const { precision, scale } = decimalOf(type)!
      const logical = { field_5: { field_1: scale, field_2: precision } }
      const stored = { field_6: 5, field_7: scale, field_8: precision, field_10: logical }
      return [{ field_1: 7, field_2: 16, ...optional(name), ...stored }]
    },
    form: (value) => `replace(${value}::VARCHAR, '.', '')`,
    fromText: (text) => text.replace(".", ""),
    bytes: (texts) => {
      const bytes = Buffer.allocUnsafe(16 * texts.length)
      for (const [index, text] of texts.entries()) {
        const units = BigInt.asUintN(128, BigInt(text))
        bytes.writeBigUInt64BE(units >> 64n, 16 * index)
        bytes.writeBigUInt64BE(BigInt.asUintN(64, units), 16 * index + 8)
      }
      return bytes
    }
  },
  list: {
    physicalType: 6,
    elements: (name) => [
      { ...optional(name), field_5: 1, field_6: 3 },
      { field_3: 2, field_4: new TextEncoder().encode("list"), field_5: 1 },
      { field_1: 6, field_3: 1, field_4: new TextEncoder().encode("element"), field_6: 0 }
    ],
    form: (value) => `to_json(${value})::VARCHAR`,
    fromText: same,
    bytes: textBytes
  }
}

/**
 * A chunk of a Parquet file: one column of one row group in which most rows have no value, or that has few rows. The format is that of the
 * Apache Parquet specification: one page, PLAIN values, levels as runs, zstd.
 */
import { ByteWriter } from "hyparquet-writer/src/bytewriter.js"
import { serializeTCompactProtocol } from "hyparquet-writer/src/thrift.js"
import { zstdCompressSync } from "node:zlib"
import type { KindName } from "../../../catalog/kinds.ts"
import { parquetKinds } from "./kinds.ts"

/** Values of the specification's enums. */
const encoding = { plain: 0, rle: 3 }
const codec = { uncompressed: 0, zstd: 6 }

export interface Chunk {
  /** The page with its header. */
  readonly bytes: Buffer
  /** The ColumnMetaData of the specification, for a chunk at this offset of the file. */
  readonly metadata: (
    path: ReadonlyArray<string>,
    offset: number
  ) => { readonly field_6: bigint; readonly field_7: bigint }
}

/** `rows`: ascending positions of the rows with a value; `texts`: their values, see `form` in kinds.ts. */
export const chunkOf = (
  kind: KindName,
  rowCount: number,
  rows: ReadonlyArray<number>,
  texts: ReadonlyArray<string>
): Chunk => {
  const page = kind === "list" ? listPage(rowCount, rows, texts) : plainPage(kind, rowCount, rows, texts)
  const compressed = page.body.length < smallBytes ? page.body : zstdCompressSync(page.body)
  const header = thrift({
    field_1: 0,
    field_2: page.body.length,
    field_3: compressed.length,
    field_5: { field_1: page.count, field_2: encoding.plain, field_3: encoding.rle, field_4: encoding.rle }
  })
  const bytes = Buffer.concat([header, compressed])
  return {
    bytes,
    metadata: (path, offset) => ({
      field_1: parquetKinds[kind].physicalType,
      field_2: [encoding.plain, encoding.rle],
      field_3: path,
      field_4: compressed === page.body ? codec.uncompressed : codec.zstd,
      field_5: BigInt(page.count),
      field_6: BigInt(header.length + page.body.length),
      field_7: BigInt(bytes.length),
      field_9: BigInt(offset),
      ...(kind !== "list" && { field_12: { field_3: BigInt(rowCount - rows.length) } })
    })
  }
}

/** Compressing fewer bytes gains nothing. */
const smallBytes = 64

interface Page {
  /** Values, missing ones included. */
  readonly count: number
  readonly body: Buffer
}

const plainPage = (
  kind: KindName,
  rowCount: number,
  rows: ReadonlyArray<number>,
  texts: ReadonlyArray<string>
): Page => {
  const definitions = new Levels(1)
  let next = 0
  for (const row of rows) {
    definitions.add(0, row - next)
    definitions.add(1, 1)
    next = row + 1
  }
  definitions.add(0, rowCount - next)
  return { count: rowCount, body: Buffer.concat([definitions.bytes(), parquetKinds[kind].bytes(texts)]) }
}

/** A list has three levels: whether it is there, whether it has items, and whether an item has a value. */
const listPage = (rowCount: number, rows: ReadonlyArray<number>, texts: ReadonlyArray<string>): Page => {
  const [repetitions, definitions] = [new Levels(1), new Levels(2)]
  const items: Array<string> = []
  let [next, count] = [0, 0]
  const add = (definition: number, repetition: number, times: number) => {
    repetitions.add(repetition, times)
    definitions.add(definition, times)
    count += times
  }
  for (const [index, row] of rows.entries()) {
    add(0, 0, row - next)
    next = row + 1
    // Our statement made the text, and a schema would cost more than to write the row.
    const list = JSON.parse(texts[index]!) as ReadonlyArray<string | null>
    if (list.length === 0) add(1, 0, 1)
    for (const [place, item] of list.entries()) {
      add(item === null ? 2 : 3, place === 0 ? 0 : 1, 1)
      if (item !== null) items.push(item)
    }
  }
  add(0, 0, rowCount - next)
  return { count, body: Buffer.concat([repetitions.bytes(), definitions.bytes(), parquetKinds.list.bytes(items)]) }
}

/** Levels in runs of the RLE encoding, preceded by their length in bytes. */
class Levels {
  private readonly writer = new ByteWriter()
  private readonly width: number
  private level = 0
  private times = 0

  constructor(width: number) {
    this.width = width
    this.writer.appendUint32(0)
  }

  add(level: number, times: number): void {
    if (level !== this.level) {
      this.end()
      this.level = level
    }
    this.times += times
  }

  bytes(): Buffer {
    this.end()
    const bytes = Buffer.from(this.writer.getBytes())
    bytes.writeUInt32LE(bytes.length - 4)
    return bytes
  }

  private end(): void {
    if (this.times === 0) return
    this.writer.appendVarInt(this.times << 1)
    this.writer.appendUint8(this.level & ((1 << this.width) - 1))
    this.times = 0
  }
}

/** A struct in Thrift's compact protocol. */
export const thrift = (struct: { readonly [field: `field_${number}`]: unknown }): Buffer => {
  const writer = new ByteWriter()
  serializeTCompactProtocol(writer, struct)
  return Buffer.from(writer.getBytes())
}

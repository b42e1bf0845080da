/** Writes a Parquet file from the row groups of others, whose column chunks are copied as they are. */
import { type FileHandle, open } from "node:fs/promises"
import { thrift } from "./chunk.ts"
import type { Footer, RowGroup } from "./footer.ts"

/** A row group that is written but not ended: more chunks may follow. */
export interface WrittenGroup {
  readonly chunks: Array<object>
  readonly rows: bigint
  /** Bytes. */
  compressed: bigint
  plain: bigint
}

export class ParquetOutput {
  offset = 0
  private readonly file: FileHandle
  private readonly groups: Array<object> = []

  private constructor(file: FileHandle) {
    this.file = file
  }

  static async create(path: string): Promise<ParquetOutput> {
    const output = new ParquetOutput(await open(path, "wx", 0o600))
    await output.append(magic)
    return output
  }

  async append(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length;) done += (await this.file.write(bytes, done)).bytesWritten
    this.offset += bytes.length
  }

  /** Copies the column chunks of a row group. Bloom filters stay behind: they are elsewhere in the file. */
  async copyGroup(
    source: FileHandle,
    { field_1: columns, field_2: plain, field_3: rows }: RowGroup
  ): Promise<WrittenGroup> {
    const begins = columns.map(({ field_3 }) => Number(field_3.field_11 ?? field_3.field_9))
    const begin = Math.min(...begins)
    const end = Math.max(...columns.map(({ field_3 }, index) => begins[index]! + Number(field_3.field_7)))
    const moved = BigInt(this.offset - begin)
    const buffer = Buffer.allocUnsafe(Math.min(end - begin, copyBytes))
    for (let at = begin; at < end;) {
      const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, end - at), at)
      await this.append(buffer.subarray(0, bytesRead))
      at += bytesRead
    }
    const chunks = columns.map(({ field_3: chunk }) => ({
      field_2: 0n,
      field_3: {
        ...chunk,
        field_14: undefined,
        field_15: undefined,
        field_9: chunk.field_9 + moved,
        ...(chunk.field_11 !== undefined && { field_11: chunk.field_11 + moved })
      }
    }))
    return { chunks, rows, compressed: BigInt(end - begin), plain }
  }

  endGroup({ chunks, rows, compressed, plain }: WrittenGroup): void {
    this.groups.push({ field_1: chunks, field_2: plain, field_3: rows, field_6: compressed })
  }

  /** Writes the footer, with the row groups so far. */
  async end(footer: Footer): Promise<void> {
    await this.append(footerBytes(footer, this.groups))
  }

  async close(): Promise<void> {
    await this.file.close()
  }
}

/** The end of a file with these row groups. */
export const footerBytes = (footer: Footer, groups: ReadonlyArray<object>): Buffer => {
  const bytes = thrift({ ...footer, field_4: groups })
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  return Buffer.concat([bytes, length, magic])
}

export const magic = Buffer.from("PAR1")
const copyBytes = 1024 * 1024

/** Writes the Parquet file of a wide table, row group by row group, and within a row group column by column. */
import { type FileHandle, open } from "node:fs/promises"
import type { WideColumn } from "../warehouse/wide-views.ts"
import { chunkOf, thrift } from "./parquet-chunk.ts"
import type { Footer, RowGroup } from "./parquet-footer.ts"
import { type WideValue, kindOf } from "./wide-values.ts"

interface WideFileOptions {
  /** The file of the base table. */
  readonly base: string
  readonly target: string
  readonly groups: ReadonlyArray<RowGroup>
  /** Paths of all columns in the schema: those of the base table, then those of the custom fields. */
  readonly paths: ReadonlyArray<ReadonlyArray<string>>
  readonly columns: ReadonlyArray<WideColumn>
}

export const openWideFile = async ({ base, target, groups, paths, columns }: WideFileOptions) => {
  const source = await open(base, "r")
  const file = await open(target, "wx", 0o600)
  const written: Array<object> = []
  const sparsePaths = paths.slice(paths.length - columns.length)
  let offset = 0
  /** The row group that is being written, and its chunks so far. */
  let group = -1
  let firstRow = 0
  let chunks: Array<object> = []
  let sizes = { compressed: 0n, plain: 0n }
  /** The values of the next chunk. */
  let rows: Array<number> = []
  let texts: Array<string> = []

  const append = async (bytes: Uint8Array) => {
    for (let done = 0; done < bytes.length;) done += (await file.write(bytes, done)).bytesWritten
    offset += bytes.length
  }
  await append(magic)

  const beginGroup = async () => {
    if (group >= 0) firstRow += Number(groups[group]!.field_3)
    group++
    const { field_1: base, field_2: plain } = groups[group]!
    const begins = base.map(({ field_3 }) => Number(field_3.field_11 ?? field_3.field_9))
    const ends = base.map(({ field_3 }, index) => begins[index]! + Number(field_3.field_7))
    const begin = Math.min(...begins)
    const moved = BigInt(offset - begin)
    // Bloom filters stay behind: they are elsewhere in the file.
    chunks = base.map(({ field_3: chunk }) => ({
      field_2: 0n,
      field_3: {
        ...chunk,
        field_14: undefined,
        field_15: undefined,
        field_9: chunk.field_9 + moved,
        ...(chunk.field_11 !== undefined && { field_11: chunk.field_11 + moved })
      }
    }))
    sizes = { compressed: BigInt(Math.max(...ends) - begin), plain }
    await copyRange(source, begin, Math.max(...ends), append)
  }
  const endColumn = async () => {
    const place = chunks.length - groups[group]!.field_1.length
    const chunk = chunkOf(kindOf(columns[place]!.dataType), Number(groups[group]!.field_3), rows, texts)
    const metadata = chunk.metadata(sparsePaths[place]!, offset)
    chunks.push({ field_2: 0n, field_3: metadata })
    sizes.compressed += metadata.field_7
    sizes.plain += metadata.field_6
    ;[rows, texts] = [[], []]
    await append(chunk.bytes)
  }
  const endGroup = async () => {
    while (chunks.length < groups[group]!.field_1.length + columns.length) await endColumn()
    written.push({
      field_1: chunks,
      field_2: sizes.plain,
      field_3: groups[group]!.field_3,
      field_6: sizes.compressed
    })
  }

  return {
    /** Values are sorted by row group, column and row. A second value of a cell is ignored. */
    add: async ({ row, column, text }: WideValue): Promise<void> => {
      while (group < 0 || row >= firstRow + Number(groups[group]!.field_3)) {
        if (group >= 0) await endGroup()
        await beginGroup()
      }
      while (chunks.length < groups[group]!.field_1.length + column) await endColumn()
      if (rows.at(-1) === row - firstRow) return
      rows.push(row - firstRow)
      texts.push(text)
    },
    /** Writes the rest of the row groups, and the footer. */
    end: async (footer: Footer): Promise<void> => {
      while (group < groups.length) {
        if (group >= 0) await endGroup()
        if (group === groups.length - 1) break
        await beginGroup()
      }
      const bytes = thrift({ ...footer, field_4: written })
      const length = Buffer.alloc(4)
      length.writeUInt32LE(bytes.length)
      await append(Buffer.concat([bytes, length, magic]))
    },
    close: async (): Promise<void> => {
      await source.close()
      await file.close()
    }
  }
}

const magic = Buffer.from("PAR1")

const copyRange = async (
  file: FileHandle,
  from: number,
  to: number,
  append: (bytes: Uint8Array) => Promise<void>
): Promise<void> => {
  const buffer = Buffer.allocUnsafe(Math.min(to - from, copyBytes))
  for (let at = from; at < to;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, to - at), at)
    await append(buffer.subarray(0, bytesRead))
    at += bytesRead
  }
}
const copyBytes = 1024 * 1024

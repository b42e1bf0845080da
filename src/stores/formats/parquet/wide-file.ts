/** Writes the Parquet file of a wide table, row group by row group, and within a row group column by column. */
import { open } from "node:fs/promises"
import type { WideColumn } from "../../warehouse/wide-views.ts"
import { chunkOf } from "./chunk.ts"
import type { Footer, RowGroup } from "./footer.ts"
import { ParquetOutput, type WrittenGroup } from "./output.ts"
import { kindOfField } from "../../warehouse/wide-types.ts"
import type { WideValue } from "../wide-values.ts"

interface WideFileOptions {
  /** The file of the base table, and its row groups. */
  readonly base: string
  readonly groups: ReadonlyArray<RowGroup>
  readonly target: string
  /** Paths of all columns in the schema: those of the base table, then those of the custom fields. */
  readonly paths: ReadonlyArray<ReadonlyArray<string>>
  readonly columns: ReadonlyArray<WideColumn>
}

export const openWideFile = async ({ base, groups, target, paths, columns }: WideFileOptions) => {
  const source = await open(base, "r")
  const output = await ParquetOutput.create(target)
  const sparsePaths = paths.slice(paths.length - columns.length)
  let current: WrittenGroup | undefined
  let index = -1
  /** The rows of the current row group. */
  let [firstRow, endRow] = [0, 0]
  /** The next column, and its values. */
  let column = 0
  let rows: Array<number> = []
  let texts: Array<string> = []

  const endColumn = async (group: WrittenGroup) => {
    const chunk = chunkOf(kindOfField(columns[column]!.dataType), endRow - firstRow, rows, texts)
    const metadata = chunk.metadata(sparsePaths[column]!, output.offset)
    group.chunks.push({ field_2: 0n, field_3: metadata })
    group.compressed += metadata.field_7
    group.plain += metadata.field_6
    await output.append(chunk.bytes)
    column++
    ;[rows, texts] = [[], []]
  }
  const endGroup = async () => {
    if (!current) return
    while (column < columns.length) await endColumn(current)
    output.endGroup(current)
  }
  const beginGroup = async (): Promise<WrittenGroup> => {
    await endGroup()
    current = await output.copyGroup(source, groups[++index]!)
    ;[firstRow, endRow, column] = [endRow, endRow + Number(current.rows), 0]
    return current
  }

  return {
    /** Values are sorted by row group, column and row. A second value of a cell is ignored. */
    add: async (values: ReadonlyArray<WideValue>): Promise<void> => {
      for (const { row, column: of, text } of values) {
        let group = current ?? (await beginGroup())
        while (row >= endRow) group = await beginGroup()
        while (column < of) await endColumn(group)
        if (rows.at(-1) === row - firstRow) continue
        rows.push(row - firstRow)
        texts.push(text)
      }
    },
    /** Writes the rest of the row groups, and the footer. */
    end: async (footer: Footer): Promise<void> => {
      while (index < groups.length - 1) await beginGroup()
      await endGroup()
      await output.end(footer)
    },
    close: async (): Promise<void> => {
      await source.close()
      await output.close()
    }
  }
}

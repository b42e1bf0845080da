/** A Parquet file of which the row groups before the first changed row are copied. Most changes of a large table are new rows. */
import { Effect } from "effect"
import { open, rm } from "node:fs/promises"
import { onDisk } from "../../../output/files.ts"
import { literal } from "../../warehouse/sql.ts"
import { Warehouse } from "../../warehouse/warehouse.ts"
import type { PublishedTable } from "../../../catalog/published-tables.ts"
import { changedRows, isChanged } from "../../warehouse/changed-rows.ts"
import type { Rows } from "../format.ts"
import { readFooter } from "./footer.ts"
import { ParquetOutput } from "./output.ts"
import { copyParquet, rowGroupRows } from "./write.ts"

/**
 * Writes the file `target`. `previous`: the file of the previous release; its rows keep their order, and the changed ones
 * follow. Returns the number of rows; `undefined` if no row group stays.
 */
export const updateParquet = Effect.fn("formats.updateParquet")(function* (
  { from, metadata }: Rows,
  table: PublishedTable,
  previous: string,
  target: string
) {
  const warehouse = yield* Warehouse
  const old = `read_parquet(${literal(previous)}, file_row_number = true)`
  const footer = yield* onDisk(previous, "read", () => readFooter(previous))
  const [first] = yield* warehouse.rows(`SELECT min(file_row_number) AS row FROM ${old} WHERE ${isChanged(table)}`)
  const firstChanged = first?.["row"] === null ? Number(footer.field_3) : Number(first?.["row"])
  // Only full row groups are copied, so that the file does not consist of ever smaller ones.
  let [kept, keptRows] = [0, 0]
  for (const group of footer.field_4) {
    const rows = Number(group.field_3)
    if (rows < rowGroupRows || keptRows + rows > firstChanged) break
    kept++
    keptRows += rows
  }
  if (kept === 0) return undefined
  const rest = `${target}.rest`
  const rows = yield* copyParquet(
    `(SELECT * EXCLUDE (file_row_number) FROM ${old} WHERE file_row_number >= ${keptRows} AND NOT ${isChanged(table)}
      UNION ALL FROM ${changedRows(from, table)})`,
    metadata,
    rest
  )
  yield* onDisk(target, "written", async () => {
    const restFooter = await readFooter(rest)
    await using oldFile = await open(previous)
    await using restFile = await open(rest)
    const output = await ParquetOutput.create(target)
    try {
      for (const group of footer.field_4.slice(0, kept)) output.endGroup(await output.copyGroup(oldFile, group))
      for (const group of restFooter.field_4) output.endGroup(await output.copyGroup(restFile, group))
      await output.end({ ...restFooter, field_3: BigInt(keptRows + rows) })
    } finally {
      await output.close()
    }
    await rm(rest)
  })
  return keptRows + rows
})

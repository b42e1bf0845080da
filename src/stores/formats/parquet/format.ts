/** Parquet: timestamps are UTC microseconds, money is exact, and every reader knows the encodings. */
import { Effect } from "effect"
import { join } from "node:path"
import { literal } from "../../warehouse/sql.ts"
import type { Format } from "../format.ts"
import { updateParquet } from "./delta.ts"
import { parquetName, writeParquet } from "./write.ts"
import { writeWideParquet } from "./wide-parquet.ts"

const fileOf = (name: string) => join(name, parquetName)

export const format: Format = {
  fileOf,
  write: (rows, folder) => {
    const target = join(folder, fileOf(rows.name))
    const { wide } = rows
    const written = wide
      ? Effect.scoped(writeWideParquet({ ...rows, wide }, join(folder, fileOf(wide.table)), target))
      : writeParquet(rows, target)
    return Effect.map(written, (count) => [{ path: fileOf(rows.name), table: rows.name, rows: count }])
  },
  update: (rows, { table, files }, folder) =>
    rows.wide
      ? Effect.undefined
      : Effect.map(updateParquet(rows, table, files[0]!.path, join(folder, fileOf(rows.name))), (count) =>
          count === undefined ? undefined : [{ path: fileOf(rows.name), table: rows.name, rows: count }]
        ),
  reading: {
    from: (paths) => `read_parquet([${paths.map(literal).join(", ")}], hive_partitioning = false)`,
    areTexts: false
  }
}

/** Parquet: timestamps are UTC microseconds, money is exact, and every reader knows the encodings. */
import { Effect } from "effect"
import { join } from "node:path"
import { literal } from "../../warehouse/sql.ts"
import { type Format, oneFile } from "../format.ts"
import { updateParquet } from "./delta.ts"
import { parquetName, writeParquet } from "./write.ts"
import { writeWideParquet } from "./wide-parquet.ts"

const fileOf = (name: string) => join(name, parquetName)

export const format: Format = {
  fileOf,
  write: (rows, folder) => {
    const [path, { name, wide }] = [fileOf(rows.name), rows]
    const target = join(folder, path)
    const written = wide
      ? Effect.scoped(writeWideParquet({ ...rows, wide }, join(folder, fileOf(wide.table)), target))
      : writeParquet(rows, target)
    return Effect.map(written, oneFile(path, name))
  },
  update: (rows, { table, files }, folder) => {
    if (rows.wide) return Effect.undefined
    const path = fileOf(rows.name)
    return Effect.map(updateParquet(rows, table, files[0]!.path, join(folder, path)), (count) =>
      count === undefined ? undefined : oneFile(path, rows.name)(count)
    )
  },
  reading: {
    from: (paths) => `read_parquet([${paths.map(literal).join(", ")}], hive_partitioning = false)`,
    areTexts: false
  }
}

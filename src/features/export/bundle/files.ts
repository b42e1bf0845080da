/** Puts the files into a bundle that its rows name: of recordings, and of links in the tables of the bundle. */
import { Effect } from "effect"
import { copyFile } from "node:fs/promises"
import { join } from "node:path"
import { failedError } from "../../../console/errors.ts"
import { columnWithRole } from "../../../catalog/tables.ts"
import { onDisk } from "../../../output/files.ts"
import { isStoredPath } from "../../../output/stored-files.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { literal, name } from "../../../stores/warehouse/sql.ts"
import { type Building, makeFolderOf, seal } from "./sealed-files.ts"
import type { Release } from "./source.ts"
import type { BundledTable } from "./tables.ts"

/** The `Warehouse` is the DuckDB file of the release. A masked release names no files. */
export const putFiles = Effect.fn("bundle.putFiles")(function* (
  tables: ReadonlyArray<BundledTable>,
  { maskedColumns }: Pick<Release, "maskedColumns">,
  output: string,
  building: Building
) {
  const bundled = tables.map(({ released }) => literal(released.name)).join(", ")
  const selects = tables.flatMap(({ published, released }) => {
    const column = columnWithRole(published.definition, "storedFile")
    if (column === undefined || maskedColumns !== undefined) return []
    const owned = published.definition.columns.some((one) => one.name === "table_name")
      ? `AND if(contains(column_name, '.'), split_part(column_name, '.', 1), table_name) IN (${bundled})`
      : ""
    return [
      `SELECT ${name(column)} AS path, sha256 FROM crm.${name(released.name)} WHERE ${name(column)} IS NOT NULL ${owned}`
    ]
  })
  if (selects.length === 0) return []
  const files = yield* query({ path: String, sha256: String }, `${selects.join(" UNION ")} ORDER BY ALL`)
  return yield* Effect.forEach(files, ({ path, sha256 }) =>
    Effect.gen(function* () {
      if (!isStoredPath(path)) return yield* differs(path)
      const target = join(building.folder, "data", path)
      yield* onDisk(join(output, path), "read", async () => {
        await makeFolderOf(target)
        await copyFile(join(output, path), target)
      })
      const sealed = yield* onDisk(target, "written", () => seal(building, `data/${path}`)).pipe(Effect.uninterruptible)
      return sealed.sha256 === sha256 ? sealed : yield* differs(path)
    })
  )
})

const differs = (path: string) =>
  failedError(
    `${path} differs from its row: its SHA-256 is another one.`,
    "./sluice sync --again all --only recordings,files"
  )

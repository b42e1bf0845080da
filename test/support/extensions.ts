/** Extensions of DuckDB, from the packages that have them as files. */
import { copyFileSync, existsSync, globSync, mkdirSync, renameSync } from "node:fs"
import { dirname, join } from "node:path"

/** The folder with the extensions, for `lake.extensions`. */
export const lakeExtensions = (python: string): string => {
  const environment = dirname(dirname(python))
  const folder = join(environment, "extensions")
  mkdirSync(folder, { recursive: true })
  for (const file of globSync(
    join(environment, "lib/*/site-packages/duckdb_extension_*/extensions/*/*.duckdb_extension")
  )) {
    const target = join(folder, file.split("/").at(-1)!)
    if (existsSync(target)) continue
    // Another test may be copying it at the moment.
    copyFileSync(file, `${target}.${process.pid}`)
    renameSync(`${target}.${process.pid}`, target)
  }
  return folder
}

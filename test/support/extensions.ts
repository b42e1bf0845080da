/** Extensions of DuckDB, from the packages that have them as files. */
import { copyFileSync, existsSync, globSync, mkdirSync, renameSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { newFolder } from "./sluice.ts"

/** The folder with the extensions, for `extensions` of a target. */
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

/** The flags that name a settings file with a lake as its only target, without files. `more`: settings of the target. */
export const withLake = (
  python: string,
  more: { readonly lake: string } & Readonly<Record<string, string>>,
  formats: ReadonlyArray<string> = []
): ReadonlyArray<string> => {
  const config = join(newFolder(), "sluice.toml")
  const target = Object.entries({ name: "lake", profile: "raw", extensions: lakeExtensions(python), ...more })
  const lines = target.map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
  writeFileSync(config, [`[output]`, `formats = ${JSON.stringify(formats)}`, `[[publish]]`, ...lines, ""].join("\n"))
  return ["--config", config]
}

/** Finds the definitions: each file under `pipelines/` has one and is named after its table. */
import { readdirSync } from "node:fs"
import { basename, extname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import type { Resource } from "./resource.ts"
import { tablesOf } from "./tables.ts"

export interface Catalogue {
  readonly resources: ReadonlyArray<Resource>
  /** The family of each table, which is the first folder of its definition's path. */
  readonly familyByTable: ReadonlyMap<string, string>
}

/** A package has JavaScript, and declarations of types beside it. */
const isDefinition = (file: string) => /\.[jt]s$/.test(file) && !file.endsWith(".d.ts")

/**
 * Imports all definitions, in the order of their paths. Throws for a mistake in this repository: a file without exactly one
 * definition, a table that is defined twice, or a parent table that no file defines.
 */
export const discover = async (
  folder = fileURLToPath(new URL("../../pipelines", import.meta.url))
): Promise<Catalogue> => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(isDefinition)
  const familyByTable = new Map<string, string>()
  const resources = await Promise.all(
    files.sort().map(async (file) => {
      const exported = Object.values<Resource>(await import(pathToFileURL(join(folder, file)).href))
      const resource = exported[0]
      const table = basename(file, extname(file))
      if (exported.length !== 1 || !resource || resource.table !== table)
        throw new Error(`pipelines/${file}: must export one definition, of table ${table}`)
      return resource
    })
  )
  resources.forEach((resource, index) => {
    for (const table of tablesOf(resource)) {
      if (familyByTable.has(table.name))
        throw new Error(`pipelines/${files[index]}: table ${table.name} is defined twice`)
      familyByTable.set(table.name, files[index]!.split("/")[0]!)
    }
    const { childOf } = resource
    if (childOf && !resources.some(({ table }) => table === childOf.table))
      throw new Error(`pipelines/${files[index]}: reads each ${childOf.table}, which nobody defines`)
  })
  return { resources, familyByTable }
}

/** The files that rows name, by the role of their column. */
import { Effect } from "effect"
import { join } from "node:path"
import type { Resource } from "../../catalog/resource.ts"
import { columnWithRole, keyText, tablesOf } from "../../catalog/tables.ts"
import { onDisk } from "../../output/files.ts"
import { outputPaths } from "../../output/paths.ts"
import { isStoredPath } from "../../output/stored-files.ts"
import { removeBelow } from "../../output/remove.ts"
import { queryTexts } from "./query.ts"
import { literal, name } from "./sql.ts"

/** A SELECT of the paths in the tables whose rows name files. */
const pathsSql = (resources: ReadonlyArray<Resource>, condition: (resource: Resource) => string) =>
  [
    "SELECT NULL::VARCHAR AS path WHERE false",
    ...resources.flatMap((resource) => {
      const column = columnWithRole(tablesOf(resource)[0], "storedFile")
      return ["crm", "crm_history"].flatMap((schema) =>
        column === undefined
          ? []
          : `SELECT ${name(column)} FROM ${schema}.${name(resource.table)} WHERE ${name(column)} IS NOT NULL AND ${condition(resource)}`
      )
    })
  ].join(" UNION ALL ")

/** Files of the records whose location and key are in a table of `keysOf`. */
export const filesOfRecords = (resources: ReadonlyArray<Resource>, keysOf: (resource: Resource) => string) => {
  const isOf = (resource: Resource) =>
    `(location_id, ${keyText(resource)}) IN (SELECT (location_id, key) FROM ${keysOf(resource)})`
  return queryTexts(`SELECT DISTINCT path FROM (${pathsSql(resources, isOf)}) ORDER BY ALL`)
}

/** Files of a location that no other location has. */
export const filesOfLocation = (resources: ReadonlyArray<Resource>, location: string) => {
  const of = (sign: "=" | "<>") => pathsSql(resources, () => `location_id ${sign} ${literal(location)}`)
  return queryTexts(`SELECT DISTINCT path FROM (${of("=")}) WHERE path NOT IN (${of("<>")}) ORDER BY ALL`)
}

/** Those of the paths that no row names any more: several records may share a file. */
export const unnamedAmong = Effect.fnUntraced(function* (
  resources: ReadonlyArray<Resource>,
  paths: ReadonlyArray<string>
) {
  const named = new Set(yield* queryTexts(`SELECT DISTINCT path FROM (${pathsSql(resources, () => "true")})`))
  return paths.filter((path) => !named.has(path))
})

/** Removes the files that no row names any more. Returns how many. */
export const removeUnnamed = Effect.fnUntraced(function* (
  resources: ReadonlyArray<Resource>,
  folder: string,
  paths: ReadonlyArray<string>
) {
  const unnamed = yield* unnamedAmong(resources, paths.filter(isStoredPath))
  // The folder of the files may be a link to another disk.
  const { files } = outputPaths(folder)
  yield* onDisk(files, "removed", async () => {
    for (const path of unnamed) await removeBelow(files, join(folder, path))
  })
  return unnamed.length
})

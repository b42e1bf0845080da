/** Decides whether to publish: not before something was read completely, and not if nothing changed. */
import { Effect } from "effect"
import { hash } from "node:crypto"
import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import type { Failure } from "../failure.ts"
import { changeCount } from "../warehouse/meta/run-resources.ts"
import { isAnythingComplete } from "../warehouse/meta/watermarks.ts"
import { manifestName } from "../settings/paths.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import type { Manifest, PublishedState } from "./manifest.ts"

export const stateOf = Effect.fnUntraced(function* (
  views: ReadonlyArray<string>
): Effect.fn.Return<PublishedState, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const columns = yield* warehouse.rows(
    `SELECT schema_name, table_name, column_name, data_type FROM duckdb_columns()
     WHERE database_name = current_database() AND schema_name IN ('crm', 'crm_history') ORDER BY ALL`
  )
  return { changes: yield* changeCount(), definitions: hash("sha256", JSON.stringify([columns, views])).slice(0, 32) }
})

/** `nothing read`: no resource was ever read completely. `unchanged`: the current release was made from the same state. */
export const publishDue = Effect.fn("publish.due")(function* (wanted: {
  readonly folder: string
  readonly formats: ReadonlyArray<string>
  readonly csvProfile: string
  readonly state: PublishedState
}): Effect.fn.Return<"nothing read" | "unchanged" | "due", Failure, Warehouse> {
  if (!(yield* isAnythingComplete())) return "nothing read"
  const manifest = yield* Effect.promise(() => currentManifest(wanted.folder))
  const same = (of: Omit<typeof wanted, "folder">) =>
    JSON.stringify([of.formats, of.csvProfile, of.state?.changes, of.state?.definitions])
  return manifest && same(manifest) === same(wanted) ? "unchanged" : "due"
})

/** The manifest of the current release; `undefined` if one of its files is missing or has another size. */
const currentManifest = async (folder: string): Promise<Manifest | undefined> => {
  try {
    const manifest = JSON.parse(await readFile(join(folder, manifestName), "utf8")) as Manifest // Written by writeManifest.
    for (const { path, bytes } of manifest.files) if ((await stat(join(folder, path))).size !== bytes) return undefined
    return manifest
  } catch {
    return undefined
  }
}

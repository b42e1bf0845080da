/** Publishes the warehouse: its tables and wide views, with the documents that describe them. */
import { Effect } from "effect"
import type { Catalogue } from "./catalog/discover.ts"
import { publishedTables } from "./catalog/published-tables.ts"
import { tablesOf } from "./catalog/tables.ts"
import { releaseDocuments } from "./contracts/documents.ts"
import { onDisk } from "./io/files.ts"
import { projectFolder, readModels } from "./models/files.ts"
import { orderOf } from "./models/order.ts"
import { withViews } from "./publish/changes.ts"
import { publish } from "./publish/publish.ts"
import { outputPaths } from "./settings/paths.ts"
import type { OutputSettings } from "./settings/settings.ts"
import { versionStatements } from "./warehouse/as-of-views.ts"
import { boundChangedKeys } from "./warehouse/meta/content-versions.ts"
import { publishedMetaTables } from "./warehouse/meta/tables.ts"
import { isAnythingComplete } from "./warehouse/meta/watermarks.ts"
import { commentStatements } from "./warehouse/schema.ts"
import { Warehouse } from "./warehouse/warehouse.ts"
import { refreshWide } from "./warehouse/wide-views.ts"

/**
 * Publishes a new release if the warehouse differs from the current one; with `full`, writes every file anew. Publishes
 * nothing until a resource has been read completely. Returns the files of the current release, in `due` whether and why it
 * is new, and in `problems` the models that it does not have.
 */
export const publishNow = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  output: OutputSettings,
  run: string,
  full = false
) {
  const wide = yield* refreshWide(catalogue, output.customFieldClasses)
  const folder = outputPaths(output.folder).published
  if (output.formats.length === 0) {
    yield* boundChangedKeys()
    return { due: "not wanted", files: [], problems: [], folder } as const
  }
  if (!(yield* isAnythingComplete())) return { due: "nothing read", files: [], problems: [], folder } as const
  // The checkpoint releases memory of unwritten rows, which publishing needs.
  yield* (yield* Warehouse).run("CHECKPOINT")
  const schemas = { current: "main", history: "crm_history" }
  const views = [
    ...catalogue.resources.flatMap((resource) => versionStatements(resource, schemas)),
    ...wide.flatMap((view) => [view.statement("main"), ...view.comments("main")]),
    ...commentStatements(catalogue, schemas)
  ]
  const { isNew, files, problems } = yield* publish(
    {
      ...output,
      folder,
      run,
      schemaVersion: "1",
      views,
      models: yield* modelsOf(catalogue, output),
      documents: (files) => releaseDocuments(catalogue, wide, files, output.csvProfile === "spreadsheet"),
      full
    },
    withViews(publishedTables(catalogue), wide)
  )
  return { due: isNew ? "due" : "unchanged", files, problems, folder } as const
})

/** The models of sluice, and those of the user, in the order in which they are built. */
const modelsOf = Effect.fnUntraced(function* (catalogue: Catalogue, { models }: OutputSettings) {
  if (!models?.build) return { models: [], problems: [] }
  const { folder } = models
  const files = yield* onDisk(folder ?? projectFolder, "read", () => readModels(folder))
  const tables = new Set(catalogue.resources.flatMap((resource) => tablesOf(resource).map(({ name }) => name)))
  return orderOf(files, ({ schema, table }) =>
    schema === "meta" ? publishedMetaTables.includes(table) : /^crm(_history)?$/.test(schema) && tables.has(table)
  )
})

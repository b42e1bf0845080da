/** What the dictionary of an account says beside the definitions: rows, ages and custom fields, from the output folder. */
import { Effect } from "effect"
import { readManifest } from "../../output/manifest.ts"
import { outputPaths } from "../../output/paths.ts"
import { openReadable } from "../../run/readable.ts"
import { outputSettings } from "../../settings/settings.ts"
import type { AccountFacts } from "../../stages/publish/contracts/dictionary-page.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { Environment } from "../../values/environment.ts"

/** `undefined` without a warehouse or a release that can be read: the definitions need neither. */
export const accountFacts = Effect.gen(function* () {
  const output = yield* outputSettings({}, yield* Environment)
  const readable = yield* openReadable(output)
  if (readable.source === "none") return undefined
  const released = yield* Effect.tryPromise(() => readManifest(outputPaths(output.folder).published))
  return yield* Effect.gen(function* () {
    const { rows } = yield* Warehouse
    const ages = yield* rows(
      "SELECT resource, strftime(min(complete_at) AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M') AS at FROM meta.watermarks GROUP BY ALL"
    )
    const fields = yield* rows(customFieldsSql)
    const text = (value: unknown) => (value === null ? "" : String(value))
    return {
      releasedAt: released.writtenAt,
      rows: rowsOf(released),
      completeAt: new Map(ages.map(({ at, resource }) => [text(resource), text(at)])),
      customFields: fields.map((field) => ({
        name: text(field["name"]),
        key: text(field["field_key"]),
        kind: text(field["data_type"]),
        location: text(field["location"]),
        columns: JSON.parse(text(field["columns"])) as ReadonlyArray<string>
      }))
    } satisfies AccountFacts
  }).pipe(Effect.provide(readable.tables))
}).pipe(
  Effect.scoped,
  Effect.orElseSucceed(() => undefined)
)

const customFieldsSql = `SELECT f.name, f.field_key, f.data_type, coalesce(l.name, f.location_id) AS location,
    to_json(coalesce(list(w.view_name || '.' || w.column_name ORDER BY w.view_name) FILTER (w.field IS NOT NULL), []))::VARCHAR AS columns
  FROM crm.custom_fields AS f
  LEFT JOIN crm.locations AS l ON l.id = f.location_id
  LEFT JOIN meta.wide_columns AS w ON w.location_id = f.location_id AND w.field = f.id
  WHERE f._deleted_at IS NULL AND f.document_type IS DISTINCT FROM 'folder'
  GROUP BY f.location_id, f.id, f.name, f.field_key, f.data_type, l.name
  ORDER BY location, f.field_key`

type Manifest = Awaited<ReturnType<typeof readManifest>>

/** Of tables, and of models by their files. */
const rowsOf = ({ files, tables = [] }: Manifest): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  const [format] = files.find(({ table }) => table.startsWith("bi."))?.path.split("/") ?? []
  for (const { path, rows, table } of files)
    if (table.startsWith("bi.") && path.startsWith(`${format}/`)) counts.set(table, (counts.get(table) ?? 0) + rows)
  for (const { rows, schema, table } of tables) if (schema === "crm") counts.set(table, rows)
  return counts
}

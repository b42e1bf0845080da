/** What the dictionary of an account says beside the definitions: rows, ages and custom fields, from the output folder. */
import { Effect } from "effect"
import { readManifest } from "../../output/manifest.ts"
import { outputPaths } from "../../output/paths.ts"
import { openReadable } from "../../command/readable.ts"
import type { Flags } from "../../settings/read.ts"
import { outputSettings } from "../../settings/settings.ts"
import type { AccountFacts } from "../../stages/publish/contracts/dictionary-page.ts"
import { query } from "../../stores/warehouse/query.ts"
import { selected } from "../../stores/warehouse/sql.ts"
import { Environment } from "../../values/environment.ts"

/** `undefined` without a warehouse or a release that can be read: the definitions need neither. */
export const accountFacts = Effect.fnUntraced(
  function* (flags: Flags) {
    const output = yield* outputSettings(flags, yield* Environment)
    const readable = yield* openReadable(output)
    if (readable.source === "none") return undefined
    const released = yield* Effect.tryPromise(() => readManifest(outputPaths(output.folder).published))
    return yield* Effect.gen(function* () {
      const ages = yield* query(
        { resource: String, at: String },
        "SELECT resource, strftime(min(complete_at) AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M') AS at FROM meta.watermarks WHERE complete_at IS NOT NULL GROUP BY ALL"
      )
      const columns = { name: text, key: text, kind: text, location: text, columns: selected<ReadonlyArray<string>> }
      return {
        releasedAt: released.writtenAt,
        rows: rowsOf(released),
        completeAt: new Map(ages.map(({ at, resource }) => [resource, at])),
        customFields: yield* query(columns, customFieldsSql)
      } satisfies AccountFacts
    }).pipe(Effect.provide(readable.tables))
  },
  Effect.scoped,
  Effect.orElseSucceed(() => undefined)
)

const text = (cell: unknown) => String(cell ?? "")

const customFieldsSql = `SELECT f.name, f.field_key AS key, f.data_type AS kind, coalesce(l.name, f.location_id) AS location,
    to_json(coalesce(list(w.view_name || '.' || w.column_name ORDER BY w.view_name) FILTER (w.field IS NOT NULL), []))::VARCHAR AS columns
  FROM crm.custom_fields AS f
  LEFT JOIN crm.locations AS l ON l.id = f.location_id
  LEFT JOIN meta.wide_columns AS w ON w.location_id = f.location_id AND w.field = f.id
  WHERE f._deleted_at IS NULL AND f.document_type IS DISTINCT FROM 'folder'
  GROUP BY f.location_id, f.id, f.name, f.field_key, f.data_type, l.name
  ORDER BY location, f.field_key`

/** Of tables, and of models by their files. */
const rowsOf = ({ files, tables = [] }: Awaited<ReturnType<typeof readManifest>>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  const [format] = files.find(({ table }) => table.startsWith("bi."))?.path.split("/") ?? []
  for (const { path, rows, table } of files)
    if (table.startsWith("bi.") && path.startsWith(`${format}/`)) counts.set(table, (counts.get(table) ?? 0) + rows)
  for (const { rows, schema, table } of tables) if (schema === "crm") counts.set(table, rows)
  return counts
}

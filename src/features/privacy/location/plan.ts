/** What an output folder holds of a location: the plan of its removal. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import type { Hold } from "../erasure/hold.ts"
import type { Failure } from "../../../values/failure.ts"
import { onDisk } from "../../../output/files.ts"
import { namesIn } from "../../../output/folder.ts"
import { isOfRelease, outputPaths, releasesOf } from "../../../output/paths.ts"
import type { OutputSettings } from "../../../settings/settings.ts"
import { locationsInVault } from "../../../stores/vault/locations.ts"
import { rowsByLocation, tablesWithLocations } from "../../../stores/warehouse/locations.ts"
import { isAny, query } from "../../../stores/warehouse/query.ts"
import { literal } from "../../../stores/warehouse/sql.ts"
import { filesOfLocation } from "../../../stores/warehouse/stored-files.ts"
import type { Resource } from "../../../catalog/resource.ts"

export const RemovalPlan = Schema.Struct({
  location: Schema.String,
  /** By table of the warehouse, with its schema. */
  rows: Schema.Record(Schema.String, Schema.Number),
  vault: Schema.Struct({ entries: Schema.Number, bytes: Schema.Number }),
  /** Files of its records, relative to the output folder. */
  files: Schema.Array(Schema.String)
})
export type RemovalPlan = typeof RemovalPlan.Type

export const planRemoval = Effect.fn("location.plan")(function* (
  location: string,
  output: Pick<OutputSettings, "folder">,
  resources: ReadonlyArray<Resource>
) {
  const found = (yield* rowsByLocation()).filter((one) => one.location === location)
  const vault = (yield* locationsInVault(outputPaths(output.folder).vault)).get(location)
  return {
    location,
    rows: Object.fromEntries(found.map(({ rows, table }) => [table.replaceAll('"', ""), rows])),
    vault: vault ?? { entries: 0, bytes: 0 },
    files: yield* filesOfLocation(resources, location)
  }
})

/** The folders of published files that hold the rows of the location: current and earlier releases. */
export const releasesIn = (published: string): Effect.Effect<ReadonlyArray<string>, Failure> => {
  const releases = releasesOf(published)
  return onDisk(releases, "read", async () => {
    const names = await namesIn(releases)
    return names.filter(isOfRelease).map((name) => join(releases, name))
  })
}

/** The holds that cover something of the location. */
export const holdsOnLocation = Effect.fnUntraced(function* (location: string, holds: ReadonlyArray<Hold>) {
  const tables = (yield* rowsByLocation()).filter((one) => one.location === location)
  const names = new Set(tables.map(({ table }) => table.replaceAll('"', "").replace(/^.*\./, "")))
  const held: Array<Hold> = []
  for (const hold of holds) {
    if (hold.tables.some((table) => table === "*" || names.has(table))) held.push(hold)
    else if (hold.contacts.length > 0) {
      const contacts = (yield* contactsSql(location)).join(" UNION ALL ")
      if (yield* isAny(`(${contacts}) WHERE contact IN (${hold.contacts.map(literal).join(", ")})`)) held.push(hold)
    }
  }
  return held
})

/** Every id of a contact in the rows of the location. */
const contactsSql = Effect.fnUntraced(function* (location: string) {
  const columns = yield* query(
    { path: String, name: String },
    `SELECT DISTINCT schema_name || '."' || table_name || '"' AS path, column_name AS name FROM duckdb_columns()
      WHERE database_name = current_database() AND schema_name IN ('crm', 'crm_history')
        AND (column_name = 'contact_id' OR (column_name = 'id' AND table_name = 'contacts'))`
  )
  const tables = new Set(yield* tablesWithLocations)
  return [
    "SELECT NULL::VARCHAR AS contact WHERE false",
    ...columns
      .map(({ name: column, path }) => ({ column, table: path.replace(/^(\w+)\./, '"$1".') }))
      .filter(({ table }) => tables.has(table))
      .map(({ column, table }) => `SELECT ${column}::VARCHAR FROM ${table} WHERE location_id = ${literal(location)}`)
  ]
})

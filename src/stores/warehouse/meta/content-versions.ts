/**
 * `meta.content_versions` and `meta.changed_keys`: what changed since the last release. A resource gets a new version, a
 * random id, in each transaction that changes rows of its tables. So equal versions mean equal content, also after a
 * rebuild, or when an older copy of the file was restored.
 */
import * as Effect from "effect/Effect"
import { TotalMap } from "../../../catalog/present.ts"
import { query, queryTexts } from "../query.ts"
import { Limits } from "../../../values/limits.ts"
import { type RowOf } from "../../../values/rows.ts"
import { insertStatements, literal, stringOf } from "../sql.ts"
import { Warehouse } from "../warehouse.ts"
import type { WideView } from "../wide-view.ts"
import type { PublishedTable } from "../../../catalog/published-tables.ts"
import { textOfKey } from "../../../catalog/tables.ts"

export type ContentVersion = RowOf<typeof versionColumns>
const versionColumns = {
  resource: String,
  version: String,
  /** The version in the last release, after which every changed key is in `meta.changed_keys`; absent before. */
  base: stringOf
}

/** All resources get a new version: their tables have changed, or are new. */
export const renewVersions = (resources: ReadonlyArray<string>): ReadonlyArray<string> => [
  "DELETE FROM meta.content_versions",
  "DELETE FROM meta.changed_keys",
  ...insertStatements(
    "meta.content_versions (resource, version)",
    resources.map((resource) => `(${literal(resource)}, uuid())`)
  )
]

/** Statements for a transaction that changes tables of these resources. */
export const changeVersions = (resources: Iterable<string>): ReadonlyArray<string> => {
  const changed = [...resources]
  return changed.length === 0
    ? []
    : [`UPDATE meta.content_versions SET version = uuid() WHERE resource IN (${changed.map(literal).join(", ")})`]
}

/**
 * To run with a change of a resource that a release has; before the first release, the keys would be those of all rows.
 * `keys`: a relation with the `location_id` and `key` of each changed row or parent.
 */
export const recordChangedKeys = (resource: string, keys: string): string =>
  `INSERT INTO meta.changed_keys SELECT ${literal(resource)}, location_id, key FROM ${keys}`

/** Resources that a release has. */
export const releasedResources = () =>
  Effect.map(
    queryTexts("SELECT resource FROM meta.content_versions WHERE base IS NOT NULL"),
    (resources) => new Set(resources)
  )

/** The next release writes the tables of the resource anew, and reads no list of changed keys. */
export const renewVersion = (resource: string): ReadonlyArray<string> => [
  `UPDATE meta.content_versions SET version = uuid(), base = NULL WHERE resource = ${literal(resource)}`,
  `DELETE FROM meta.changed_keys WHERE resource = ${literal(resource)}`
]

/** Versions by resource. */
export const contentVersions = Effect.fnUntraced(function* () {
  const rows = yield* query(versionColumns, "SELECT resource, version, base FROM meta.content_versions")
  return new TotalMap(rows.map((row) => [row.resource, row]))
})

/** Call after a release with the present versions was published. */
export const recordRelease = Effect.fnUntraced(function* () {
  yield* (yield* Warehouse).transaction((tx) =>
    Effect.gen(function* () {
      if (yield* tx.isAny("(FROM meta.content_versions WHERE base IS DISTINCT FROM version)"))
        tx.run("UPDATE meta.content_versions SET base = version", "DELETE FROM meta.changed_keys")
    })
  )
})

/** Bounds the list of changed keys if nothing is published: the next release then writes every table anew. */
export const boundChangedKeys = Effect.fnUntraced(function* () {
  const { keptChangedKeys } = (yield* Limits).warehouse
  yield* (yield* Warehouse).transaction((tx) =>
    Effect.gen(function* () {
      const { value } = keptChangedKeys
      if (
        (yield* tx.isAny(`(SELECT 1 FROM meta.changed_keys HAVING count(*) > ${value})`)) &&
        keptChangedKeys.crossed()
      )
        tx.run("UPDATE meta.content_versions SET base = NULL", "DELETE FROM meta.changed_keys")
    })
  )
})

/** SQL for the keys of a resource that have changed since the last release. */
export const changedKeysSql = (resource: string): string =>
  `(SELECT key FROM meta.changed_keys WHERE resource = ${literal(resource)})`

/** The version of a wide view is a hash of its definition. */
export const storeViewVersions = (
  views: ReadonlyArray<Pick<WideView, "view" | "definition">>
): ReadonlyArray<string> => {
  if (views.length === 0) return []
  const rows = views.map(({ view, definition }) => `(${literal(view)}, ${literal(definition)})`)
  return [
    `DELETE FROM meta.content_versions WHERE resource IN (${views.map(({ view }) => literal(view)).join(", ")})`,
    `INSERT INTO meta.content_versions (resource, version) VALUES ${rows.join(", ")}`
  ]
}

/** Views that there are no more. */
export const forgetViews = (views: ReadonlyArray<string>): ReadonlyArray<string> => {
  const among = `IN (${views.map(literal).join(", ")})`
  return views.length === 0
    ? []
    : [
        `DELETE FROM meta.content_versions WHERE resource ${among}`,
        `DELETE FROM meta.columns WHERE table_name ${among}`
      ]
}

/**
 * WHERE clause: rows of records that have changed, and of records of other locations with the same key. They may be few, and
 * comparing the location too would cost more than replacing them.
 */
export const isChanged = ({ resource, recordKey }: PublishedTable): string =>
  `${textOfKey(recordKey)} IN (FROM ${changedKeysSql(resource)})`

/**
 * The rows of changed records of a table in a DuckDB file, as a relation. Of all other rows, DuckDB reads only the columns
 * of the key: changed rows are stored at the end of a table, and it skips the row groups before the first of them.
 */
export const changedRows = (path: string, table: PublishedTable): string =>
  `(FROM ${path} WHERE rowid IN (SELECT rowid FROM ${path} WHERE ${isChanged(table)}))`

/** The keys of the changed records. */
export const changedKeys = (resource: string) =>
  Effect.map(queryTexts(`SELECT DISTINCT key FROM ${changedKeysSql(resource)}`), (keys) => new Set(keys))

/** The rows of records that have changed since the current release; `meta.changed_keys` lists the keys of these records. */
import { Effect } from "effect"
import type { PublishedTable } from "../../catalog/published-tables.ts"
import { textOfKey } from "../../catalog/tables.ts"
import { changedKeysSql } from "./meta/content-versions.ts"
import { queryTexts } from "./query.ts"

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

/**
 * Macros and views that query the versions of rows:
 *
 *     FROM contacts_as_of(TIMESTAMPTZ '2026-03-01 00:00:00+00')       the rows of any table as of a time
 *     FROM contacts_changes WHERE run_id = '20260301T020000000Z'      what a run did: new, changed, deleted, revived rows
 */
import type { Resource } from "../../catalog/resource.ts"
import { type Table, keyOf, tablesOf } from "../../catalog/tables.ts"
import { isKnownMoment } from "./meta/history-limit.ts"
import { literal, name, names } from "./sql.ts"

/** Creates them for one resource, in the schema `current` of its current rows; `history` has their earlier versions. */
export const versionStatements = (
  resource: Resource,
  { current, history }: { readonly current: string; readonly history: string }
): ReadonlyArray<string> => {
  const tables = tablesOf(resource)
  return [
    ...tables.map((table) => asOf(resource, table, current, history)),
    changes(resource, current, history),
    `COMMENT ON VIEW ${current}.${name(changesName(resource))} IS ${literal(`What each run brought to ${resource.table}`)}`
  ]
}

export const changesName = ({ table }: Resource): string => `${table}_changes`

/** A child row exists as long as the version of its parent with which it was loaded, unless that version is deleted. */
const asOf = (resource: Resource, table: Table, current: string, history: string): string => {
  const columns = names(table.columns.map((column) => column.name))
  const currentTable = `${current}.${name(table.name)}`
  const isLoadedAndLive = "_synced_at <= moment AND _deleted_at IS NULL"
  const isLive = table.parentColumn
    ? `(location_id, ${name(table.parentColumn)}) IN (SELECT (location_id, id) FROM ${current}.${name(resource.table)} WHERE ${isLoadedAndLive})`
    : isLoadedAndLive
  const isValid = "_valid_from <= moment AND _valid_to > moment"
  const wasLive = table.parentColumn
    ? `(location_id, ${name(table.parentColumn)}) NOT IN (SELECT (location_id, id) FROM ${history}.${name(resource.table)} WHERE ${isValid} AND _deleted_at IS NOT NULL)`
    : "_deleted_at IS NULL"
  return `CREATE OR REPLACE MACRO ${current}.${name(`${table.name}_as_of`)}(moment) AS TABLE
    SELECT ${columns} FROM ${currentTable} WHERE ${isKnownMoment("moment")} AND ${isLive}
    UNION ALL SELECT ${columns} FROM ${history}.${name(table.name)}
    WHERE ${isKnownMoment("moment")} AND ${isValid} AND ${wasLive}`
}

const changes = (resource: Resource, current: string, history: string): string => {
  const key = names(keyOf(resource))
  const columns = `location_id, ${key}, _run_id, _synced_at, _deleted_at`
  const byVersion = `OVER (PARTITION BY location_id, ${key} ORDER BY _synced_at)`
  return `CREATE OR REPLACE VIEW ${current}.${name(changesName(resource))} AS
    SELECT location_id, ${key}, _run_id AS run_id, _synced_at AS changed_at,
      CASE WHEN row_number() ${byVersion} = 1 THEN 'new' WHEN (_deleted_at IS NULL) = (lag(_deleted_at) ${byVersion} IS NULL) THEN 'changed'
        WHEN _deleted_at IS NULL THEN 'revived' ELSE 'deleted' END AS change
    FROM (SELECT ${columns} FROM ${current}.${name(resource.table)} UNION ALL SELECT ${columns} FROM ${history}.${name(resource.table)})`
}

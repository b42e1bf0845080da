/**
 * Questions about time, for every table:
 *
 *     FROM contacts_as_of(TIMESTAMPTZ '2026-03-01 00:00:00+00')       rows as they stood at a moment
 *     FROM contacts_changes WHERE run_id = '20260301T020000000Z'      what a run brought: new, changed, deleted, revived
 */
import type { Resource } from "../catalog/resource.ts"
import { type Table, keyOf, tablesOf } from "../catalog/tables.ts"
import { literal, name, names } from "./sql.ts"

/** Makes them for one resource, in the schema that holds its current rows; `history` is the one with its versions. */
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

/** A child row is there as long as the version of its parent that it came with, and that one is not deleted. */
const asOf = (resource: Resource, table: Table, current: string, history: string): string => {
  const columns = names(table.columns.map((column) => column.name))
  const here = `${current}.${name(table.name)}`
  const stands = "_synced_at <= moment AND _deleted_at IS NULL"
  const alive = table.parentColumn
    ? `(location_id, ${name(table.parentColumn)}) IN (SELECT (location_id, id) FROM ${current}.${name(resource.table)} WHERE ${stands})`
    : stands
  const then = "_valid_from <= moment AND _valid_to > moment"
  const was = table.parentColumn
    ? `(location_id, ${name(table.parentColumn)}) NOT IN (SELECT (location_id, id) FROM ${history}.${name(resource.table)} WHERE ${then} AND _deleted_at IS NOT NULL)`
    : "_deleted_at IS NULL"
  return `CREATE OR REPLACE MACRO ${current}.${name(`${table.name}_as_of`)}(moment) AS TABLE
    SELECT ${columns} FROM ${here} WHERE ${alive}
    UNION ALL SELECT ${columns} FROM ${history}.${name(table.name)}
    WHERE ${then} AND ${was}`
}

const changes = (resource: Resource, current: string, history: string): string => {
  const key = names(keyOf(resource))
  const shown = `location_id, ${key}, _run_id, _synced_at, _deleted_at`
  const before = `OVER (PARTITION BY location_id, ${key} ORDER BY _synced_at)`
  return `CREATE OR REPLACE VIEW ${current}.${name(changesName(resource))} AS
    SELECT location_id, ${key}, _run_id AS run_id, _synced_at AS changed_at,
      CASE WHEN row_number() ${before} = 1 THEN 'new' WHEN (_deleted_at IS NULL) = (lag(_deleted_at) ${before} IS NULL) THEN 'changed'
        WHEN _deleted_at IS NULL THEN 'revived' ELSE 'deleted' END AS change
    FROM (SELECT ${shown} FROM ${current}.${name(resource.table)} UNION ALL SELECT ${shown} FROM ${history}.${name(resource.table)})`
}

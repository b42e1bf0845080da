/** Generates DDL from the definitions: tables for current rows, their history and the state, and the data dictionary. */
import { Effect } from "effect"
import { hash } from "node:crypto"
import type { Catalogue } from "../../catalog/discover.ts"
import { type Column, type Table, keyOf, tablesOf } from "../../catalog/tables.ts"
import { dictionaryStatements } from "./meta/columns.ts"
import { renewVersions } from "./meta/content-versions.ts"
import { storeFingerprint, storedFingerprint } from "./meta/schema-version.ts"
import { metaCommentStatements, metaTableStatements } from "./meta/tables.ts"
import { query } from "./query.ts"
import { literal, name, names } from "./sql.ts"
import { newStorage } from "./database.ts"
import { some } from "../../values/text.ts"
import { Warehouse } from "./warehouse.ts"
import { cacheFolder, cachedFile } from "../../output/cache.ts"
import type { Resource } from "../../catalog/resource.ts"
import { isKnownMoment } from "./meta/history-limit.ts"

const historyColumns = [
  { name: "_valid_from", sql: "TIMESTAMPTZ", description: "When this version was loaded" },
  { name: "_valid_to", sql: "TIMESTAMPTZ", description: "When a later version took its place" }
]

type DefinedColumn = Pick<Column, "name" | "sql" | "description">

const allTables = ({ resources }: Catalogue) => resources.flatMap((resource) => tablesOf(resource))

/** Creates missing schemas and tables, and adapts existing tables to the definitions. */
const migration = (catalogue: Catalogue, existing: Existing): ReadonlyArray<string> => {
  const tables = allTables(catalogue)
  return [
    ...["crm", "crm_history", "meta"].map((schema) => `CREATE SCHEMA IF NOT EXISTS ${schema}`),
    ...metaTableStatements,
    ...tables.flatMap(({ name: table, columns }) => [
      ...define("crm", table, columns, existing),
      ...define("crm_history", table, [...columns, ...historyColumns], existing)
    ]),
    ...catalogue.resources.flatMap((resource) =>
      versionStatements(resource, { current: "crm", history: "crm_history" })
    ),
    ...dictionaryStatements(tables),
    ...renewVersions(catalogue.resources.map(({ table }) => table))
  ]
}

/** The types of the existing columns, by `schema.table.column`. */
type Existing = ReadonlyMap<string, string>
const existingColumns = `SELECT table_schema || '.' || table_name || '.' || column_name AS path,
  replace(data_type, 'TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ') AS type
  FROM information_schema.columns WHERE table_schema IN ('crm', 'crm_history')`

/** Whether the macros and views of versions must be recreated: a table changed, or they do not exist. */
const define = (schema: string, table: string, columns: ReadonlyArray<DefinedColumn>, existing: Existing) => {
  const path = `${schema}.${name(table)}`
  const typeOf = (column: DefinedColumn) => existing.get(`${schema}.${table}.${column.name}`)
  const missing = columns.filter((column) => typeOf(column) === undefined)
  if (missing.length === columns.length)
    return [`CREATE TABLE ${path} (${columns.map((column) => `${name(column.name)} ${column.sql}`).join(", ")})`]
  return [
    ...missing.map((column) => `ALTER TABLE ${path} ADD COLUMN ${name(column.name)} ${column.sql}`),
    // A definition may only change a type to one that accepts every value of the old type.
    ...columns
      .filter((column) => ![undefined, column.sql].includes(typeOf(column)))
      .map((column) => `ALTER TABLE ${path} ALTER COLUMN ${name(column.name)} SET DATA TYPE ${column.sql}`)
  ]
}

/**
 * Adds the descriptions of the definitions as comments to the published file. The warehouse has them only as rows of
 * `meta.columns`: in a new file, 4,000 comments would take longer than everything else.
 */
export const commentStatements = (
  catalogue: Catalogue,
  { current, history }: { readonly current: string; readonly history: string }
): ReadonlyArray<string> => [
  ...metaCommentStatements,
  ...allTables(catalogue).flatMap((table) => [
    ...describe(`${current}.${name(table.name)}`, table.description, table.columns),
    ...describe(`${history}.${name(table.name)}`, `Earlier versions of the rows of crm.${table.name}`, [
      ...table.columns,
      ...historyColumns
    ])
  ])
]

const describe = (path: string, description: string, columns: ReadonlyArray<DefinedColumn>): ReadonlyArray<string> => [
  `COMMENT ON TABLE ${path} IS ${literal(description)}`,
  ...columns.map((column) => `COMMENT ON COLUMN ${path}.${name(column.name)} IS ${literal(column.description)}`)
]

/**
 * Changes with everything in the definitions that affects the warehouse: the statements for a new file contain all of it.
 */
export const fingerprintOf = (catalogue: Catalogue): string => {
  const known = fingerprints.get(catalogue)
  if (known !== undefined) return known
  const fingerprint = hash("sha256", JSON.stringify(migration(catalogue, new Map())))
  fingerprints.set(catalogue, fingerprint)
  return fingerprint
}

const fingerprints = new WeakMap<Catalogue, string>()

/** Migrates the warehouse to the definitions. If they have not changed, this takes two short queries. */
export const prepare = Effect.fn("warehouse.prepare")(function* (catalogue: Catalogue) {
  const fingerprint = fingerprintOf(catalogue)
  if ((yield* storedFingerprint()) === fingerprint) return
  const existing = yield* query({ path: String, type: String }, existingColumns)
  const types = new Map(existing.map(({ path, type }) => [path, type]))
  yield* (yield* Warehouse).transaction([...migration(catalogue, types), ...storeFingerprint(fingerprint)])
  const widened = allTables(catalogue).flatMap(({ columns, name: table }) => {
    const had = columns.map((column) => types.has(`crm.${table}.${column.name}`))
    return had.includes(true) && had.includes(false) ? [table] : []
  })
  if (widened.length > 0)
    yield* Effect.logWarning(
      `New columns of ${some(widened)} are empty in rows that were read before: ./sluice rebuild fills them, without a request.`
    )
})

/**
 * The path of an empty warehouse for these definitions, from which new ones are copied: to create all tables costs a fifth of a
 * second, more than most small accounts cost otherwise. It is made when it is first needed, and kept in the user's cache
 * folder; `undefined` if it cannot be stored.
 */
export const emptyWarehouse = Effect.fn("warehouse.empty")((catalogue: Catalogue, cache = cacheFolder()) =>
  cachedFile(
    { kind: "empty", fingerprint: hash("sha256", `${fingerprintOf(catalogue)} ${newStorage}`) },
    (path) => prepare(catalogue).pipe(Effect.provide(Warehouse.layer(path, { access: "write", memoryMb: 128 }))),
    cache
  )
)

/**
 * Macros and views that query the versions of rows:
 *
 *     FROM contacts_as_of(TIMESTAMPTZ '2026-03-01 00:00:00+00')       the rows of any table as of a time
 *     FROM contacts_changes WHERE run_id = '20260301T020000000Z'      what a run did: new, changed, deleted, revived rows
 *
 * The statements create them for one resource, in the schema `current` of its current rows; `history` has their earlier
 * versions.
 */
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

const changesName = ({ table }: Resource): string => `${table}_changes`

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
  const byVersion = `OVER (PARTITION BY location_id, ${key} ORDER BY _run_id, _synced_at)`
  return `CREATE OR REPLACE VIEW ${current}.${name(changesName(resource))} AS
    SELECT location_id, ${key}, _run_id AS run_id, _synced_at AS changed_at,
      CASE WHEN row_number() ${byVersion} = 1 THEN 'new' WHEN (_deleted_at IS NULL) = (lag(_deleted_at) ${byVersion} IS NULL) THEN 'changed'
        WHEN _deleted_at IS NULL THEN 'revived' ELSE 'deleted' END AS change
    FROM (SELECT ${columns} FROM ${current}.${name(resource.table)} UNION ALL SELECT ${columns} FROM ${history}.${name(resource.table)})`
}

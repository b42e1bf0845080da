/** Generates DDL from the definitions: tables for current rows, their history and the state, and the data dictionary. */
import { Effect } from "effect"
import { hash } from "node:crypto"
import type { Catalogue } from "../../catalog/discover.ts"
import { type Column, tablesOf } from "../../catalog/tables.ts"
import { dictionaryStatements } from "./meta/columns.ts"
import { renewVersions } from "./meta/content-versions.ts"
import { storeFingerprint, storedFingerprint } from "./meta/schema-version.ts"
import { metaCommentStatements, metaTableStatements } from "./meta/tables.ts"
import { query } from "./query.ts"
import { literal, name } from "./sql.ts"
import { versionStatements } from "./as-of-views.ts"
import { Warehouse } from "./warehouse.ts"

const historyColumns = [
  { name: "_valid_from", sql: "TIMESTAMPTZ", description: "When this version was loaded" },
  { name: "_valid_to", sql: "TIMESTAMPTZ", description: "When a later version took its place" }
]

type DefinedColumn = Pick<Column, "name" | "sql" | "description">

const allTables = ({ resources }: Catalogue) => resources.flatMap((resource) => tablesOf(resource))

/** Creates missing schemas and tables, and adapts existing tables to the definitions. */
const tableStatements = (catalogue: Catalogue, existing: Existing): ReadonlyArray<string> => [
  ...["crm", "crm_history", "meta"].map((schema) => `CREATE SCHEMA IF NOT EXISTS ${schema}`),
  ...metaTableStatements,
  ...allTables(catalogue).flatMap(({ name: table, columns }) => [
    ...define("crm", table, columns, existing),
    ...define("crm_history", table, [...columns, ...historyColumns], existing)
  ])
]

const migration = (catalogue: Catalogue, existing: Existing): ReadonlyArray<string> => {
  const tables = allTables(catalogue)
  return [
    ...tableStatements(catalogue, existing),
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
const define = (
  schema: string,
  table: string,
  columns: ReadonlyArray<DefinedColumn>,
  existing: Existing
): ReadonlyArray<string> => {
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

/** Creates the tables in a new temporary file, without views, macros and the dictionary. */
export const createTables = Effect.fnUntraced(function* (catalogue: Catalogue) {
  yield* (yield* Warehouse).transaction(tableStatements(catalogue, new Map()))
})

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
  const warehouse = yield* Warehouse
  const fingerprint = fingerprintOf(catalogue)
  if ((yield* storedFingerprint()) === fingerprint) return
  const existing = yield* query({ path: String, type: String }, existingColumns)
  const types = new Map(existing.map(({ path, type }) => [path, type]))
  yield* warehouse.transaction([...migration(catalogue, types), ...storeFingerprint(fingerprint)])
})

/** DDL made from the definitions: the current rows, their history, the state, and the sentences as comments. */
import { Effect } from "effect"
import { hash } from "node:crypto"
import type { Catalogue } from "../catalog/discover.ts"
import type { Resource } from "../catalog/resource.ts"
import { type Column, type Table, tablesOf } from "../catalog/tables.ts"
import { dictionaryStatements } from "./meta/columns.ts"
import { storeFingerprint, storedFingerprint } from "./meta/schema-version.ts"
import { metaTableStatements } from "./meta/tables.ts"
import { literal, name } from "./sql.ts"
import { changesName, versionStatements } from "./as-of-views.ts"
import { Warehouse } from "./warehouse.ts"

const historyColumns = [
  ["_valid_from", "TIMESTAMPTZ", "When this version was loaded"],
  ["_valid_to", "TIMESTAMPTZ", "When a later version took its place"]
] as const

/** What has to run so that the warehouse fits the definitions. */
const migration = (catalogue: Catalogue, existing: Existing): ReadonlyArray<string> => {
  const tables = catalogue.resources.flatMap((resource) => tablesOf(resource))
  return [
    ...["crm", "crm_history", "meta"].map((schema) => `CREATE SCHEMA IF NOT EXISTS ${schema}`),
    ...metaTableStatements,
    ...tables.flatMap((table) => tableStatements(table, existing)),
    ...catalogue.resources
      .filter((resource) => isOutdated(resource, existing))
      .flatMap((resource) => versionStatements(resource, { current: "crm", history: "crm_history" })),
    ...dictionaryStatements(tables)
  ]
}

/** The type of everything there is, by `schema.table.column`. */
type Existing = ReadonlyMap<string, string>
const existingColumns = `SELECT table_schema || '.' || table_name || '.' || column_name AS path,
  replace(data_type, 'TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ') AS type
  FROM information_schema.columns WHERE table_schema IN ('crm', 'crm_history')`

const tableStatements = (table: Table, existing: Existing): ReadonlyArray<string> => [
  ...define("crm", table.name, table.description, table.columns.map(described), existing),
  ...define(
    "crm_history",
    table.name,
    `Earlier versions of the rows of crm.${table.name}`,
    [...table.columns.map(described), ...historyColumns],
    existing
  )
]

/** Whether a table changed, or the questions about its versions were never made. */
const isOutdated = (resource: Resource, existing: Existing): boolean =>
  !existing.has(`crm.${changesName(resource)}.change`) ||
  tablesOf(resource).some(({ name: table, columns }) =>
    columns.some((column) => existing.get(`crm.${table}.${column.name}`) !== column.sql)
  )

const described = (column: Column) => [column.name, column.sql, column.description] as const

const define = (
  schema: string,
  table: string,
  comment: string,
  columns: ReadonlyArray<readonly [string, string, string]>,
  existing: Existing
): ReadonlyArray<string> => {
  const path = `${schema}.${name(table)}`
  const missing = columns.filter(([column]) => !existing.has(`${schema}.${table}.${column}`))
  const all = missing.length === columns.length
  const retyped = columns.filter(([column, type]) => {
    const before = existing.get(`${schema}.${table}.${column}`)
    return before !== undefined && before !== type
  })
  const changed = [...missing, ...retyped]
  return changed.length === 0
    ? []
    : [
        ...(all
          ? [`CREATE TABLE ${path} (${columns.map(([column, type]) => `${name(column)} ${type}`).join(", ")})`]
          : missing.map(([column, type]) => `ALTER TABLE ${path} ADD COLUMN ${name(column)} ${type}`)),
        // A definition may give a column a type that takes all it took before.
        ...retyped.map(([column, type]) => `ALTER TABLE ${path} ALTER COLUMN ${name(column)} SET DATA TYPE ${type}`),
        `COMMENT ON TABLE ${path} IS ${literal(comment)}`,
        ...changed.map(([column, , sentence]) => `COMMENT ON COLUMN ${path}.${name(column)} IS ${literal(sentence)}`)
      ]
}

/** Brings the warehouse up to date with the definitions. Where it was before with the same ones, this is one query. */
export const prepare = Effect.fn("warehouse.prepare")(function* (catalogue: Catalogue) {
  const warehouse = yield* Warehouse
  // All that the definitions give a new file: whatever of them changes, changes this.
  const fingerprint = hash("sha256", JSON.stringify(migration(catalogue, new Map())))
  if ((yield* storedFingerprint()) === fingerprint) return
  const existing = yield* warehouse.rows(existingColumns)
  const types = new Map(existing.map((row) => [String(row["path"]), String(row["type"])]))
  yield* warehouse.transaction([...migration(catalogue, types), ...storeFingerprint(fingerprint)])
})

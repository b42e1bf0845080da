/** DDL made from the definitions: the current rows, their history, the state, and the sentences as comments. */
import { Effect } from "effect"
import type { Catalogue } from "../catalog/discover.ts"
import type { Resource } from "../catalog/resource.ts"
import { type Column, type Table, tablesOf } from "../catalog/tables.ts"
import { literal, name } from "./sql.ts"
import { changesName, versionStatements } from "./versions.ts"
import { Warehouse } from "./warehouse.ts"

const metaTables: Readonly<Record<string, { readonly comment: string; readonly columns: string }>> = {
  runs: {
    comment: "One row per run of a command that writes",
    columns: `run_id VARCHAR PRIMARY KEY, command VARCHAR, started_at TIMESTAMPTZ, finished_at TIMESTAMPTZ,
      outcome VARCHAR, exit_code INTEGER, requests BIGINT, planned_requests BIGINT`
  },
  run_resources: {
    comment: "What each run did for each resource of each location",
    columns: `run_id VARCHAR, location_id VARCHAR, resource VARCHAR, mode VARCHAR, since TIMESTAMPTZ, requests BIGINT DEFAULT 0,
      pages BIGINT DEFAULT 0, records BIGINT DEFAULT 0, new_rows BIGINT DEFAULT 0, changed_rows BIGINT DEFAULT 0,
      deleted_rows BIGINT DEFAULT 0, rejected_values BIGINT DEFAULT 0, rejected_records BIGINT DEFAULT 0,
      lost_records BIGINT DEFAULT 0, frozen_out VARCHAR[], verdict VARCHAR, doubts VARCHAR[], planned_requests BIGINT, finished_at TIMESTAMPTZ,
      PRIMARY KEY (run_id, location_id, resource)`
  },
  watermarks: {
    comment: "How far each resource was read completely",
    columns: `location_id VARCHAR, resource VARCHAR, watermark TIMESTAMPTZ, complete_at TIMESTAMPTZ,
      full_complete_at TIMESTAMPTZ, total BIGINT, requests BIGINT, way JSON, PRIMARY KEY (location_id, resource)`
  },
  passes: {
    comment: "Readings that have begun and not ended: where to go on",
    columns: `location_id VARCHAR, resource VARCHAR, pass VARCHAR, progress JSON, PRIMARY KEY (location_id, resource, pass)`
  },
  fanout: {
    comment:
      "What was asked for row by row: for which state of the row, what came, and where a reading of many pages stands",
    columns: `location_id VARCHAR, resource VARCHAR, parent_id VARCHAR, parent_state VARCHAR, content_hash VARCHAR,
      fetched_at TIMESTAMPTZ, full_at TIMESTAMPTZ, progress JSON`
  },
  seen: {
    comment: "Keys met so far by readings that have begun and not ended",
    columns: `location_id VARCHAR, resource VARCHAR, key VARCHAR`
  },
  backfilled: {
    comment: "Windows of the past that were read by a backfill: from, up to, not including",
    columns: `location_id VARCHAR, resource VARCHAR, from_at TIMESTAMPTZ, to_at TIMESTAMPTZ, run_id VARCHAR`
  },
  rejected_values: {
    comment:
      "Values that did not fit their column, as sent; the column holds NULL, or what the reason says. The key of a child row is that of its record, then its table and its own key or position: inv1/invoice_items/3",
    columns: `run_id VARCHAR, location_id VARCHAR, table_name VARCHAR, key VARCHAR, column_name VARCHAR, value VARCHAR,
      reason VARCHAR, rejected_at TIMESTAMPTZ`
  },
  rejected_records: {
    comment: "Records that could not become a row, as sent",
    columns: `run_id VARCHAR, location_id VARCHAR, table_name VARCHAR, record VARCHAR, reason VARCHAR, rejected_at TIMESTAMPTZ`
  },
  schema_changes: {
    comment: "What the service sends otherwise than defined: new fields, values of another type, words not met before",
    columns: `location_id VARCHAR, table_name VARCHAR, field VARCHAR, kind VARCHAR, sample VARCHAR, first_run_id VARCHAR,
      first_seen_at TIMESTAMPTZ, seen BIGINT, PRIMARY KEY (location_id, table_name, field, kind)`
  },
  known_words: {
    comment: "Words met in columns that hold one of a set which the API's documents do not name",
    columns: `location_id VARCHAR, table_name VARCHAR, column_name VARCHAR, word VARCHAR, first_run_id VARCHAR`
  },
  unknown_words: {
    comment: "Words that the API's documents do not name for their column, met since a run told them last",
    columns: `location_id VARCHAR, table_name VARCHAR, column_name VARCHAR, word VARCHAR`
  },
  wide_columns: {
    comment: "The column that each custom field got in a wide view, for good",
    columns: `view_name VARCHAR, location_id VARCHAR, field VARCHAR, column_name VARCHAR`
  },
  coverage: {
    comment: "What the last run made of every read operation of the API",
    columns: `run_id VARCHAR, location_id VARCHAR, operation VARCHAR, purpose VARCHAR, tables VARCHAR[], status VARCHAR, reason VARCHAR`
  },
  columns: {
    comment: "The data dictionary: every column with its meaning",
    columns: `table_name VARCHAR, column_name VARCHAR, type VARCHAR, description VARCHAR, personal_data VARCHAR, refers_to VARCHAR`
  },
  position: {
    comment: "How far the vault is loaded",
    columns: `segment BIGINT, byte_offset BIGINT`
  }
}

const historyColumns = [
  ["_valid_from", "TIMESTAMPTZ", "When this version was loaded"],
  ["_valid_to", "TIMESTAMPTZ", "When a later version took its place"]
] as const

/** What has to run so that the warehouse fits the definitions; nothing where it does already. */
const migration = (catalogue: Catalogue, existing: Existing): ReadonlyArray<string> => {
  const tables = catalogue.resources.flatMap((resource) => tablesOf(resource))
  return [
    ...["crm", "crm_history", "meta"].map((schema) => `CREATE SCHEMA IF NOT EXISTS ${schema}`),
    ...Object.entries(metaTables).flatMap(([table, { comment, columns }]) => [
      `CREATE TABLE IF NOT EXISTS meta.${name(table)} (${columns})`,
      `COMMENT ON TABLE meta.${name(table)} IS ${literal(comment)}`
    ]),
    // Warehouses made before there were policies.
    "ALTER TABLE meta.run_resources ADD COLUMN IF NOT EXISTS frozen_out VARCHAR[]",
    ...tables.flatMap((table) => tableStatements(table, existing)),
    ...catalogue.resources
      .filter((resource) => isOutdated(resource, existing))
      .flatMap((resource) => versionStatements(resource, { current: "crm", history: "crm_history" })),
    "DELETE FROM meta.columns",
    ...tables.map(dictionaryRows)
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

const dictionaryRows = (table: Table): string =>
  `INSERT INTO meta.columns VALUES ${table.columns
    .map(
      (column) =>
        `(${[table.name, column.name, column.sql, column.description, column.personal, column.references].map(literal).join(", ")})`
    )
    .join(", ")}`

/** Brings the warehouse to the definitions; changes nothing where it fits already. */
export const prepare = Effect.fn("warehouse.prepare")(function* (catalogue: Catalogue) {
  const warehouse = yield* Warehouse
  const existing = yield* warehouse.rows(existingColumns)
  yield* warehouse.transaction(
    migration(catalogue, new Map(existing.map((row) => [String(row["path"]), String(row["type"])])))
  )
})

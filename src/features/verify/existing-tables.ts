/** The defined tables that exist in the warehouse, which may be older than the definitions. */
import { Effect } from "effect"
import type { Catalogue } from "../../catalog/discover.ts"
import type { Resource } from "../../catalog/resource.ts"
import { type Column, type Table, tablesOf } from "../../catalog/tables.ts"
import { tableSizes } from "../../stores/warehouse/columns.ts"
import { rowsOfEach } from "../../stores/warehouse/groups.ts"
import { queryRow, queryTexts } from "../../stores/warehouse/query.ts"
import { type RowOf } from "../../values/rows.ts"
import { name } from "../../stores/warehouse/sql.ts"
import type { VerifyFinding } from "../../values/finding.ts"

export interface KnownTable {
  readonly resource: Resource
  readonly table: Table
  /** The table of the resource's records; the others are its child tables. */
  readonly parent: Table
  /** The columns that exist. */
  readonly columns: ReadonlyArray<Column>
  /** Names in SQL. */
  readonly current: string
  readonly history: string
  /** Most tables of most accounts hold nothing, and every query that finds nothing takes time to plan. */
  readonly isEmpty: boolean
  readonly hasVersions: boolean
  /** About how many rows and versions it holds. */
  readonly size: number
}

export interface Known {
  readonly tables: ReadonlyArray<KnownTable>
  /** Defined tables that do not exist, or lack a column of their key. */
  readonly missing: ReadonlyArray<string>
}

export const knownTables = Effect.fn("verify.knownTables")(function* ({ resources }: Catalogue) {
  const columns = yield* queryTexts(
    `SELECT table_schema || '.' || table_name || '.' || column_name AS path FROM information_schema.columns
     WHERE table_catalog = current_database() AND table_schema IN ('crm', 'crm_history')`
  )
  const paths = new Set(columns)
  const sizes = yield* tableSizes("current_database()")
  const sizeOf = (path: string) => sizes.get(path) ?? 0
  const has = (table: Table, column: string) =>
    paths.has(`crm.${table.name}.${column}`) && paths.has(`crm_history.${table.name}.${column}`)
  const all = resources.flatMap((resource) => {
    const tables = tablesOf(resource)
    return tables.map((table): KnownTable => ({
      resource,
      table,
      parent: tables[0],
      columns: table.columns.filter(({ name: column }) => has(table, column)),
      current: `crm.${name(table.name)}`,
      history: `crm_history.${name(table.name)}`,
      isEmpty: sizeOf(`crm.${table.name}`) === 0,
      hasVersions: sizeOf(`crm_history.${table.name}`) > 0,
      size: sizeOf(`crm.${table.name}`) + sizeOf(`crm_history.${table.name}`)
    }))
  })
  const exists = ({ table }: KnownTable) => [...table.key, "_synced_at"].every((column) => has(table, column))
  return {
    tables: all.filter(exists),
    missing: all.filter((known) => !exists(known)).map(({ table }) => table.name)
  }
})

/** Reads the columns `n` and `example` of a query: how many rows have an error, and the key of one of them. */
export const countedRows = { n: Number, example: (key: unknown) => String(key ?? "") }

/** The only row of such a query. */
export const countRows = (sql: string) => queryRow(countedRows, sql)

/** What is found in each of many tables, if such a query of it counts any rows. */
export const findingsOfEach = <One extends { readonly size: number }>(
  tables: ReadonlyArray<One>,
  sqlOf: (one: One) => string,
  findingOf: (one: One, rows: RowOf<typeof countedRows>) => VerifyFinding
) =>
  Effect.map(rowsOfEach(countedRows, tables, sqlOf), (found) =>
    found.flatMap(([one, rows]) => (rows.n > 0 ? [findingOf(one, rows)] : []))
  )

/** SQL for a key as one text, for people. */
export const shownKey = (table: Table, from: string): string =>
  `concat_ws('/', ${table.key
    .filter((column) => column !== "location_id")
    .map((column) => `${from}.${name(column)}`)
    .join(", ")})`

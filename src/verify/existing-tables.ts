/** The tables of the definitions, as far as the warehouse has them: it may be older than the definitions. */
import { Effect } from "effect"
import type { Catalogue } from "../catalog/discover.ts"
import type { Resource } from "../catalog/resource.ts"
import { type Column, type Table, tablesOf } from "../catalog/tables.ts"
import type { Failure } from "../failure.ts"
import { name } from "../warehouse/sql.ts"
import { Warehouse } from "../warehouse/warehouse.ts"

export interface KnownTable {
  readonly resource: Resource
  readonly table: Table
  /** The resource's own table, which the others hang on. */
  readonly parent: Table
  /** Those that are there. */
  readonly columns: ReadonlyArray<Column>
  /** In SQL. */
  readonly current: string
  readonly history: string
}

export interface Known {
  readonly tables: ReadonlyArray<KnownTable>
  /** Tables of the definitions that are not there, or not with their key. */
  readonly missing: ReadonlyArray<string>
}

export const knownTables = Effect.fn("verify.knownTables")(function* ({
  resources
}: Catalogue): Effect.fn.Return<Known, Failure, Warehouse> {
  const rows = yield* (yield* Warehouse).rows(
    `SELECT table_schema || '.' || table_name || '.' || column_name AS path FROM information_schema.columns
     WHERE table_catalog = current_database() AND table_schema IN ('crm', 'crm_history')`
  )
  const paths = new Set(rows.map((row) => String(row["path"])))
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
      history: `crm_history.${name(table.name)}`
    }))
  })
  const isThere = ({ table }: KnownTable) => [...table.key, "_synced_at"].every((column) => has(table, column))
  return {
    tables: all.filter(isThere),
    missing: all.filter((known) => !isThere(known)).map(({ table }) => table.name)
  }
})

/** A key as one text, for people. */
export const shownKey = (table: Table, from: string): string =>
  `concat_ws('/', ${table.key
    .filter((column) => column !== "location_id")
    .map((column) => `${from}.${name(column)}`)
    .join(", ")})`

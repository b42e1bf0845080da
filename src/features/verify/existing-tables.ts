/** The defined tables that exist in the warehouse, which may be older than the definitions. */
import { Effect } from "effect"
import type { Catalogue } from "../../catalog/discover.ts"
import type { Resource } from "../../catalog/resource.ts"
import { type Column, type Table, tablesOf } from "../../catalog/tables.ts"
import { type Readers, query, queryTexts, readRows } from "../../stores/warehouse/query.ts"
import { name, together } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type Content, type Summed, contentOfTexts, forEachRowOf, jsonOfRow } from "../../stores/warehouse/content.ts"

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
  const filled = yield* filledTables("current_database()")
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
      isEmpty: !filled.has(`crm.${table.name}`),
      hasVersions: filled.has(`crm_history.${table.name}`),
      size: (filled.get(`crm.${table.name}`) ?? 0) + (filled.get(`crm_history.${table.name}`) ?? 0)
    }))
  })
  const exists = ({ table }: KnownTable) => [...table.key, "_synced_at"].every((column) => has(table, column))
  return {
    tables: all.filter(exists),
    missing: all.filter((known) => !exists(known)).map(({ table }) => table.name)
  }
})

/**
 * The tables that hold rows, as `schema.table`, with about how many, in a database that is given as SQL. DuckDB's estimate
 * counts deleted rows until it reclaims their space, so it is never too low.
 */
export const filledTables = Effect.fnUntraced(function* (database: string) {
  const rows = yield* query(
    { path: String, size: Number },
    `SELECT schema_name || '.' || table_name AS path, estimated_size AS size FROM duckdb_tables()
     WHERE database_name = ${database} AND estimated_size > 0`
  )
  return new Map(rows.map(({ path, size }) => [path, size]))
})

/** How many queries of small tables are one statement: planning one takes longer than most of them. */
const togetherMax = 16
/** Rows that the tables of such a statement have together, because DuckDB holds its joins in memory at the same time. */
const rowsTogetherMax = 50_000

/** Reads the columns `n` and `example` of a query: how many rows have an error, and the key of one of them. */
export const countedRows = { n: Number, example: (key: unknown) => String(key ?? "") }

/** The rows of a query for each of many tables. */
export const rowsOfEach = Effect.fnUntraced(function* <One extends { readonly size: number }, Columns extends Readers>(
  columns: Columns,
  tables: ReadonlyArray<One>,
  sqlOf: (one: One) => string
) {
  const warehouse = yield* Warehouse
  const groups: Array<Array<One>> = []
  let rows = 0
  for (const one of tables) {
    const last = groups.at(-1)
    rows += one.size
    if (last === undefined || last.length >= togetherMax || rows > rowsTogetherMax) {
      groups.push([one])
      rows = one.size
    } else last.push(one)
  }
  const found = yield* Effect.forEach(groups, (group) =>
    Effect.map(warehouse.rows(`${together(group.map(sqlOf))} ORDER BY ALL`), (rows) =>
      readRows(columns, rows).map((row, index) => [group[Number(rows[index]!["place"])]!, row] as const)
    )
  )
  return found.flat()
})

/** SQL for a key as one text, for people. */
export const shownKey = (table: Table, from: string): string =>
  `concat_ws('/', ${table.key
    .filter((column) => column !== "location_id")
    .map((column) => `${from}.${name(column)}`)
    .join(", ")})`

/**
 * The contents of relations that should have few rows, by FROM clause: planning the checksum of each takes longer than reading
 * all of them. Those that cannot be read together, or have more rows, are left to a statement each.
 */
export const smallContents = Effect.fnUntraced(function* (relations: ReadonlyArray<Summed>) {
  const small = relations.map((one) => ({ ...one, rows: 0, sum: 0n }))
  const contents = new Map<string, Content>()
  for (let first = 0; first < small.length; first += relationsMax) {
    const some = small.slice(first, first + relationsMax)
    const isRead = yield* forEachRowOf(
      some.map(({ columns, from, text }) =>
        columns.length === 0
          ? { row: "NULL::VARCHAR", from: `${from} LIMIT 1` }
          : { row: jsonOfRow(columns, text), from: `${from} LIMIT ${rowsMax + 1}` }
      ),
      (place, row) => {
        const one = some[place]!
        one.rows += row === null ? rowsMax + 1 : 1
        if (row !== null) one.sum += BigInt(contentOfTexts(one.columns, [row]).sum)
      }
    ).pipe(
      Effect.as(true),
      Effect.catch(() => Effect.succeed(false))
    )
    for (const { from, rows, sum } of isRead ? some : [])
      if (rows <= rowsMax) contents.set(from, { rows, sum: String(sum) })
  }
  return contents
})

export const rowsMax = 250
/** Bounds the memory for the plan of a statement. */
const relationsMax = 50

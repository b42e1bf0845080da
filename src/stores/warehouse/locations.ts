/** The locations of the tables, with their names and rows: current rows, earlier versions, and the state of the syncs. */
import * as Effect from "effect/Effect"
import type { Failure } from "../../values/failure.ts"
import { query, queryValue } from "./query.ts"
import { literal, name, stringOf } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"
import { distinctNames } from "../../values/text.ts"

/** The tables of the file are asked, and not the definitions, so that none is forgotten. */
export const tablesWithLocations: Effect.Effect<ReadonlyArray<string>, Failure, Warehouse> = Effect.map(
  query(
    { schema_name: String, table_name: String },
    `SELECT c.schema_name, c.table_name FROM duckdb_columns() AS c
      SEMI JOIN duckdb_tables() AS t USING (database_name, schema_name, table_name)
      WHERE c.database_name = current_database() AND c.column_name = 'location_id' ORDER BY ALL`
  ),
  (found) => found.map((row) => `${name(row.schema_name)}.${name(row.table_name)}`)
)

/** Ordered by table, which has its schema, as SQL writes it. */
export const rowsByLocation = Effect.fn("warehouse.rowsByLocation")(function* () {
  const found = yield* Effect.forEach(yield* tablesWithLocations, (table) =>
    query(
      { table: String, location: String, rows: Number },
      `SELECT ${literal(table)} AS "table", location_id AS location, count(*) AS rows FROM ${table} WHERE location_id IS NOT NULL GROUP BY ALL`
    )
  )
  return found.flat()
})

/** By id; nothing of locations that were never read or have none. `shown`: a name as readers may see it. */
export const locationNames = Effect.fn("warehouse.locationNames")(function* (
  shown: (name: string) => string = (name) => name
) {
  const rows = yield* Effect.catchIf(
    (yield* Warehouse).rows("SELECT DISTINCT id, name FROM crm.locations WHERE trim(name) <> '' ORDER BY ALL"),
    // A release may lack the table or the column; asking for them first would take longer than all else.
    ({ reason }) => reason._tag === "StatementRejected" && /does not exist|not found/.test(reason.detail),
    () => Effect.succeed([])
  )
  return distinctNames(rows.map(({ id, name }) => ({ id: String(id), name: shown(String(name)) })))
})

/** The company that owns a location; `undefined` until the location is loaded. */
export const companyOf = (location: string) =>
  queryValue(stringOf, `SELECT company_id FROM crm.locations WHERE id = ${literal(location)}`)

/** The names of locations, as results have them; without a member if no name is known. `heard`: of those in no table yet. */
export const namesOf = Effect.fnUntraced(function* (
  ids: ReadonlyArray<string>,
  heard: ReadonlyMap<string, string> = new Map()
) {
  const names = yield* locationNames()
  const others = distinctNames(Array.from(heard, ([id, name]) => ({ id, name })))
  const locations = ids.flatMap((location) => {
    const name = names.get(location) ?? others.get(location)
    return name === undefined ? [] : [{ location, name }]
  })
  return locations.length === 0 ? {} : { locations }
})

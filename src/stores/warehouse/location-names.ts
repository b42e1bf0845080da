/** The names of the locations, as the account gives them. */
import * as Effect from "effect/Effect"
import { distinctNames } from "../../values/names.ts"
import { Warehouse } from "./warehouse.ts"

/** By id; nothing of locations that were never read or have none. `shown`: a name as readers may see it. */
export const locationNames = Effect.fn("warehouse.locationNames")(function* (
  shown: (name: string) => string = (name) => name
) {
  const warehouse = yield* Warehouse
  const [column] = yield* warehouse.rows(
    `SELECT 1 FROM duckdb_columns() WHERE table_name = 'locations' AND column_name = 'name' AND database_name = current_database()
       AND schema_name = if(database_name = 'crm', 'main', 'crm')`
  )
  if (column === undefined) return new Map()
  const rows = yield* warehouse.rows("SELECT DISTINCT id, name FROM crm.locations WHERE trim(name) <> '' ORDER BY ALL")
  return distinctNames(rows.map(({ id, name }) => ({ id: String(id), name: shown(String(name)) })))
})

/** Tables with rows that no definition describes: those of the user's own definitions while their folder is not set. */
import { Effect } from "effect"
import type { Catalogue } from "../../catalog/discover.ts"
import { queryTexts } from "./query.ts"
import { name } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"

export const undefinedTables = Effect.fn("warehouse.undefinedTables")(function* ({ familyByTable }: Catalogue) {
  const { rows } = yield* Warehouse
  const stored = yield* queryTexts("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'crm' ORDER BY ALL")
  const unknown = stored.filter((table) => !familyByTable.has(table))
  return yield* Effect.filter(unknown, (table) =>
    Effect.map(rows(`SELECT 1 FROM crm.${name(table)} LIMIT 1`), (found) => found.length > 0)
  )
})

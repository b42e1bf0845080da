/** A release of all tables and models of sluice, from rows that a test writes into the warehouse. */
import { Effect } from "effect"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { publishedTables } from "../../src/catalog/published-tables.ts"
import { readModels } from "../../src/stages/publish/models/files.ts"
import { orderOf } from "../../src/stages/publish/models/order.ts"
import { publish } from "../../src/stages/publish/publish.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { query } from "../support/compare.ts"
import { newOutput } from "../support/fixtures.ts"

/** `statements`: what fills the tables. Returns the models that were not built, and a function that asks the release. */
export const releaseOf = async (
  statements: ReadonlyArray<string>,
  formats: ReadonlyArray<"duckdb" | "parquet" | "csv"> = ["duckdb"]
) => {
  const output = await newOutput()
  const folder = join(output, "published")
  // Without the wide views, which no model reads.
  const tables = publishedTables(await discover()).filter(({ name, definition }) => name === definition.name)
  const models = orderOf(await readModels(undefined), () => true)
  const work = Effect.gen(function* () {
    const warehouse = yield* Warehouse
    for (const statement of statements) yield* warehouse.run(statement)
    const options = {
      folder,
      formats,
      run: "run",
      schemaVersion: "1",
      models
    } as const
    return yield* publish(options, tables)
  })
  const layer = Warehouse.layer(join(output, "warehouse.duckdb"), { access: "write", memoryMb: 256 })
  const { problems } = await Effect.runPromise(Effect.provide(work, layer))
  return { problems, folder, ask: (sql: string) => query(join(folder, "crm.duckdb"), sql) }
}

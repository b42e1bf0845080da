/** The state of the warehouse and that of a replay of its vault: each difference is counted where it counts, and nothing else. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { stateFindings } from "../../src/features/verify/replayed-state.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { templateOf } from "../support/fixtures.ts"
import { newFolder } from "../support/sluice.ts"

const template = await templateOf({ resources: [], familyByTable: new Map<string, string>() })
/** A row of each table that follows from the vault. */
const rows = {
  watermarks: (n: number) => `(location_id, resource, total) VALUES ('L', 'r${n}', ${n})`,
  run_resources: (n: number) => `(run_id, location_id, resource, reading) VALUES ('run', 'L', 'r${n}', '{"n":${n}}')`,
  rejected_values: (n: number) =>
    `(location_id, table_name, key, column_name, value) VALUES ('L', 't', 'r${n}', 'c', '${n}')`,
  rejected_records: (n: number) => `(location_id, table_name, record) VALUES ('L', 'r${n}', '{}')`
}
const tables = ["watermarks", "run_resources", "rejected_values", "rejected_records"] as const
/** What stands for them only where every record was replayed, and where an erasure may have removed records of the vault. */
const ofRecords = ["rejected_values", "rejected_records"]

it.live(
  "what the vault gives and the warehouse lacks is an error, and what it has besides unless it may have more",
  () =>
    Effect.gen(function* () {
      const warehouse = yield* Warehouse
      yield* warehouse.run("ATTACH ':memory:' AS replayed; CREATE SCHEMA replayed.meta")
      for (const table of tables)
        yield* warehouse.run(`CREATE TABLE replayed.meta.${table} AS FROM meta.${table} LIMIT 0`)
      const fill = (table: (typeof tables)[number], into: string, from: number, to: number) =>
        Effect.forEach(
          Array.from({ length: to - from }, (_, index) => from + index),
          (n) => warehouse.run(`INSERT INTO ${into}.${table} ${rows[table](n)}`)
        )
      for (const table of tables) {
        yield* fill(table, "meta", 5, 8)
        yield* fill(table, "replayed.meta", 5, 8)
      }
      // A run that has read nothing has no entry in the vault.
      yield* warehouse.run(
        "INSERT INTO meta.run_resources (run_id, location_id, resource) VALUES ('stopped', 'L', 'r')"
      )
      assert.deepStrictEqual(yield* stateFindings(true), [])
      for (const table of tables) {
        const isOfRecords = ofRecords.includes(table)
        const shown = table === "rejected_values" ? "t/r8/c" : "r8"
        const missing = {
          level: "wrong",
          where: `meta.${table}`,
          what: `missing or different from what the vault gives: 2 rows, for example ${shown}`
        }
        yield* warehouse.run("BEGIN")
        yield* fill(table, "replayed.meta", 8, 10)
        assert.deepStrictEqual(yield* stateFindings(true), [missing] as never, table)
        assert.deepStrictEqual(yield* stateFindings(false), (isOfRecords ? [] : [missing]) as never, table)
        yield* warehouse.run("ROLLBACK; BEGIN")
        yield* fill(table, "meta", 8, 9)
        const more = { ...missing, what: `not given by the vault: 1 row, for example ${shown}` }
        assert.deepStrictEqual(yield* stateFindings(true), (isOfRecords ? [] : [more]) as never, table)
        yield* warehouse.run("ROLLBACK")
      }
    }).pipe(
      Effect.provide(Warehouse.layer(join(newFolder(), "w.duckdb"), { access: "write", memoryMb: 128, template }))
    )
)

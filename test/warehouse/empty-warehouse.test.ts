/** New warehouses are copies of an empty one, which is made once for each state of the definitions. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { emptyWarehouse, prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"

const open = (path: string, template?: string) => Warehouse.layer(path, { access: "write", memoryMb: 128, template })

/** Everything in a file: its columns, views and macros, and the rows of its tables of state other than random ids. */
const content = Effect.gen(function* () {
  const warehouse = yield* Warehouse
  return [
    yield* warehouse.rows(
      "SELECT schema_name, table_name, column_name, data_type, column_default FROM duckdb_columns() WHERE database_name = 'warehouse' ORDER BY ALL"
    ),
    yield* warehouse.rows(
      "SELECT schema_name, function_name, macro_definition FROM duckdb_functions() WHERE database_name = 'warehouse' ORDER BY ALL"
    ),
    yield* warehouse.rows("FROM meta.columns ORDER BY ALL"),
    yield* warehouse.rows("FROM meta.schema_version"),
    yield* warehouse.rows("SELECT resource, base FROM meta.content_versions ORDER BY ALL")
  ]
})

describe("a new warehouse", () => {
  it.live(
    "is the same as a copy and with its tables created one by one",
    () =>
      Effect.gen(function* () {
        const [folder, cache] = [newFolder(), newFolder()]
        const catalogue = yield* Effect.promise(() => discover())
        const template = yield* emptyWarehouse(catalogue, cache)
        assert.deepStrictEqual(readdirSync(cache).length, 1)
        assert.strictEqual(yield* emptyWarehouse(catalogue, cache), template)
        const made = yield* Effect.andThen(prepare(catalogue), content).pipe(Effect.provide(open(join(folder, "made"))))
        const copied = yield* content.pipe(Effect.provide(open(join(folder, "copied"), template)))
        assert.deepStrictEqual(copied, made)
        assert.isAbove(copied[0]!.length, 1000)
      }),
    { tags: ["slow"] }
  )

  it.live("is no copy if there is a file, if the empty one is missing, or if it cannot be stored", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      const catalogue = { resources: [], familyByTable: new Map<string, string>() }
      const tables = Effect.flatMap(Warehouse, (warehouse) => warehouse.rows("SELECT table_name FROM duckdb_tables()"))
      const template = yield* emptyWarehouse(catalogue, newFolder())
      yield* Effect.flatMap(Warehouse, (warehouse) => warehouse.run("CREATE TABLE mine (i INTEGER)")).pipe(
        Effect.provide(open(join(folder, "existing")))
      )
      const existing = yield* tables.pipe(Effect.provide(open(join(folder, "existing"), template)))
      assert.deepStrictEqual(existing, [{ table_name: "mine" }])
      const missing = yield* tables.pipe(Effect.provide(open(join(folder, "new"), join(folder, "missing"))))
      assert.deepStrictEqual([missing, readdirSync(folder).sort()], [[], ["existing", "new"]])
      writeFileSync(join(folder, "file"), "")
      assert.strictEqual(yield* emptyWarehouse(catalogue, join(folder, "file")), undefined)
    })
  )
})

describe("a warehouse of an earlier version", () => {
  it.live("gets the columns that it lacks, with a warning that names the command which fills them, once", () =>
    Effect.gen(function* () {
      const { resources, ...others } = yield* Effect.promise(() => discover())
      const catalogue = {
        ...others,
        resources: resources.filter(({ table }) => table === "contacts" || table === "users")
      }
      const logged: Array<string> = []
      const logger = Logger.make(({ message }) => void logged.push(String(message)))
      const prepared = prepare(catalogue).pipe(Effect.provideService(Logger.CurrentLoggers, new Set([logger])))
      yield* Effect.gen(function* () {
        yield* prepared
        assert.deepStrictEqual(logged, [])
        const { run } = yield* Warehouse
        yield* run("ALTER TABLE crm.contacts DROP COLUMN city")
        yield* run("DROP TABLE crm.users")
        yield* run("UPDATE meta.schema_version SET fingerprint = 'earlier'")
        yield* prepared
        yield* prepared
      }).pipe(Effect.provide(open(join(newFolder(), "earlier"))))
      assert.match(logged.join("\n"), /^New columns of contacts are empty .*\.\/sluice rebuild/)
    })
  )
})

import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { childRequestOf } from "../../src/catalog/resource.ts"
import { Changes } from "../../src/stages/load/merge/changes.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { parentsStates } from "../../src/stores/warehouse/sync-state.ts"
import { statementFailure } from "../../src/stores/warehouse/duckdb-failures.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"

it.live(
  "a statement that needs more than eight times the memory of the setting is no fault of the disk",
  () => {
    const path = join(newFolder(), "warehouse.duckdb")
    return Effect.gen(function* () {
      const warehouse = yield* Warehouse
      yield* warehouse.run("CREATE TEMP TABLE few AS SELECT list(i::VARCHAR) AS all FROM range(1000000) AS r(i)")
      for (const run of [warehouse.run, (sql: string) => warehouse.transaction([sql]), warehouse.rows]) {
        const failure = yield* Effect.flip(
          run("CREATE TEMP TABLE t AS SELECT list(i::VARCHAR) AS all FROM range(12000000) AS r(i)")
        )
        assert.deepInclude(failure.reason, { _tag: "OutOfMemory", path, memoryMb: 256 })
        assert.match(failure.message, /^Out of Memory Error: /)
      }
    }).pipe(Effect.provide(Warehouse.layer(path, { access: "write", memoryMb: 32 })))
  },
  { tags: ["slow"] }
)

it("a checkpoint for which the memory is not enough is no fault of the disk", () => {
  const message =
    'IO Error: Checkpoint failed for database "warehouse". The database has been invalidated. Original error: could not allocate block of size 256.0 KiB (488.0 MiB/488.2 MiB used)\n\nPossible solutions:'
  assert.deepInclude(statementFailure("w.duckdb", 512, new Error(message)).reason, {
    _tag: "OutOfMemory",
    memoryMb: 512
  })
  // What every statement after it is told.
  const after = message.replace(
    /Checkpoint.*invalidated/,
    'Database "warehouse" has been invalidated because checkpointing failed'
  )
  assert.deepInclude(statementFailure("w.duckdb", 512, new Error(after)).reason, { _tag: "OutOfMemory", memoryMb: 512 })
  const ofDisk = 'IO Error: Checkpoint failed for database "warehouse". Original error: No space left on device'
  assert.strictEqual(statementFailure("w.duckdb", 512, new Error(ofDisk)).reason._tag, "FileFailed")
})

it.live("a transaction that is repeated with more memory counts once", () =>
  Effect.gen(function* () {
    yield* prepare({ resources: [], familyByTable: new Map() })
    const warehouse = yield* Warehouse
    let attempts = 0
    const load = (numbers: number) =>
      warehouse.transaction((tx) =>
        Effect.sync(() => {
          attempts++
          const changes = new Changes(new Set())
          changes.counts.add({ run: "r", location: "L", label: "contacts" }, { new_rows: 5 })
          tx.run(
            ...changes.statements(),
            `CREATE OR REPLACE TEMP TABLE t AS SELECT list(i::VARCHAR) AS all FROM range(${numbers}) AS r(i)`
          )
        })
      )
    yield* load(1)
    yield* load(2_000_000)
    assert.isAbove(attempts, 2)
    yield* load(1)
    const [row] = yield* warehouse.rows("SELECT new_rows::INTEGER AS n FROM meta.run_resources")
    assert.strictEqual(row?.["n"], 15)
  }).pipe(Effect.provide(Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 32 })))
)

it.live("a transaction that is repeated with more memory changes what the attempt before had changed", () =>
  Effect.gen(function* () {
    const warehouse = yield* Warehouse
    yield* warehouse.run("CREATE TABLE things AS SELECT i, md5(i::VARCHAR) AS text FROM range(100000) AS r (i)")
    yield* warehouse.checkpointIfAbove(0)
    yield* warehouse.run("CREATE TEMP TABLE changed AS SELECT i FROM range(0, 100000, 20) AS r (i)")
    let attempts = 0
    yield* warehouse.transaction((tx) =>
      Effect.gen(function* () {
        attempts++
        const removed = yield* tx.write("DELETE FROM things WHERE i IN (FROM changed)")
        assert.strictEqual(removed, 5000)
        tx.run(
          "INSERT INTO things SELECT i, 'new' FROM changed",
          "CREATE OR REPLACE TEMP TABLE t AS SELECT list(i::VARCHAR) AS all FROM range(2000000) AS r(i)"
        )
      })
    )
    assert.isAbove(attempts, 1)
    const [row] = yield* warehouse.rows(
      "SELECT count(*)::INTEGER AS n, count(DISTINCT i)::INTEGER AS all, count(*) FILTER (text = 'new')::INTEGER AS new FROM things"
    )
    assert.deepStrictEqual(row, { n: 100_000, all: 100_000, new: 5000 })
  }).pipe(Effect.provide(Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 32 })))
)

it.live(
  "the due parents of every table are counted in the smallest memory",
  () =>
    Effect.gen(function* () {
      const catalogue = yield* Effect.promise(() => discover())
      yield* prepare(catalogue)
      const warehouse = yield* Warehouse
      const requests = catalogue.resources.flatMap((resource) => childRequestOf(resource) ?? [])
      const rows = 20_000
      for (const table of new Set(requests.map((request) => request.table)))
        yield* warehouse.run(
          `INSERT INTO crm.${table} BY NAME SELECT 'l' AS location_id, 'record' || i AS id, md5(i::VARCHAR) AS _row_hash FROM range(${rows}) AS r (i)`
        )
      for (const { label } of requests)
        yield* warehouse.run(
          `INSERT INTO meta.parent_state BY NAME SELECT 'l' AS location_id, '${label}' AS resource, 'record' || i AS parent_id, md5((i + 1)::VARCHAR) AS parent_version FROM range(${rows}) AS r (i)`
        )
      const states = yield* parentsStates(requests.map((childRequest) => ({ location: "l", childRequest })))
      assert.strictEqual(states.get("contact_notes")?.due, rows)
      assert.isAbove(states.size, 10)
    }).pipe(Effect.provide(Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 96 }))),
  { tags: ["slow"] }
)

import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { failureExplanation } from "../../src/cli/errors.ts"
import { Warehouse } from "../../src/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"

it.live("a statement that needs more memory than the setting allows names the setting and not the disk", () =>
  Effect.gen(function* () {
    const warehouse = yield* Warehouse
    for (const run of [warehouse.run, (sql: string) => warehouse.transaction([sql]), warehouse.rows]) {
      const failure = yield* Effect.flip(
        run("CREATE TEMP TABLE t AS SELECT list(i::VARCHAR) AS all FROM range(3000000) AS r(i)")
      )
      const { ends, message, next } = failureExplanation(failure)
      assert.strictEqual(ends, "failed")
      assert.match(
        message,
        /^DuckDB needs more memory than machine\.memory_mb = 32 allows for \S+: Out of Memory Error: .*kept\.$/
      )
      assert.match(next, /^Set machine\.memory_mb to 64 in the settings file, then run the same command again\.$/)
    }
  }).pipe(Effect.provide(Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 32 })))
)

import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { publishDue, stateOf } from "../../src/publish/due.ts"
import { Warehouse } from "../../src/warehouse/warehouse.ts"
import { newOutput } from "./output.ts"
import { addThings, publishThings, views, warehouseAt } from "./things.ts"

it.effect("a release is due after the first complete read, and then whenever its content would change", () => {
  const output = newOutput()
  const folder = join(output, "published")
  const formats = ["duckdb", "parquet", "csv"]
  const due = (more: { readonly formats?: ReadonlyArray<string>; readonly csvProfile?: string } = {}) =>
    Effect.gen(function* () {
      return yield* publishDue({ folder, formats, csvProfile: "machine", ...more, state: yield* stateOf(views) })
    })
  return Effect.gen(function* () {
    const warehouse = yield* Warehouse
    yield* addThings([{ id: "a", name: "one" }])
    assert.strictEqual(yield* due(), "nothing read")

    yield* warehouse.run(
      "INSERT INTO meta.watermarks (location_id, resource, complete_at) VALUES ('here', 'things', now())"
    )
    assert.strictEqual(yield* due(), "due")
    yield* publishThings(output)
    assert.strictEqual(yield* due(), "unchanged")
    assert.strictEqual(yield* due({ formats: ["duckdb"] }), "due")
    assert.strictEqual(yield* due({ csvProfile: "spreadsheet" }), "due")

    yield* warehouse.run(
      "INSERT INTO meta.run_resources (run_id, location_id, resource, records) VALUES ('run-2', 'here', 'things', 1)"
    )
    assert.strictEqual(yield* due(), "unchanged")
    for (const count of ["new_rows", "changed_rows", "deleted_rows"]) {
      yield* warehouse.run(`UPDATE meta.run_resources SET ${count} = ${count} + 1`)
      assert.strictEqual(yield* due(), "due", count)
      yield* publishThings(output)
      assert.strictEqual(yield* due(), "unchanged", count)
    }
    yield* warehouse.run("ALTER TABLE crm.things ADD COLUMN further VARCHAR")
    assert.strictEqual(yield* due(), "due")
    yield* publishThings(output)
    assert.strictEqual(yield* due(), "unchanged")
    rmSync(join(folder, "csv/things.csv"))
    assert.strictEqual(yield* due(), "due")
  }).pipe(Effect.provide(warehouseAt(output)))
})

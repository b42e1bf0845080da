import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { addEnumValues, addUnexpectedValues } from "../../src/stores/warehouse/meta/schema-changes.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"

it.live("values of enum columns are stored once, as sent, with the run that met them first", () =>
  Effect.gen(function* () {
    yield* prepare({ resources: [], familyByTable: new Map() })
    const met = (run: string, value: string) => ({ run, location: "L", table: "deals", column: "status", value })
    const values = [met("run1", "it's \0 new"), met("run1", "won"), met("run2", "won")]
    const warehouse = yield* Warehouse
    for (let n = 0; n < 2; n++) yield* warehouse.transaction([...addUnexpectedValues(values), ...addEnumValues(values)])
    assert.deepStrictEqual(yield* warehouse.rows("SELECT value, first_run_id FROM meta.enum_values ORDER BY ALL"), [
      { value: "it's \0 new", first_run_id: "run1" },
      { value: "won", first_run_id: "run1" }
    ])
    const [row] = yield* warehouse.rows("SELECT count(*)::INTEGER AS n FROM meta.unexpected_values")
    assert.strictEqual(row!["n"], 2)
  }).pipe(Effect.provide(Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128 })))
)

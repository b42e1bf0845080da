/** What is noted as a value that PostgreSQL cannot hold: exactly the rows that have one, whatever the key of their table. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { heldRows, noteUnheld, unheldSentences } from "../../src/destinations/postgres/held.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"

it.live.each([0, 1, 3])("is noted for %s rows with such a value, with and without a key", (bad) =>
  Effect.gen(function* () {
    const warehouse = yield* Warehouse
    const columns = ["id", "day", "sent"].map((name, index) => ({
      name,
      type: ["VARCHAR", "DATE", "JSON"][index]!
    }))
    const late = "DATE '5874897-12-31' + 1"
    yield* warehouse.run(
      `CREATE TABLE held AS SELECT range::VARCHAR AS id, if(range < ${bad}, ${late}, DATE '2026-01-01') AS day, '{}'::JSON AS sent FROM range(5)`
    )
    const unheld = yield* noteUnheld
    for (const [name, key] of [
      ["keyed", ["id"]],
      ["keyless", []]
    ] as const)
      yield* warehouse.rows(heldRows({ name, columns, key }, "held"))
    const said = (name: string) => unheldSentences(unheld, name).join()
    assert.strictEqual(
      said("keyed"),
      bad === 0
        ? ""
        : `keyed.day is NULL in ${bad} ${bad === 1 ? "row" : "rows"} (${["0", "1", "2"].slice(0, bad).join(", ")}), because PostgreSQL cannot hold what is there`
    )
    assert.strictEqual(said("keyless") === "", bad === 0)
  }).pipe(Effect.provide(Warehouse.layer(join(newFolder(), "held.duckdb"), { access: "write", memoryMb: 128 })))
)

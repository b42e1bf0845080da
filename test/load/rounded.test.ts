import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { decimal, id, instant } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { defineList } from "../../src/catalog/resource.ts"
import { makeLoader } from "../../src/stages/load/load.ts"
import type { Entry } from "../../src/stores/vault/entry.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { resourcesOf } from "../../src/stores/warehouse/meta/run-resources.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"
import { checkpoint } from "../support/checkpoint.ts"

const bills = defineList({
  table: "bills",
  description: "d",
  source: "s",
  scope: "s",
  full: [{ request: get("/bills"), paging: { kind: "once" }, records: "bills", pageSize: 10 }],
  fields: { id: id("Id"), total: decimal("Total"), at: instant("Time") }
})
const catalogue = { resources: [bills], familyByTable: new Map<string, string>() }

it.live(
  "rounded numbers are counted once for each version of a row, apart from rejected values; float noise is not",
  () => {
    const folder = newFolder()
    return Effect.gen(function* () {
      yield* prepare(catalogue)
      const vault = yield* Vault
      const { load } = yield* makeLoader([bills], join(folder, "temporary"))
      for (const [run, total] of [
        ["run1", 1 / 3],
        ["run2", 1 / 3],
        ["run3", 2 / 3]
      ] as const) {
        const records = [
          { id: "a", total, at: "soon" },
          { id: "b", total: 0.1 + 0.2 }
        ]
        const entry: Entry = {
          kind: "page",
          run,
          at: 1_800_000_000_000,
          location: "L",
          resource: "bills",
          partition: "all",
          request: {},
          records: "bills",
          hasBigNumbers: false,
          checkpoint
        }
        yield* vault.append({ entry, body: JSON.stringify({ bills: records }) })
        yield* load
      }
      const warehouse = yield* Warehouse
      assert.deepStrictEqual(
        yield* warehouse.rows(
          "SELECT run_id, table_name, column_name, rounded FROM meta.rounded_values ORDER BY run_id"
        ),
        ["run1", "run3"].map((run_id) => ({ run_id, table_name: "bills", column_name: "total", rounded: "1" }))
      )
      assert.deepStrictEqual(yield* warehouse.rows("SELECT id, total FROM crm.bills ORDER BY id"), [
        { id: "a", total: "0.6666667" },
        { id: "b", total: "0.3000000" }
      ])
      const counts = yield* Effect.forEach(["run1", "run2", "run3"], (run) => resourcesOf(run))
      assert.deepStrictEqual(
        counts.flat().map(({ rejected, rounded }) => [rejected, rounded]),
        [
          [1, 1],
          [0, 0],
          [1, 1]
        ]
      )
    }).pipe(
      Effect.provide(
        Layer.merge(
          Vault.layer(join(folder, "vault")),
          Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "write", memoryMb: 128 })
        )
      )
    )
  }
)

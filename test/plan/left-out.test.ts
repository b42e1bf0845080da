/** Tables that are left out, and what needs their rows. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { id } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { type Strategy, childRequestOf, defineChild, defineList } from "../../src/catalog/resource.ts"
import { type Choice, makePlan } from "../../src/stages/plan/plan.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { nothingOptional } from "../support/optional.ts"
import { newFolder } from "../support/sluice.ts"

const listOf = (table: string): Strategy => ({
  request: get(`/${table}`),
  paging: { kind: "offset" },
  records: table,
  pageSize: 10
})
const common = { description: "d", source: "s", scope: "s", fields: { id: id("Id") } }
const under = (table: string) =>
  ({ table, column: "parent_id", refreshAfter: "30 days", strategy: listOf(table) }) as const
const resources = [
  // In the order of their names, as the catalogue has them: a child may stand before its parent.
  defineChild({ ...common, table: "answers", childOf: under("notes") }),
  defineList({ ...common, table: "letters", full: [listOf("letters")], childOf: under("things") }),
  defineChild({ ...common, table: "notes", childOf: under("things") }),
  defineList({ ...common, table: "others", full: [listOf("others")] }),
  defineList({ ...common, table: "things", full: [listOf("things")] })
]
const catalogue = {
  resources,
  familyByTable: new Map(resources.map(({ table }) => [table, table === "answers" ? "words" : table]))
}

const planned = (choice: Partial<Choice>) =>
  Effect.map(
    makePlan(catalogue, "L", { only: [], except: [], optional: nothingOptional, full: false, ...choice }),
    ({ steps }) =>
      steps.flatMap(({ resource }) => [
        resource.table,
        ...(resource.kind === "list" && childRequestOf(resource) ? ["and by parents"] : [])
      ])
  )

it.live("what needs rows of a table that was never read is left out with it, and read once they are there", () =>
  Effect.gen(function* () {
    yield* prepare(catalogue)
    assert.deepStrictEqual(yield* planned({ except: ["things"] }), ["letters", "others"])
    assert.deepStrictEqual(yield* planned({ except: ["notes"] }), ["letters", "and by parents", "others", "things"])
    // A table that is named stays, and ends incomplete. If nothing is left of a family, the choice is refused.
    assert.deepStrictEqual(yield* planned({ only: ["answers"], except: ["things"] }), ["answers"])
    const { reason } = yield* Effect.flip(planned({ only: ["words"], except: ["notes", "things"] }))
    assert.strictEqual(reason._tag, "NothingSelected")
    yield* (yield* Warehouse).transaction(
      ["things", "notes"].map(
        (table) =>
          `INSERT INTO meta.run_resources BY NAME SELECT 'r' AS run_id, 'L' AS location_id, '${table}' AS resource, 'full' AS mode, 'incomplete' AS status`
      )
    )
    const all = ["answers", "letters", "and by parents", "notes", "others"]
    assert.deepStrictEqual(yield* planned({ except: ["things"] }), all)
  }).pipe(
    Effect.provide(Layer.fresh(Warehouse.layer(join(newFolder(), "w.duckdb"), { access: "write", memoryMb: 256 })))
  )
)

/** Objects that stand for a value, of which no member is known: the value is unknown, and that is a schema change. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { opportunities } from "../../pipelines/crm/opportunities.ts"
import { subscriptions } from "../../pipelines/payments/subscriptions.ts"
import { makeLoader } from "../../src/stages/load/load.ts"
import { normaliserOf } from "../../src/stages/load/normalise/normalise.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { checkpoint } from "../support/checkpoint.ts"
import { newFolder } from "../support/sluice.ts"

const statusOf = (status: unknown) => {
  const { row, unreadable } = normaliserOf(subscriptions)({ _id: "a", status }, { location: "L" })
  return [JSON.parse(row!).status ?? null, unreadable.map(({ column, members }) => [column, members])]
}

it.each([
  ["active", "active", []],
  [{ type: "active", since: "2026" }, "active", []],
  [{ current: "active", history: [] }, "active", []],
  [{ state: "active", history: [] }, null, [["status_details", ["history", "state"]]]],
  [{}, null, []],
  [null, null, []]
])("the status %j is %j", (sent, status, unreadable) => assert.deepStrictEqual(statusOf(sent), [status, unreadable]))

it("holds for every object in place of an id, too", () => {
  const { unreadable } = normaliserOf(opportunities)({ id: "a", contact: { ref: 7 } }, { location: "L" })
  assert.deepStrictEqual(unreadable, [{ table: "opportunities", column: "contact", members: ["ref"] }])
})

it.live("is counted in meta.schema_changes, with the names of the members and none of their values", () => {
  const folder = newFolder()
  return Effect.gen(function* () {
    yield* prepare({ resources: [subscriptions], familyByTable: new Map() })
    const data = ["a", "b"].map((_id) => ({ _id, status: { state: "Jane's", history: [] } }))
    const entry = {
      kind: "page" as const,
      run: "run1",
      at: 1_800_000_000_000,
      location: "L",
      resource: "subscriptions",
      partition: "all",
      request: {},
      records: "data",
      hasBigNumbers: false,
      checkpoint
    }
    yield* (yield* Vault).append({ entry, body: JSON.stringify({ data }) })
    yield* (yield* makeLoader([subscriptions], join(folder, "temporary"))).load
    assert.deepStrictEqual(
      yield* (yield* Warehouse).rows("SELECT table_name, field, kind, sample, seen FROM meta.schema_changes"),
      [
        {
          table_name: "subscriptions",
          field: "status_details",
          kind: "no known member",
          sample: '["history","state"]',
          seen: "2"
        }
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
})

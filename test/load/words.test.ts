/** Values of enum columns: each run reports those that the documentation does not list. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { openEnum, id, enumeration, rows } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { defineList } from "../../src/catalog/resource.ts"
import { makeLoader } from "../../src/stages/load/load.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { reportSchemaDrift } from "../../src/stores/warehouse/meta/schema-changes.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"
import { checkpoint } from "../support/checkpoint.ts"

const deals = defineList({
  table: "deals",
  description: "Deals.",
  source: "s",
  scope: "s",
  full: [{ request: get("/deals"), paging: { kind: "once" }, records: "deals", pageSize: 10 }],
  fields: {
    id: id("Id"),
    status: enumeration(["open", "won"], "State"),
    kind: openEnum("Kind"),
    visits: rows("deal_visits", "Visits", { id: id("Id"), end: enumeration(["kept", "missed"]) }, ["id"])
  }
})

it("ends the description of a column with its values", () => {
  const descriptions = [deals.fields["status"], enumeration(["a"]), enumeration(["a", "b", "c"])].map(
    (field) => field?.kind === "column" && field.description
  )
  assert.deepStrictEqual(descriptions, ["State: `open` or `won`", "`a`", "`a`, `b` or `c`"])
})

it.live("reports undocumented values in each run that reads them, and values of open enums when they are new", () => {
  const folder = newFolder()
  return Effect.gen(function* () {
    yield* prepare({ resources: [deals], familyByTable: new Map() })
    const loader = yield* makeLoader([deals], join(folder, "tmp"))
    const reportedBy = (run: string, ...records: ReadonlyArray<unknown>) =>
      Effect.gen(function* () {
        const entry = { kind: "page", run, at: 1, location: "L", resource: "deals", partition: "all" } as const
        const page = { ...entry, request: {}, records: "deals", hasBigNumbers: false, checkpoint }
        yield* (yield* Vault).append({ entry: page, body: JSON.stringify({ deals: records }) })
        yield* loader.load
        return yield* reportSchemaDrift(run, () => undefined)
      })
    const unexpected = {
      id: "b",
      status: "on_hold",
      kind: "x",
      visits: [
        { id: "1", end: "kept" },
        { id: "2", end: "late" }
      ]
    }
    const unknown = ["deals.status = on_hold", "deal_visits.end = late"]
    const first = yield* reportedBy("1", { id: "a", status: "open", kind: "y" }, unexpected, {
      id: "c",
      status: "",
      kind: null
    })
    assert.deepStrictEqual(first, { changes: [], unexpectedValues: unknown.toSorted() })
    // The unchanged row still has its values, which the first run has reported.
    const again = yield* reportedBy("2", unexpected, { id: "d", status: "parked", kind: "x" }, { id: "e", kind: "z" })
    assert.deepStrictEqual(again, {
      changes: ["deals.kind = z (new value)"],
      unexpectedValues: ["deals.status = parked"]
    })
    assert.deepStrictEqual(yield* reportedBy("3", { id: "a", status: "won", kind: "z" }), {
      changes: [],
      unexpectedValues: []
    })
  }).pipe(
    Effect.provide(
      Layer.merge(
        Vault.layer(join(folder, "vault")),
        Layer.fresh(Warehouse.layer(join(folder, "w.duckdb"), { access: "write", memoryMb: 256 }))
      )
    )
  )
})

/** What a plan promises, from drawn nights: never less than each list takes, and never a range that an ordinary night leaves. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { id, instant } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { type Strategy, childRequestOf, defineList } from "../../src/catalog/resource.ts"
import { expectChildren } from "../../src/stages/plan/expect.ts"
import { makePlan } from "../../src/stages/plan/plan.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import type { PastReading } from "../../src/stores/warehouse/meta/reading-history.ts"
import type { Range } from "../../src/values/range.ts"
import { nothingOptional } from "../support/optional.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const day = 86_400_000
const strategy: Strategy = { request: get("/things"), paging: { kind: "offset" }, records: "things", pageSize: 10 }
const things = defineList({
  table: "things",
  description: "d",
  source: "s",
  scope: "s",
  full: [strategy],
  changes: { field: "changedAt", overlap: "0 days", strategies: [strategy], fullEvery: "7 days" },
  getOne: { request: get("/things/{thingId}"), record: "" },
  detail: { refreshAfter: "30 days", fields: {} },
  fields: { id: id("Id"), changedAt: instant("Change") }
})
const catalogue = { resources: [things], familyByTable: new Map([["things", "f"]]) }
const layer = () => Layer.fresh(Warehouse.layer(join(newFolder(), "w.duckdb"), { access: "write", memoryMb: 128 }))

it.live(
  "the expected requests are at least one for a list and one for each record that is due, whatever the nights before took",
  () =>
    Effect.gen(function* () {
      yield* prepare(catalogue)
      const random = randomFrom(2)
      const upTo = (most: number) => 1 + Math.floor(random() * most)
      const ago = (nights: number) => `now() - INTERVAL '${nights} days'`
      for (let drawn = 0; drawn < 6; drawn++) {
        const nights = Array.from({ length: drawn }, () => ({
          list: upTo(4),
          details: upTo(9),
          changed: upTo(3) - 1
        }))
        const due = upTo(12)
        yield* (yield* Warehouse).transaction([
          ...["meta.runs", "meta.run_resources", "meta.watermarks", "crm.things"].map(
            (table) => `DELETE FROM ${table}`
          ),
          `INSERT INTO meta.watermarks VALUES ('L', 'things', now(), ${ago(1)}, ${ago(2)}, 30, 1, NULL, NULL)`,
          ...nights.flatMap(({ changed, details, list }, n) => {
            const of = `'r${n}', 'L'`
            const end = ago(nights.length - n)
            return [
              `INSERT INTO meta.runs (run_id, command, started_at, finished_at, status) VALUES ('r${n}', 'sync', ${end}, ${end}, 'complete')`,
              `INSERT INTO meta.run_resources (run_id, location_id, resource, mode, requests, changed_rows, status, finished_at)
             VALUES (${of}, 'things', 'incremental', ${list}, ${changed}, 'complete', ${end}),
               (${of}, 'things/details', 'children', ${details}, 0, 'complete', ${end})`
            ]
          }),
          `INSERT INTO crm.things BY NAME SELECT 'L' AS location_id, 'i' || n AS id, 'h' AS _row_hash, now() AS _synced_at FROM range(${due}) AS t(n)`
        ])
        const { expected } = yield* makePlan(catalogue, "L", {
          only: [],
          except: [],
          optional: nothingOptional,
          full: false
        })
        const { children, list } = expected[0]!
        const shown = JSON.stringify({ nights, due, list: list?.requests, state: children?.state })
        assert.strictEqual(children?.state.due, due, shown)
        const took = nights.map((one) => one.list)
        assert.isAtLeast(list!.requests.min, 1, shown)
        assert.isAtMost(list!.requests.min, Math.min(...took), shown)
        assert.isAtLeast(list!.requests.max!, Math.max(...took), shown)
        const ofDetails = expectChildren(children!, list!.changed)
        assert.isAtLeast(ofDetails.requests.min, due, shown)
        assert.isAtLeast(ofDetails.requests.max!, due, shown)
      }
    }).pipe(Effect.provide(layer()))
)

it.live("records that are read once a night are read again in the next night, elsewhere, or if all lists are", () =>
  Effect.gen(function* () {
    const nightly = { ...things, singleReads: "night" as const }
    const own = { ...catalogue, resources: [nightly] }
    yield* prepare(own)
    const readsSingle = Effect.fnUntraced(function* (location: string, full: boolean) {
      const { expected } = yield* makePlan(own, location, { only: [], except: [], optional: nothingOptional, full })
      return expected.some(({ children }) => children !== undefined)
    })
    const readAt = (hours: number) =>
      `INSERT OR REPLACE INTO meta.run_resources (run_id, location_id, resource, mode, status, finished_at)
       VALUES ('r', 'L', 'things/details', 'children', 'complete', now() - INTERVAL '${hours} hours')`
    assert.isTrue(yield* readsSingle("L", false))
    yield* (yield* Warehouse).run(readAt(19))
    assert.deepStrictEqual(
      [yield* readsSingle("L", false), yield* readsSingle("L", true), yield* readsSingle("M", false)],
      [false, true, true]
    )
    yield* (yield* Warehouse).run(readAt(21))
    assert.isTrue(yield* readsSingle("L", false))
  }).pipe(Effect.provide(layer()))
)

it("a range over earlier nights has each of them, with room for another one, and what is due besides", () => {
  const childRequest = childRequestOf(things)!
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomFrom(seed)
    const below = (n: number) => Math.floor(random() * n)
    const took = Array.from({ length: 1 + below(4) }, () => below(40))
    const due = below(10)
    const nights = took.map((requests) => ({ mode: "children", requests, changed: 0, elapsedMs: day }) as PastReading)
    const { basis, requests } = expectChildren(
      { childRequest, state: { due, oldestFetch: undefined }, nights, parents: 9 },
      undefined
    )
    const [least, most] = [Math.min(...took), Math.max(...took)]
    const [low, high] = took.length === 1 ? [least / 2, most * 2] : [least * 0.8, most * 1.2]
    const shown = JSON.stringify({ took, due, requests })
    assert.strictEqual(basis, "earlier syncs")
    assert.strictEqual(requests.min, Math.max(due, Math.floor(low)), shown)
    assert.isTrue(requests.max! >= due + high && requests.max! < due + high + 1, shown)
  }
})

it("without earlier nights, children take a request for each parent that changes, and for each that is due", () => {
  const childRequest = childRequestOf(things)!
  const expected = (more: object, changed: Range | undefined, due = 3, parents = 9) =>
    expectChildren(
      { childRequest: { ...childRequest, ...more }, state: { due, oldestFetch: undefined }, nights: [], parents },
      changed
    )
  assert.deepStrictEqual(expected({}, undefined), { requests: { min: 3, max: 3 }, basis: "rows that are due" })
  assert.deepStrictEqual(expected({}, { min: 2, max: 5 }), { requests: { min: 5, max: 8 }, basis: "rows that are due" })
  assert.deepStrictEqual(expected({}, { min: 2, max: 5 }, 0), { requests: { min: 2, max: 5 }, basis: "parents" })
  assert.deepStrictEqual(expected({}, { min: 2 }, 0, 0), { requests: { min: 2 }, basis: "unknown" })
  // Which of the changed parents are asked for is not known.
  for (const more of [{ where: "is_open" }, { ids: "key" }])
    assert.deepStrictEqual(expected(more, { min: 2, max: 5 }).requests, { min: 3, max: 8 })
})

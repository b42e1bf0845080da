/** The local clock was years ahead during one run and is right again: nothing is postponed until then. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { id, instant } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { type Strategy, defineList, childRequestOf } from "../../src/catalog/resource.ts"
import { makePlan } from "../../src/stages/plan/plan.ts"
import { missingRows } from "../../src/stores/warehouse/absent-rows.ts"
import { beginRun, endRun, eachSync, unfinishedFullSync } from "../../src/stores/warehouse/meta/runs.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { dueParents } from "../../src/stores/warehouse/sync-state.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { nothingOptional } from "../support/optional.ts"
import { newFolder } from "../support/sluice.ts"

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
const years = 3 * 365 * 86_400_000

it.live("full reads, details, deletions and runs are due as if the clock had been right", () =>
  Effect.gen(function* () {
    yield* prepare(catalogue)
    const warehouse = yield* Warehouse
    const ahead = `to_timestamp(${(Date.now() + years) / 1000})`
    yield* warehouse.transaction([
      `INSERT INTO meta.watermarks VALUES ('L', 'things', now(), ${ahead}, ${ahead}, 1, 1, NULL, NULL)`,
      `INSERT INTO crm.things BY NAME SELECT 'L' AS location_id, 'a' AS id, 'h' AS _row_hash, ${ahead} AS _synced_at, 'r' AS _run_id`,
      `INSERT INTO meta.parent_state VALUES ('L', 'things/details', 'a', 'h', 'c', ${ahead}, ${ahead}, NULL)`,
      `INSERT INTO meta.runs (run_id, command, started_at, finished_at, status) VALUES ('20991231T235959999Z', '${eachSync}', ${ahead}, ${ahead}, 'paused')`
    ])
    const plan = yield* makePlan(catalogue, "L", { only: [], except: [], optional: nothingOptional, full: false })
    assert.strictEqual(plan.steps[0]!.mode, "full")
    const due = yield* dueParents({ location: "L", childRequest: childRequestOf(things)!, limit: 10 })
    assert.deepStrictEqual(
      due.map(({ id, full }) => [id, full]),
      [["a", true]]
    )
    assert.deepStrictEqual(
      (yield* missingRows(things, { location: "L", run: "now" }, Date.now())).map(({ key }) => key),
      ["a"]
    )
    assert.isUndefined(yield* unfinishedFullSync())

    const first = yield* beginRun("sync")
    yield* endRun(first, { status: "complete", exitCode: 0, requests: 0 })
    const second = yield* beginRun("sync")
    assert.strictEqual(first.id, "21000101T000000000Z")
    assert.strictEqual(second.id, "21000101T000000001Z")
  }).pipe(
    Effect.provide(Layer.fresh(Warehouse.layer(join(newFolder(), "w.duckdb"), { access: "write", memoryMb: 256 })))
  )
)

it.live(
  "a full sync requests again what seems to have been fetched later, because the clock is behind that of an earlier run",
  () =>
    Effect.gen(function* () {
      yield* prepare(catalogue)
      const fetched = `to_timestamp(${(Date.now() + 12 * 3_600_000) / 1000})`
      yield* (yield* Warehouse).transaction([
        `INSERT INTO crm.things BY NAME SELECT 'L' AS location_id, 'a' AS id, 'h' AS _row_hash, ${fetched} AS _synced_at, 'r' AS _run_id`,
        `INSERT INTO meta.parent_state VALUES ('L', 'things/details', 'a', 'h', 'c', ${fetched}, ${fetched}, NULL)`
      ])
      const plan = yield* makePlan(catalogue, "L", {
        only: [],
        except: [],
        optional: nothingOptional,
        full: true,
        each: true
      })
      const { refreshCutoff } = plan.steps[0]!
      const due = yield* dueParents({ location: "L", childRequest: childRequestOf(things)!, refreshCutoff, limit: 10 })
      assert.strictEqual(due.length, 1)
      // Only this run may have loaded the row during the reading.
      const missing = (run: string) =>
        Effect.map(missingRows(things, { location: "L", run }, Date.now()), (rows) => rows.length)
      assert.deepStrictEqual([yield* missing("now"), yield* missing("r")], [1, 0])
    }).pipe(
      Effect.provide(Layer.fresh(Warehouse.layer(join(newFolder(), "w.duckdb"), { access: "write", memoryMb: 256 })))
    )
)

it.live("a full sync is resumed if the last one was paused or interrupted, and not if it has ended", () =>
  Effect.gen(function* () {
    yield* prepare(catalogue)
    for (const [status, isResumed] of [
      ["complete", false],
      ["incomplete", false],
      ["paused", true]
    ] as const) {
      const run = yield* beginRun(eachSync)
      yield* endRun(run, { status, exitCode: 0, requests: 0 })
      assert.strictEqual(yield* unfinishedFullSync(), isResumed ? run.startedAt : undefined, status)
    }
    const interrupted = yield* beginRun(eachSync)
    yield* beginRun("sync")
    assert.isDefined(yield* unfinishedFullSync())
    assert.isAtMost((yield* unfinishedFullSync())!, interrupted.startedAt)
  }).pipe(
    Effect.provide(Layer.fresh(Warehouse.layer(join(newFolder(), "w.duckdb"), { access: "write", memoryMb: 256 })))
  )
)

/** Who runs a location: what a worker may claim, and what one that has lost its location may not write any more. */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Redacted from "effect/Redacted"
import { type Database, databaseLayer, onWake } from "../../src/features/fleet/database.ts"
import { addLocations, cancel, enqueue, removeLocations, setPaused } from "../../src/features/fleet/roster.ts"
import * as store from "../../src/features/fleet/store.ts"
import { type Postgres, postgresPrograms, sqlIn, startPostgres, withoutPostgres } from "../support/postgres.ts"

const worker = (name: string, cache?: string): store.Owner => ({ name: `${name} 1`, leaseMs: 60_000, cache })
const [one, other] = [worker("one"), worker("other")]
const locationOf = (owner: store.Owner) => Effect.map(store.claim(owner), (claim) => claim?.location)
const result: store.Result = {
  state: "done",
  exitCode: 0,
  message: undefined,
  requests: 7,
  requestsLeft: undefined,
  isClean: true,
  notBefore: undefined,
  isFailure: false
}
const queued = (...locations: ReadonlyArray<string>) =>
  Effect.andThen(addLocations(locations.map((location) => ({ location }))), enqueue(undefined, { kind: "sync" }))

describe.skipIf(postgresPrograms === undefined)(postgresPrograms === undefined ? withoutPostgres : "a claim", () => {
  let postgres: Postgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  beforeEach(() => sqlIn(postgres, "DROP SCHEMA IF EXISTS sluice_fleet CASCADE"))
  const sql = (statement: string) => Effect.promise(() => sqlIn(postgres, statement))
  const inFleet = <A, E>(work: Effect.Effect<A, E, Database>) =>
    Effect.suspend(() => Effect.provide(work, databaseLayer(Redacted.make(postgres.url), 10)))

  it.live("of many workers at once gives each location to one of them", () =>
    Effect.gen(function* () {
      const names = Array.from({ length: 40 }, (_, index) => `location${index}`)
      yield* queued(...names)
      const all = Array.from({ length: 8 }, (_, index) => worker(`worker${index}`))
      const claimed: Array<string> = []
      yield* Effect.forEach(
        all,
        (owner) =>
          Effect.gen(function* () {
            // One that finds nothing may have met the claims of others at the same moment, and looks again.
            for (let empty = 0; empty < 3;) {
              const location = yield* locationOf(owner)
              if (location === undefined) empty++
              else claimed.push(location)
            }
          }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(claimed.toSorted(), names.toSorted())
    }).pipe(inFleet)
  )

  it.live("takes the location with the oldest tables first, and none that is paused or not due", () =>
    Effect.gen(function* () {
      yield* queued("fresh", "older", "never", "paused", "later")
      yield* setPaused(["paused"], true)
      yield* sql(
        `UPDATE sluice_fleet.locations SET fresh_at = now() - CASE location WHEN 'fresh' THEN 1 ELSE 2 END * interval '1 day'
         WHERE location <> 'never';
         UPDATE sluice_fleet.runs SET not_before = now() + interval '1 hour' WHERE location = 'later'`
      )
      const claimed = yield* Effect.all([1, 2, 3, 4].map(() => locationOf(one)))
      assert.deepStrictEqual(claimed, ["never", "older", "fresh", undefined])
      yield* setPaused(undefined, false)
      assert.strictEqual(yield* locationOf(other), "paused")
    }).pipe(inFleet)
  )

  it.live("takes what a dead worker had, also if it is paused, and refuses all that this one writes later", () =>
    Effect.gen(function* () {
      yield* queued("north")
      const late = (yield* store.claim(one))!
      assert.isTrue(late.endedCleanly)
      assert.isTrue(yield* store.begin(late, one.name))
      yield* setPaused(undefined, true)
      assert.isUndefined(yield* store.claim(other))
      yield* sql("UPDATE sluice_fleet.locations SET lease_until = now() - interval '1 second'")
      const claim = (yield* store.claim(other))!
      assert.strictEqual(Number(claim.generation), Number(late.generation) + 1)
      assert.isFalse(claim.endedCleanly, "the service still counts requests of the dead worker")

      assert.deepStrictEqual(yield* store.extend(one, ["north"]), [])
      assert.isFalse(yield* store.begin(late, one.name))
      assert.isFalse(yield* store.setSnapshot(late, "late"))
      assert.isFalse(yield* store.finish(late, result))
      yield* store.handBack(late, true)
      assert.deepStrictEqual(yield* removeLocations(["north"]), [])
      assert.isTrue(yield* store.begin(claim, other.name))
      assert.isTrue(yield* store.setSnapshot(claim, "newest"))
      assert.isTrue(yield* store.finish(claim, result))
      assert.strictEqual(
        yield* sql(
          `SELECT state, attempts, requests, worker, snapshot, owner IS NULL, ended_cleanly
           FROM sluice_fleet.runs JOIN sluice_fleet.locations USING (location)`
        ),
        "done|2|7|other 1|newest|t|t"
      )
    }).pipe(inFleet)
  )

  it.live("of a run that is cancelled meanwhile begins nothing, and frees the location", () =>
    Effect.gen(function* () {
      yield* queued("north")
      const first = (yield* store.claim(one))!
      yield* cancel(undefined)
      assert.isFalse(yield* store.begin(first, one.name))
      assert.isTrue(yield* store.finish(first, { ...result, state: "cancelled", exitCode: null }))
      yield* queued("north")
      const second = (yield* store.claim(one))!
      yield* store.begin(second, one.name)
      yield* cancel(undefined)
      assert.deepStrictEqual(
        (yield* store.extend(one, ["north"])).map(({ isCancelled }) => isCancelled),
        [true]
      )
      // The worker dies before it has stopped the process.
      yield* sql("UPDATE sluice_fleet.locations SET lease_until = now() - interval '1 second'")
      const third = (yield* store.claim(other))!
      assert.isFalse(yield* store.begin(third, other.name))
      assert.isTrue(yield* store.finish(third, { ...result, state: "cancelled", exitCode: null }))
      assert.strictEqual(
        yield* sql("SELECT state, attempts, ended_at IS NULL FROM sluice_fleet.runs ORDER BY run"),
        "cancelled|0|f\ncancelled|1|f"
      )
    }).pipe(inFleet)
  )

  it.live("of a run that is tried again waits for its time, and counts its failures", () =>
    Effect.gen(function* () {
      yield* queued("north")
      const claim = (yield* store.claim(one))!
      yield* store.begin(claim, one.name)
      const notBefore = Date.now() + 3_600_000
      yield* store.finish(claim, { ...result, state: "waiting", exitCode: 75, isFailure: true, notBefore })
      assert.isUndefined(yield* store.claim(one))
      yield* sql("UPDATE sluice_fleet.runs SET not_before = now()")
      assert.strictEqual((yield* store.claim(other))!.failures, 1)
    }).pipe(inFleet)
  )

  it.live("takes what the worker has copies of first, and leaves to another what that has, but not for long", () =>
    Effect.gen(function* () {
      const [here, there] = [worker("here", "a"), worker("there", "b")]
      const due = (location: string, ago: string) =>
        sql(
          `UPDATE sluice_fleet.runs SET not_before = now() - interval '${ago}' WHERE location = '${location}'
           AND state = 'queued'`
        )
      yield* queued("north")
      yield* store.finish((yield* store.claim(here))!, result)
      yield* queued("south")
      // North has tables, so south would go first.
      assert.deepStrictEqual([yield* locationOf(there), yield* locationOf(there)], ["south", undefined])
      yield* due("north", "11 seconds")
      yield* addLocations([{ location: "east" }])
      yield* enqueue(["east"], { kind: "sync" })
      assert.deepStrictEqual([yield* locationOf(there), yield* locationOf(there)], ["east", "north"])
    }).pipe(inFleet)
  )

  it.live("is made at once when somebody queues a run, although nobody looks", () =>
    Effect.gen(function* () {
      yield* addLocations([{ location: "north" }])
      const woken = Latch.makeUnsafe()
      let times = 0
      const listening = yield* Effect.forkChild(
        onWake(Effect.suspend(() => (++times === 1 ? Effect.void : woken.open))),
        { startImmediately: true }
      )
      while (times === 0) yield* Effect.sleep(10)
      yield* enqueue(undefined, { kind: "sync" })
      yield* Effect.timeout(woken.await, "5 seconds")
      yield* Fiber.interrupt(listening)
    }).pipe((work) => Effect.suspend(() => Effect.provide(work, databaseLayer(Redacted.make(postgres.url), 3))))
  )

  it.live("of a night is made once by many workers, and not for one that is more than a day ago", () =>
    Effect.gen(function* () {
      yield* addLocations([{ location: "north" }, { location: "south" }])
      const [hour, day] = [3_600_000, 86_400_000]
      const now = Math.floor(Date.now() / 1000) * 1000
      const night = (yield* store.nextNight("30 2 * * *", now - hour)).at
      assert.strictEqual(night, now - hour)
      assert.deepStrictEqual(yield* store.nextNight("30 2 * * *", now + hour), { at: night, isDue: true })
      const all = yield* Effect.all(
        [1, 2, 3, 4, 5].map(() => store.enqueueNight("30 2 * * *", night, now + hour, 60_000)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(all.map((rows) => rows.length).toSorted(), [0, 0, 0, 0, 2])
      assert.deepStrictEqual(yield* store.nextNight("30 2 * * *", 0), { at: now + hour, isDue: false })
      const spread = yield* sql(
        `SELECT count(*) FROM sluice_fleet.runs WHERE not_before BETWEEN now() - interval '10 seconds' AND now() + interval '1 minute'`
      )
      assert.strictEqual(spread, "2")

      yield* cancel(undefined)
      yield* store.nextNight("weekly", now - day - 1000)
      assert.deepStrictEqual(yield* store.enqueueNight("weekly", now - day - 1000, now + day, 0), [])
      assert.strictEqual((yield* store.nextNight("weekly", 0)).at, now + day)
    }).pipe(inFleet)
  )
})

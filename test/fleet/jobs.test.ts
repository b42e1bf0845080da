/** Runs as jobs of pg-boss, and the fence: what an owner that has lost its location may not write any more. */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import {
  addLocations,
  cancel,
  removeLocations,
  setPaused,
  statusOfFleet
} from "../../src/features/fleet/commands/roster.ts"
import { databaseLayer } from "../../src/features/fleet/commands/connect.ts"
import { type Database, withBoss } from "../../src/features/fleet/database.ts"
import { numbersOf, setSnapshot } from "../../src/features/fleet/fence.ts"
import { type Job, type Result, type Run, begin, end, enqueue, touched } from "../../src/features/fleet/jobs.ts"
import { queues } from "../../src/features/fleet/tables.ts"
import { type Postgres, postgresPrograms, sqlIn, openDatabase, withoutPostgres } from "../support/postgres.ts"

const done: Result = {
  next: { state: "done" },
  exitCode: 0,
  message: undefined,
  requests: 7,
  requestsLeft: undefined,
  isClean: true
}
const queued = (...locations: ReadonlyArray<string>) =>
  Effect.andThen(addLocations(locations.map((location) => ({ location }))), enqueue(undefined, { kind: "sync" }))
/** The next job, as a worker gets it. */
const fetched = withBoss(async (boss): Promise<Job | undefined> => {
  const [job] = await boss.fetch<Run>(queues.runs, { includeMetadata: true })
  return job
})
const locations = (count: number) =>
  Effect.map(Effect.all(Array.from({ length: count }, () => fetched)), (jobs) => jobs.map((job) => job?.singletonKey))
const owned = (job: Job, owner: string) => Effect.map(begin(job, owner), (claim) => claim!)
const ended = (job: Job, claim: Parameters<typeof end>[1], result: Result) =>
  end(job, claim, { state: result.next.state, exitCode: result.exitCode, requests: result.requests }, result)

describe.skipIf(postgresPrograms === undefined)(
  postgresPrograms === undefined ? withoutPostgres : "a run",
  { tags: ["slow"] },
  () => {
    let postgres: Postgres
    beforeAll(async () => {
      postgres = await openDatabase()
    })
    afterAll(() => postgres.stop())
    beforeEach(() => sqlIn(postgres, "SET client_min_messages = warning; DROP SCHEMA IF EXISTS sluice_fleet CASCADE"))
    const sql = (statement: string) => Effect.promise(() => sqlIn(postgres, statement))
    const options = { max: 4, supervise: false, schedule: false, registerInstance: false }
    const inFleet = <A, E>(work: Effect.Effect<A, E, Database>) =>
      Effect.suspend(() => Effect.provide(work, databaseLayer(Redacted.make(postgres.url), options)))
    /** What pg-boss does when it has not heard of a worker. */
    const lost = Effect.andThen(
      sql("UPDATE sluice_fleet.job SET heartbeat_on = now() - interval '11 seconds' WHERE state = 'active'"),
      withBoss((boss) => boss.supervise(queues.runs))
    )

    it.live("is the newest of its location in the status of the fleet, which has an index for it", () =>
      Effect.gen(function* () {
        yield* queued("open", "ended")
        yield* addLocations([{ location: "new" }])
        for (const days of [3, 1, 2])
          yield* sql(
            `INSERT INTO sluice_fleet.job (name, singleton_key, data, state, created_on, completed_on, output)
             SELECT 'runs', location, '{"kind": "full"}', 'completed', now() - interval '${days} days', now(),
               '{"state": "partial", "message": "${days} days old"}'
             FROM sluice_fleet.locations WHERE location <> 'new'`
          )
        yield* cancel(["ended"])
        yield* sql("DELETE FROM sluice_fleet.job WHERE state = 'cancelled'")
        const found = yield* statusOfFleet(undefined)
        assert.deepStrictEqual(
          found.map(({ location, message, state }) => [location, state, message]),
          [
            ["ended", "partial", "1 days old"],
            ["new", "none", undefined],
            ["open", "queued", undefined]
          ]
        )
        const plan = yield* sql(
          "SET enable_seqscan = off; EXPLAIN SELECT * FROM sluice_fleet.runs WHERE location = 'open' ORDER BY requested_at DESC LIMIT 1"
        )
        assert.match(plan, /Index Scan using \w*singleton_key_created_on_idx/)
      }).pipe(inFleet)
    )

    it.live("is of the location with the oldest tables first, and of none that is paused or not due", () =>
      Effect.gen(function* () {
        yield* addLocations(["fresh", "older", "never", "paused", "later"].map((location) => ({ location })))
        yield* sql(
          `UPDATE sluice_fleet.locations SET fresh_at = now() - CASE location WHEN 'fresh' THEN 1 ELSE 2 END * interval '1 day'
         WHERE location <> 'never'`
        )
        yield* setPaused(["paused"], true)
        assert.lengthOf(yield* enqueue(undefined, { kind: "sync" }), 5)
        assert.deepStrictEqual(yield* enqueue(undefined, { kind: "full" }), [], "each has an open run")
        yield* sql("UPDATE sluice_fleet.job SET start_after = now() + interval '1 hour' WHERE singleton_key = 'later'")
        assert.deepStrictEqual(yield* locations(4), ["never", "older", "fresh", undefined])
        yield* setPaused(undefined, false)
        assert.deepStrictEqual(yield* locations(2), ["paused", undefined])
      }).pipe(inFleet)
    )

    it.live("that waits is held while its location is paused, and one that has begun continues", () =>
      Effect.gen(function* () {
        yield* queued("north", "south")
        const job = (yield* fetched)!
        yield* owned(job, "one")
        yield* setPaused(undefined, true)
        assert.deepStrictEqual(yield* locations(1), [undefined])
        yield* lost
        assert.deepStrictEqual(yield* locations(2), [job.singletonKey, undefined])
      }).pipe(inFleet)
    )

    it.live("of a worker that is not heard of is another's, and the first one stores nothing any more", () =>
      Effect.gen(function* () {
        yield* queued("north")
        const late = (yield* fetched)!
        const lateClaim = yield* owned(late, "one")
        assert.isTrue(lateClaim.endedCleanly)
        assert.deepStrictEqual([...(yield* numbersOf(["north", "south"]))], [["north", lateClaim.number]])
        yield* lost
        const job = (yield* fetched)!
        assert.strictEqual(job.id, late.id)
        const claim = yield* owned(job, "other")
        assert.strictEqual(Number(claim.number), Number(lateClaim.number) + 1)
        assert.isFalse(claim.endedCleanly, "the service still counts requests of the dead worker")

        assert.strictEqual((yield* withBoss((boss) => touched(boss, [late]))).size, 0)
        assert.deepStrictEqual([...(yield* numbersOf(["north"]))], [["north", claim.number]])
        assert.isUndefined(yield* begin(late, "one"))
        assert.isFalse(yield* setSnapshot(lateClaim, "late"))
        assert.isFalse(yield* ended(late, lateClaim, done))
        assert.deepStrictEqual(yield* removeLocations(["north"]), [])

        assert.isTrue(yield* setSnapshot(claim, "newest"))
        assert.isTrue(yield* ended(job, claim, done))
        assert.strictEqual(
          yield* sql(
            `SELECT state, attempts, requests, f.snapshot, f.owner IS NULL, f.ended_cleanly, fresh_at = begun_at
           FROM sluice_fleet.runs JOIN sluice_fleet.fences AS f USING (location, run)
             JOIN sluice_fleet.locations USING (location)`
          ),
          "done|2|7|newest|t|t|t"
        )
      }).pipe(inFleet)
    )

    it.live("that another engine has taken over is tried again later, and does not end that one", () =>
      Effect.gen(function* () {
        yield* queued("north")
        const job = (yield* fetched)!
        const claim = yield* owned(job, "one")
        yield* sql("UPDATE sluice_fleet.fences SET number = number + 1, owner = 'task'")
        assert.isFalse(yield* ended(job, claim, done))
        assert.strictEqual(
          yield* sql(
            "SELECT r.state, not_before > now() + interval '5 seconds', owner FROM sluice_fleet.runs AS r, sluice_fleet.fences"
          ),
          "waiting|t|task"
        )
      }).pipe(inFleet)
    )

    it.live("that is cancelled is not its worker's any more, and ends when that one has stopped it", () =>
      Effect.gen(function* () {
        yield* queued("north")
        assert.deepStrictEqual(yield* cancel(undefined), ["north"])
        assert.isUndefined(yield* fetched)
        yield* queued("north")
        const job = (yield* fetched)!
        const claim = yield* owned(job, "one")
        assert.deepStrictEqual(yield* cancel(undefined), ["north"])
        const states = "SELECT state FROM sluice_fleet.runs ORDER BY requested_at"
        assert.strictEqual(yield* sql(states), "cancelled\ncancelling")
        assert.strictEqual((yield* withBoss((boss) => touched(boss, [job]))).size, 0)
        const stopped = {
          ...done,
          next: { state: "waiting", notBefore: Date.now(), isFailure: false },
          exitCode: 143
        } as const
        assert.isTrue(yield* ended(job, claim, stopped))
        assert.strictEqual(yield* sql(states), "cancelled\ncancelled")
        assert.isUndefined(yield* fetched)
      }).pipe(inFleet)
    )

    it.live("that is tried again waits for its time, and counts its failures", () =>
      Effect.gen(function* () {
        yield* queued("north")
        const job = (yield* fetched)!
        const claim = yield* owned(job, "one")
        const next = { state: "waiting", notBefore: Date.now() + 3_600_000, isFailure: true } as const
        yield* ended(job, claim, { ...done, next, exitCode: 75 })
        assert.isUndefined(yield* fetched)
        assert.strictEqual(yield* sql("SELECT state, exit_code, failures FROM sluice_fleet.runs"), "waiting|75|1")
        yield* sql("UPDATE sluice_fleet.job SET start_after = now()")
        assert.strictEqual((yield* fetched)!.data.failures, 1)
      }).pipe(inFleet)
    )

    it.live("of a night begins within the jitter, at the same time each night, if its location is not paused", () =>
      Effect.gen(function* () {
        const names = Array.from({ length: 40 }, (_, index) => `location${index}`)
        yield* addLocations(names.map((location) => ({ location })))
        yield* setPaused(["location7"], true)
        const starts = Effect.gen(function* () {
          assert.lengthOf(yield* enqueue(undefined, { kind: "sync" }, 3_600_000), 39)
          const seconds = yield* sql(
            "SELECT round(extract(epoch FROM start_after - created_on)) FROM sluice_fleet.job ORDER BY singleton_key"
          )
          yield* sql("DELETE FROM sluice_fleet.job")
          return seconds.split("\n").map(Number)
        })
        const [first, second] = [yield* starts, yield* starts]
        assert.deepStrictEqual(first, second)
        assert.isTrue(first.every((at) => at >= 0 && at <= 3600))
        assert.isAbove(new Set(first).size, 30)
      }).pipe(inFleet)
    )
  }
)

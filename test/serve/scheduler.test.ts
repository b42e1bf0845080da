/** The schedule over real processes, by a clock that the test sets. */
import { assert, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { startScheduler } from "../../src/features/serve/scheduler.ts"
import { openWork } from "../../src/run/work.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const program = () => {
  const folder = newFolder()
  const path = join(folder, "program")
  // A sync that is refused for now, and then one that ends well.
  writeFileSync(
    path,
    `#!/bin/sh\n[ "$1" = sync ] && [ ! -e ${folder}/tried ] && touch ${folder}/tried && exit 75\nexit 0\n`
  )
  chmodSync(path, 0o700)
  return [path]
}
const realTime = (ms: number) => Effect.promise(() => new Promise((resolve) => setTimeout(resolve, ms)))

it.effect("a night begins at its minute and not before, again after an hour, and the next server goes on with it", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(Date.parse("2027-01-31T03:00:00Z"))
    const folder = newFolder()
    const command = program()
    /** A server, which ends with the scope. */
    const serve = Effect.gen(function* () {
      const problems: Array<string> = []
      const onProblem = (message: string) => void problems.push(message)
      let onEnd: Effect.Success<ReturnType<typeof startScheduler>>["onEnd"] | undefined
      const work = yield* openWork({
        folder,
        program: command,
        flags: () => ["--output", folder],
        environment: { PATH: process.env["PATH"] },
        onEnd: (job) => onEnd?.(job) ?? Effect.void,
        onProblem
      })
      const scheduler = yield* startScheduler({
        path: join(folder, "schedule.json"),
        work,
        timesOf: () => ({ times: ["03:30"], timeZone: "UTC", paused: false, prune: false }),
        isRetryDue: async () => false,
        onChange: Effect.void,
        onProblem
      })
      onEnd = scheduler.onEnd
      /** What was started for the schedule, once so many have ended, newest first. */
      const started = (count: number) =>
        Effect.gen(function* () {
          for (let tries = 0; tries < 200; tries++) {
            yield* realTime(20)
            if ((yield* work.all).length >= count && (yield* work.running).length === 0) break
          }
          return (yield* work.all).map(({ record }) => `${record.startedAt} ${record.task} ${record.exitCode}`)
        })
      const next = Effect.map(
        scheduler.shown({ times: ["03:30"], timeZone: "UTC", paused: false, prune: false }),
        (shown) => ({ retryAt: shown?.retryAt, next: shown?.next[0], problems })
      )
      return { started, next }
    })
    yield* Effect.scoped(
      Effect.gen(function* () {
        const { next, started } = yield* serve
        yield* TestClock.adjust("29 minutes")
        assert.deepStrictEqual(yield* started(0), [])
        yield* TestClock.adjust("1 minute")
        const first = ["2027-01-31T03:30:00.000Z check 0", "2027-01-31T03:30:00.000Z sync 75"]
        assert.deepStrictEqual(yield* started(2), first)
        const shown = yield* next
        assert.deepStrictEqual(shown, {
          retryAt: "2027-01-31T04:30:00.000Z",
          next: "2027-02-01T03:30:00.000Z",
          problems: []
        })
      })
    )
    const { started } = yield* serve
    yield* TestClock.adjust("59 minutes")
    assert.strictEqual((yield* started(2)).length, 2)
    yield* TestClock.adjust("1 minute")
    const all = yield* started(4)
    const second = ["2027-01-31T04:30:00.000Z check 0", "2027-01-31T04:30:00.000Z sync 0"]
    assert.deepStrictEqual(all.slice(0, 2), second)
    yield* TestClock.adjust("2 hours")
    assert.deepStrictEqual(yield* started(4), all)
  })
)

it.effect("each time of a day has a sync, and each local day one prune after a sync that ended well", () =>
  Effect.gen(function* () {
    const zone = "America/New_York"
    let now = Date.parse("2027-03-10T00:00:00Z")
    // Its timer never rings: that it looks at the time every five seconds would take minutes here.
    const clock: Clock.Clock = Object.assign(Object.create(yield* Clock.Clock), {
      currentTimeMillis: Effect.sync(() => now),
      currentTimeMillisUnsafe: () => now,
      sleep: () => Effect.never
    })
    const draw = randomFrom(5)
    const jobs: Array<{ record: Record<string, unknown>; transcript: { printed: object } }> = []
    const isOpen = (one: (typeof jobs)[number]) => one.record["endedAt"] === undefined
    const writing = Effect.sync(() => jobs.find((one) => isOpen(one) && one.record["isWriting"] === true))
    const start = (order: object) =>
      Effect.sync(() => {
        const startedAt = new Date(now).toISOString()
        jobs.push({ record: { id: `j${jobs.length}`, startedAt, ...order }, transcript: { printed: {} } })
        return jobs.at(-1)!
      })
    const get = (id: string) => Effect.sync(() => jobs.find(({ record }) => record["id"] === id)!)
    const times = { times: ["01:00", "13:00"], timeZone: zone, paused: false, prune: true }
    yield* Effect.gen(function* () {
      const scheduler = yield* startScheduler({
        path: join(newFolder(), "schedule.json"),
        work: { start, get, writing } as unknown as Parameters<typeof startScheduler>[0]["work"],
        timesOf: () => times,
        isRetryDue: async () => false,
        onChange: Effect.void,
        onProblem: (message) => assert.fail(message)
      })
      for (let step = 0; step < 8 * 24 * 4; step++) {
        now += 900_000
        yield* scheduler.resume
        for (const one of jobs.filter(isOpen)) {
          const exitCode = one.record["task"] === "sync" && draw() < 0.3 ? [75, 3][Math.floor(draw() * 2)]! : 0
          Object.assign(one.record, { exitCode, endedAt: new Date(now).toISOString() })
          yield* scheduler.onEnd(one as never)
        }
      }
    }).pipe(Effect.scoped, Effect.provideService(Clock.Clock, clock))
    const dayOf = ({ record }: (typeof jobs)[number], at = "startedAt") =>
      new Date(String(record[at])).toLocaleDateString("en-CA", { timeZone: zone })
    const syncs = jobs.filter(({ record }) => record["task"] === "sync")
    const well = new Set(syncs.filter(({ record }) => record["exitCode"] === 0).map((one) => dayOf(one, "endedAt")))
    const pruned = jobs.filter(({ record }) => record["task"] === "prune").map((one) => dayOf(one))
    assert.deepStrictEqual(pruned, [...well].toSorted())
    const hours = syncs.map(({ record }) =>
      new Date(String(record["startedAt"])).toLocaleTimeString("en-GB", { timeZone: zone }).slice(0, 2)
    )
    const again = syncs.filter(({ record }) => record["exitCode"] === 75).length
    assert.isAbove(again, 1)
    assert.strictEqual(syncs.length, 16 + again, "each that was told to come later is tried again")
    assert.isAtLeast(hours.filter((one) => one === "01" || one === "13").length, 16)
    for (const { record } of jobs.filter(({ record }) => record["task"] === "prune"))
      assert.deepStrictEqual([record["args"], record["isWriting"]], [["prune", "--apply"], true])
  })
)

it.effect("a schedule that has stopped says why, and has no next time until somebody lets it go on", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(Date.parse("2027-01-31T03:29:00Z"))
    const jobs: Array<{ record: Record<string, unknown>; transcript: { printed: object } }> = []
    const start = (order: object) =>
      Effect.sync(() => {
        jobs.push({ record: { id: `j${jobs.length}`, startedAt: "", ...order }, transcript: { printed: {} } })
        return jobs.at(-1)!
      })
    const get = (id: string) => Effect.sync(() => jobs.find(({ record }) => record["id"] === id)!)
    const times = { times: ["03:30"], timeZone: "UTC", paused: false, prune: false }
    const scheduler = yield* startScheduler({
      path: join(newFolder(), "schedule.json"),
      work: { start, get, writing: Effect.succeed(undefined) } as unknown as Parameters<
        typeof startScheduler
      >[0]["work"],
      timesOf: () => times,
      isRetryDue: async () => false,
      onChange: Effect.void,
      onProblem: (message) => assert.fail(message)
    })
    yield* TestClock.adjust("1 minute")
    for (let tries = 0; tries < 200 && jobs.length === 0; tries++) yield* realTime(5)
    const sync = jobs.find(({ record }) => record["task"] === "sync")!
    Object.assign(sync.record, { exitCode: 77, endedAt: new Date().toISOString() })
    yield* scheduler.onEnd(sync as never)
    const stopped = yield* scheduler.shown(times)
    assert.strictEqual(stopped?.halted?.exitCode, 77)
    assert.deepStrictEqual(stopped?.next, [])
    yield* scheduler.resume
    const resumed = yield* scheduler.shown(times)
    assert.isUndefined(resumed?.halted)
    assert.strictEqual(resumed?.next[0], "2027-02-01T03:30:00.000Z")
  }).pipe(Effect.scoped)
)

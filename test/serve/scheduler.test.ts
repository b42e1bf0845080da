/** The schedule over real processes, by a clock that the test sets. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { startScheduler } from "../../src/features/serve/scheduler.ts"
import { openWork } from "../../src/run/work.ts"
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

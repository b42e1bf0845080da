/** Times and periods that a run says: of plans side by side, of days as people type them, of a clock that went back. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { join } from "node:path"
import { besideOthers } from "../../src/run/plan.ts"
import { stopwatch } from "../../src/values/stopwatch.ts"
import { beginRun, endRun, runsNewestFirst } from "../../src/stores/warehouse/meta/runs.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder, sluice } from "../support/sluice.ts"

describe("locations that are read four at a time", () => {
  it("take as long as the busiest of the four", () => {
    assert.strictEqual(besideOthers([]), 0)
    assert.strictEqual(besideOthers([5, 5, 5]), 5)
    assert.strictEqual(besideOthers(Array.from({ length: 30 }, () => 5)), 40)
    assert.strictEqual(besideOthers([9, 1, 1, 1, 1, 1, 1, 1, 1]), 9)
  })
  it("never take less than their sum shared by four, nor than the longest, nor more than their sum", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const draw = randomFrom(seed)
      const times = Array.from({ length: 1 + Math.floor(draw() * 40) }, () => Math.floor(draw() * 1000))
      const sum = times.reduce((all, one) => all + one, 0)
      const found = besideOthers(times)
      assert.isAtLeast(found, Math.max(sum / 4, ...times))
      assert.isAtMost(found, sum / 4 + Math.max(...times))
    }
  })
})

describe("a period that a person types", () => {
  it.each([
    "01.02.2025",
    "1.2.2025",
    "02/01/2025",
    "1 February 2025",
    "Feb 1, 2025",
    "20250201",
    "2025-2-1",
    "1738368000000",
    "25-02-01"
  ])("as %s is refused, not read as another day", async (day) => {
    for (const flags of [
      ["--from", day],
      ["--from", "2024-01-01", "--to", day]
    ]) {
      const { code, stderr } = await sluice(["backfill", ...flags], { SLUICE_BASE_URL: "http://127.0.0.1:1" })
      assert.strictEqual(code, 2, stderr)
      assert.include(stderr, "is not a date: write 2025-01-31")
    }
  })
  it("with the year first is said before anything is read", async () => {
    const environment = {
      SLUICE_BASE_URL: "http://127.0.0.1:1",
      SLUICE_TOKEN: "t",
      SLUICE_LOCATION_ID: "L",
      SLUICE_OUTPUT: newFolder()
    }
    const { stderr } = await sluice(["backfill", "--from", "2025-01-31", "--to", "2025-02-01"], environment)
    assert.include(stderr, "Reads what was made from 2025-01-31T00:00:00.000Z to 2025-02-02T00:00:00.000Z.")
  })
})

it("a run on a clock that goes back takes as long as it took, and never ends before it begins", async () => {
  let [wall, monotonic] = [Date.parse("2026-01-01T00:50:00Z"), 0n]
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => wall,
    currentTimeMillis: Effect.sync(() => wall),
    currentTimeNanosUnsafe: () => BigInt(wall) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(wall) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => monotonic,
    monotonicTimeNanos: Effect.sync(() => monotonic),
    sleep: () => Effect.void
  }
  const pass = (ms: number, setTo = ms) => {
    monotonic += BigInt(ms) * 1_000_000n
    wall += setTo
  }
  const work = Effect.gen(function* () {
    yield* prepare({ resources: [], familyByTable: new Map() })
    const took = yield* stopwatch
    const run = yield* beginRun("sync")
    pass(8000, -3_000_000)
    assert.strictEqual(yield* took, 8000)
    yield* endRun(run, { status: "complete", exitCode: 0, requests: 1 })
    const usual = yield* beginRun("sync")
    pass(5000)
    yield* endRun(usual, { status: "complete", exitCode: 0, requests: 1 })
    return (yield* runsNewestFirst()).map(({ finishedAt, startedAt }) => finishedAt! - startedAt)
  })
  const layer = Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128 })
  const found = await Effect.runPromise(work.pipe(Effect.provide(layer), Effect.provideService(Clock.Clock, clock)))
  assert.deepStrictEqual(found, [5000, 8000])
})

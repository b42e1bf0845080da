/** Years of nights by a simulated clock: what the schedule starts, in zones whose clocks change. */
import { assert, describe, it } from "@effect/vitest"
import {
  dayOf,
  due,
  ended,
  beginning,
  momentsBetween,
  nextMoments,
  started,
  resumed
} from "../../src/features/serve/nights.ts"
import type { NightState, Times } from "../../src/features/serve/nights.ts"

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]
const begin = Date.parse("2027-01-01T12:00:00Z")

interface World {
  readonly times: (now: number) => Times
  /** The clock of the machine, of the true time. */
  readonly clock?: (now: number) => number
  /** Whether the machine is on. */
  readonly isOn?: (now: number) => boolean
  /** The exit code of the run that begins now, and how long it takes. */
  readonly run?: (now: number) => { readonly exitCode: number | null; readonly ms: number }
  readonly days?: number
  readonly stepMs?: number
}

interface Run {
  /** The time of the machine. */
  readonly at: number
  readonly moment: number
}

/** Plays the machine's clock step by step, and returns the runs that were started. */
const played = ({
  clock = (now) => now,
  days = 400,
  isOn = () => true,
  run = () => ({ exitCode: 0, ms: 10 * minute }),
  stepMs = 20 * minute,
  times
}: World): ReadonlyArray<Run> => {
  const runs: Array<Run> = []
  let state: NightState = beginning(clock(begin))
  let running: { readonly until: number; readonly exitCode: number | null } | undefined
  for (let now = begin; now < begin + days * day; now += stepMs) {
    if (!isOn(now)) continue
    const at = clock(now)
    if (running && now >= running.until) {
      state = ended(state, running.exitCode, "", at, false)
      running = undefined
    }
    const next = due(state, times(now), at, running !== undefined)
    ;({ state } = next)
    if (next.moment === undefined) continue
    const { exitCode, ms } = run(now)
    running = { exitCode, until: now + ms }
    runs.push({ at, moment: next.moment })
    state = started(state, next.moment, `run ${runs.length}`)
  }
  return runs
}

const at = (timeZone: string, ...times: ReadonlyArray<string>): Times => ({ times, timeZone, paused: false })
/** Local days with a moment: each must have one run. */
const daysOf = (times: Times, days: number) =>
  momentsBetween(times, begin, begin + days * day).map((moment) => dayOf(times.timeZone, moment))

describe("400 nights", () => {
  for (const timeZone of zones)
    it(`have one run each in ${timeZone}, over both changes of the clock`, () => {
      const times = at(timeZone, "02:10")
      const runs = played({ times: () => times, stepMs: 3 * hour })
      const days = runs.map((run) => dayOf(timeZone, run.moment))
      assert.deepStrictEqual(days, [...new Set(days)], "no day twice")
      assert.isAtLeast(days.length, 399)
      assert.deepStrictEqual(days, daysOf(times, 400).slice(0, days.length))
      for (const run of runs) assert.isAtMost(run.at - run.moment, 3 * hour)
    })

  it("show the local time, except where the clock skips it", () => {
    const times = at("Europe/Berlin", "02:30")
    const shown = momentsBetween(times, Date.parse("2027-03-26"), Date.parse("2027-03-31")).map((moment) =>
      new Intl.DateTimeFormat("en-GB", { timeZone: "Europe/Berlin", timeStyle: "short" }).format(moment)
    )
    assert.deepStrictEqual(shown, ["02:30", "02:30", "03:30", "02:30", "02:30"])
    const autumn = momentsBetween(times, Date.parse("2027-10-30T12:00Z"), Date.parse("2027-10-31T12:00Z"))
    assert.deepStrictEqual(
      autumn.map((moment) => new Date(moment).toISOString()),
      ["2027-10-31T00:30:00.000Z"]
    )
  })
})

const berlin = at("Europe/Berlin", "03:30")
const short = { days: 30, times: () => berlin }

describe("a schedule", () => {
  it("starts one run after a machine that slept for five days", () => {
    const slept = [begin + 5 * day, begin + 10 * day] as const
    const runs = played({ ...short, isOn: (now) => now < slept[0] || now >= slept[1] })
    assert.strictEqual(runs.filter((run) => run.at >= slept[1] && run.at < slept[1] + 2 * hour).length, 1)
    assert.strictEqual(runs.length, 26)
  })
  it("starts one run when the clock jumps ahead, and goes on when it is right again", () => {
    const isAhead = (now: number) => now >= begin + 10.2 * day && now < begin + 11.4 * day
    const runs = played({ ...short, clock: (now) => now + (isAhead(now) ? 400 * day : 0) })
    assert.strictEqual(runs.filter((run) => run.at > begin + 300 * day).length, 2)
    // Of the right clock, each night but those of the jump.
    const right = runs.filter((run) => run.at < begin + 300 * day)
    assert.isAtLeast(right.length, 28)
    for (const [index, run] of right.slice(0, -1).entries()) assert.isAtMost(right[index + 1]!.at - run.at, 2.1 * day)
  })
  it("starts no run twice when the clock jumps back", () => {
    const runs = played({ ...short, clock: (now) => now - (now >= begin + 10 * day ? 2 * hour : 0) })
    const moments = runs.map(({ moment }) => moment)
    assert.deepStrictEqual(moments, [...new Set(moments)])
    assert.strictEqual(runs.length, 30)
  })
  it("waits for a run that works, and then starts one for all that passed meanwhile", () => {
    const runs = played({ ...short, run: (now) => ({ exitCode: 0, ms: now < begin + 2 * day ? 3 * day : 0 }) })
    const [first, second] = runs
    assert.isAtLeast(second!.at - first!.at, 3 * day)
    assert.strictEqual(runs.filter((run) => run.at < begin + 4.5 * day).length, 2)
  })
  it("starts nothing while it is paused, and makes up for nothing afterwards", () => {
    const isPaused = (now: number) => now > begin + 3 * day && now < begin + 8.5 * day
    const runs = played({ ...short, times: (now) => ({ ...berlin, paused: isPaused(now) }) })
    assert.strictEqual(runs.length, 25)
    assert.isFalse(runs.some((run) => isPaused(run.at)))
    const first = runs.find((run) => run.at > begin + 8.5 * day)!
    assert.isBelow(first.at - first.moment, 30 * minute)
  })
  it("starts nothing for a time that had passed when it was set", () => {
    assert.deepStrictEqual(due(beginning(begin), at("UTC", "11:59", "12:30"), begin + minute, false).moment, undefined)
    assert.deepStrictEqual(
      due(beginning(begin), at("UTC", "12:30"), begin + 31 * minute, false).moment,
      begin + 30 * minute
    )
  })
  it("starts nothing without a time", () => {
    assert.deepStrictEqual(played({ ...short, times: () => at("UTC") }), [])
    assert.deepStrictEqual(nextMoments(at("UTC"), begin, 3), [])
  })
})

describe("after an exit code", () => {
  const endingWith = (exitCode: number | null) =>
    played({
      ...short,
      days: 3,
      stepMs: 5 * minute,
      run: (now) => ({ exitCode: now < begin + day ? exitCode : 0, ms: minute })
    })
  const within = (runs: ReadonlyArray<Run>, ms: number) => runs.filter((run) => run.at < runs[0]!.at + ms).length

  it("0, 1, 2, 3 and 4 comes the next night", () => {
    for (const code of [0, 1, 2, 3, 4]) assert.strictEqual(within(endingWith(code), 20 * hour), 1, String(code))
  })
  it("75, or after a signal that killed the process, it is tried every hour", () => {
    for (const code of [75, null, 137]) {
      const runs = endingWith(code)
      assert.isAtLeast(within(runs, 6 * hour), 5, String(code))
      assert.isAtMost(within(runs, 6 * hour), 6, String(code))
    }
  })
  it("11, it is tried every quarter of an hour", () => {
    assert.isAtLeast(within(endingWith(11), 2 * hour), 6)
  })
  it("77 and 78, nothing comes until a person has acted", () => {
    for (const code of [77, 78]) {
      assert.strictEqual(endingWith(code).length, 1, String(code))
      const halted = ended(started(beginning(begin), begin, "run"), code, "why", begin, false)
      assert.deepStrictEqual(halted.halted, { exitCode: code, text: "why" })
      const later = begin + 3 * day
      const waiting = due(halted, berlin, later, false)
      assert.isUndefined(waiting.moment)
      // Not at once for the nights that passed, but the next one.
      const next = due(resumed(waiting.state), berlin, later, false)
      assert.isUndefined(next.moment)
      assert.isDefined(due(next.state, berlin, later + day, false).moment)
    }
  })
  it("143, it goes on at once if the server itself had stopped, and the next night if a person had", () => {
    const running = started(beginning(begin), begin, "run")
    assert.strictEqual(due(ended(running, 143, "", begin, true), berlin, begin + minute, false).moment, begin)
    assert.isUndefined(due(ended(running, 143, "", begin, false), berlin, begin + minute, false).moment)
  })
})

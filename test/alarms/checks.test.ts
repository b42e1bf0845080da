/** The decisions of the alarms, from facts that the test makes. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { wrong } from "../../src/values/finding.ts"
import { daysLeft } from "../../src/alarms/alarm.ts"
import { type Alarm, type AlarmLimits, alarms, alarmsOf, alarmsSection } from "../../src/alarms/alarms.ts"
import type { Facts } from "../../src/alarms/facts.ts"
import { noFacts as nothing } from "../../src/alarms/watch.ts"
import type { Silence } from "../../src/alarms/silence.ts"
import { changesOf, readState, withSample, writeState } from "../../src/alarms/state.ts"
import { anomalyOf } from "../../src/alarms/volume.ts"
import { readSettings } from "../../src/settings/read.ts"
import type { Run } from "../../src/stores/warehouse/meta/runs.ts"
import { newFolder } from "../support/sluice.ts"
import { type Rest, now, situationOf } from "./situation.ts"

const hour = 3_600_000
const day = 24 * hour
const volume = { volumeSensitivity: 3 }

/** Nights until now, the last one first. */
const nights = (...changes: ReadonlyArray<number>) =>
  [...changes, 0].map((changed, index) => ({ at: now - index * day, changed }))
const anomaly = (...changes: ReadonlyArray<number>) => anomalyOf(nights(...changes), volume)
const usual = [100, 105, 95, 100, 110, 90, 100, 100, 105, 95, 100, 110, 90, 100]

describe("volume", () => {
  it("is an alarm if a night is far from the nights before", () => {
    assert.deepStrictEqual(anomaly(900, ...usual), { changed: 900, expected: 100, nights: 14 })
    assert.deepStrictEqual(anomaly(0, ...usual)?.changed, 0)
    assert.isUndefined(anomaly(115, ...usual))
  })
  it("is none with fewer than 7 nights, and for small differences", () => {
    assert.isUndefined(anomaly(900, ...usual.slice(0, 6)))
    assert.isDefined(anomaly(900, ...usual.slice(0, 7)))
    assert.isUndefined(anomaly(45, ...usual.map(() => 1)))
  })
  it("knows weekdays: a Monday like other Mondays is usual, a Tuesday like them is not", () => {
    const weekly = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13].map((ago) => ((ago + 1) % 7 === 0 ? 2000 : 100))
    assert.isUndefined(anomaly(2000, ...weekly))
    assert.isUndefined(anomaly(2300, ...weekly))
    const shifted = nights(2000, ...weekly).map((one, index) => (index === 0 ? one : { ...one, at: one.at + day }))
    assert.isUndefined(anomalyOf(shifted, volume), "two runs at the same time are not two nights")
    assert.isDefined(anomaly(9000, ...weekly))
    assert.isDefined(anomaly(2000, ...weekly.slice(1)), "the weekdays are one off")
  })
  it("compares nothing with a night after a gap, and a night of 23 or 25 hours as any other", () => {
    const late = nights(900, ...usual).map((one, index) => (index === 0 ? { ...one, at: one.at + 2 * day } : one))
    assert.isUndefined(anomalyOf(late, volume))
    for (const shift of [-hour, hour]) {
      const night = nights(900, ...usual).map((one, index) => (index === 0 ? { ...one, at: one.at + shift } : one))
      assert.isDefined(anomalyOf(night, volume))
    }
  })
})

describe("disk", () => {
  const falling = (perDay: number) =>
    [5, 4, 3, 2, 1, 0].map((ago) => ({ at: now - ago * day, bytes: 1000 + ago * perDay }))
  it("is full when the trend says so", () => {
    assert.closeTo(daysLeft(falling(100))!, 10, 0.01)
    assert.isUndefined(daysLeft(falling(0)))
    assert.isUndefined(daysLeft(falling(-100)))
    assert.isUndefined(daysLeft(falling(100).slice(-2)), "two days are no trend")
  })
  it("keeps two samples a day, for a month", () => {
    let free: ReturnType<typeof withSample> = []
    for (let hours = 0; hours < 60 * 24; hours++) free = withSample(free, { at: hours * hour, bytes: hours })
    assert.strictEqual(free.length, 30)
    assert.strictEqual(free[1]!.at - free[0]!.at, 12 * hour)
  })
})

const run = (fields: Partial<Run>): Run => ({
  id: "r",
  command: "sync",
  startedAt: now - hour,
  finishedAt: now - hour / 2,
  status: "complete",
  exitCode: 0,
  requests: 100,
  plannedRequests: 100,
  ...fields
})
const reading = (fields: Partial<Facts["readings"][number]>): Facts["readings"][number] => ({
  location: "l",
  resource: "invoices",
  subject: "invoices",
  state: "complete",
  reasons: [],
  completeAt: now - hour,
  unchangedMs: 0,
  ...fields
})
const limits: AlarmLimits = {
  ...readSettings({ noFile: true }, {}).values.alarms,
  requestsPerDay: 199_000,
  diskFreeMb: 500 / 1_000_000
}
const noFacts: Facts = { ...nothing, syncs: [run({})] }
const found = (facts: Partial<Facts>, rest: Rest = {}, own: Partial<AlarmLimits> = {}) =>
  alarmsOf(situationOf({ ...noFacts, ...facts }, rest), { ...limits, ...own })
const withFacts = (...given: Parameters<typeof found>): ReadonlyArray<string> =>
  found(...given).map((one) => `${one.level} ${one.where}`)

describe("an alarm", () => {
  it("has settings of its own, which together are section [alarms]", () =>
    assert.deepStrictEqual(
      Object.values(alarms).flatMap(({ settings }) => Object.keys(settings)),
      Object.keys(alarmsSection)
    ))
  it("is none in a good night", () => assert.deepStrictEqual(withFacts({}), []))
  it("about the sync: incomplete, paused, killed, failed before it began", () => {
    assert.deepStrictEqual(withFacts({ syncs: [run({ exitCode: 3, status: "incomplete" })] }), ["wrong sync"])
    assert.deepStrictEqual(withFacts({ syncs: [run({ exitCode: 75, status: "paused" })] }), ["warning sync"])
    const killed = run({ finishedAt: undefined, exitCode: undefined, status: "interrupted" })
    assert.deepStrictEqual(withFacts({ syncs: [killed, run({})] }), ["warning sync"])
    assert.match(found({ syncs: [killed, run({})] })[0]!.what, /did not end: .*; everything read is kept$/)
    assert.deepStrictEqual(withFacts({ syncs: [killed, run({})] }, { isRunning: true }), [])
    // It could not read on: the service refused the token, or was down.
    assert.deepStrictEqual(withFacts({ syncs: [{ ...killed, exitCode: 77 }, run({})] }), ["wrong sync"])
    assert.deepStrictEqual(withFacts({ syncs: [{ ...killed, exitCode: 75 }, run({})] }), ["warning sync"])
    const failed = { at: now, exitCode: 77, message: "The token is wrong.", next: "set it" }
    assert.deepStrictEqual(withFacts({}, { failed }), ["wrong sync"])
    assert.deepStrictEqual(withFacts({}, { failed: { ...failed, at: now - hour } }), [], "a later run ended well")
  })
  it("about a model that could not be built: a warning if its earlier table stays", () => {
    const failed = (keptAt: number | undefined) => ({
      modelProblems: [{ ...wrong("fct_invoice", "1/0"), keptAt }]
    })
    assert.deepStrictEqual(withFacts(failed(undefined)), ["wrong models:fct_invoice"])
    assert.deepStrictEqual(withFacts(failed(now - hour)), ["warning models:fct_invoice"])
  })
  it("about a target that does not get what is new, until it does, and not while a run works", () => {
    const target = {
      name: "warehouse",
      run: "r0",
      deliveredAt: now - 50 * hour,
      failedSince: now - 26 * hour,
      problem: "refused"
    }
    assert.deepStrictEqual(withFacts({ targets: [target] }), ["wrong target:warehouse"])
    assert.deepStrictEqual(withFacts({ targets: [target] }, { isRunning: true }), [])
    const causesOf = (isRunning: boolean) =>
      situationOf({ ...nothing, targets: [target] }, { isRunning }).verdict.causes.map(({ kind }) => kind)
    assert.deepStrictEqual([causesOf(false), causesOf(true)], [["target"], []])
    assert.deepStrictEqual(withFacts({ targets: [{ ...target, failedSince: undefined, problem: undefined }] }), [])
    const [late, never] = found({
      targets: [target, { ...target, name: "new", run: undefined, deliveredAt: undefined }]
    })
    assert.strictEqual(late!.what, "it has not got what is new for 26 h; it has those of run r0, which it got 50 h ago")
    assert.strictEqual(never!.what, "it has not got what is new for 26 h; it never got any tables")
    for (const { what } of [late!, never!]) assert.notInclude(what, "refused", "a server's words may quote values")
  })
  it("about a limit that leaves something out", () => {
    const limit = {
      place: "contacts_wide",
      what: "columns",
      allowed: 1000,
      found: 1001,
      leftOut: ["a"],
      whole: "values"
    }
    assert.deepStrictEqual(withFacts({ limits: [limit] }), ["warning limit:contacts_wide"])
  })
  it("about a clock that was wrong in the last sync that ended, and in no earlier one", () => {
    const wrong = { clockAheadMs: -2 * 86_400_000 }
    assert.deepStrictEqual(withFacts({ syncs: [run(wrong), run({})] }), ["warning clock"])
    assert.deepStrictEqual(withFacts({ syncs: [run({}), run(wrong)] }), [])
  })
  it("about no age by a clock that the last sync found to be wrong, unless it was set since", () => {
    const late = { readings: [reading({ subject: "notes", completeAt: now - 50 * hour })] }
    const syncs = (clockAheadMs: number, ago: number) => [
      run({ ...(clockAheadMs !== 0 && { clockAheadMs }), finishedAt: now - ago * hour, startedAt: now - ago * hour })
    ]
    assert.deepStrictEqual(withFacts({ ...late, syncs: syncs(0, 50) }), ["warning freshness:notes"])
    assert.deepStrictEqual(withFacts({ ...late, syncs: syncs(2 * day, 50) }), ["warning clock"])
    assert.deepStrictEqual(withFacts({ ...late, syncs: syncs(2 * day, 1) }), [
      "warning freshness:notes",
      "warning clock"
    ])
    assert.deepStrictEqual(withFacts({ ...late, syncs: syncs(-day, 50) }), ["wrong freshness:notes", "warning clock"])
  })
  it("about a table that an earlier run did not read to its end, until a run does", () => {
    const syncs = [run({ id: "r2" }), run({ id: "r1", exitCode: 3, status: "incomplete" })]
    const last = (run: string, state: Facts["readings"][number]["state"]) => ({
      syncs,
      readings: [reading({ state, last: { run } as NonNullable<Facts["readings"][number]["last"]> })]
    })
    assert.deepStrictEqual(withFacts(last("r1", "incomplete")), ["wrong sync"])
    assert.deepStrictEqual(withFacts(last("r1", "interrupted")), ["wrong sync"])
    assert.deepStrictEqual(withFacts(last("r1", "complete_with_warnings")), [])
    assert.deepStrictEqual(withFacts(last("r2", "complete")), [])
  })
  it("about one location of several names it, why it cannot be read, and the setting that mends it", () => {
    const detail = { message: "401 Invalid JWT", answered: 401 }
    const readings = ["one", "two", "three"].flatMap((location) =>
      ["contacts", "invoices"].map((resource) =>
        reading({
          location,
          resource,
          subject: `${location}/${resource}`,
          ...(location === "two" && {
            state: "incomplete",
            reasons: [{ _tag: "LocationUnreadable", detail }],
            completeAt: now - 99 * hour
          })
        })
      )
    )
    const [alarm, ...others] = found({ readings, syncs: [run({ exitCode: 3, status: "incomplete" })] })
    assert.deepStrictEqual(others, [])
    assert.deepInclude(alarm, {
      where: "sync:two",
      level: "wrong",
      what: "two: the location cannot be read: 401 Invalid JWT",
      next: "set account.token to a valid token of location two, then ./sluice sync; it reads only what is missing."
    })
  })
  it("about freshness: from the limits on, and not while the sync itself is one", () => {
    const aged = (age: number) => ({
      readings: [reading({ subject: "contacts", completeAt: now - age })]
    })
    assert.deepStrictEqual(withFacts(aged(30 * hour)), [])
    assert.deepStrictEqual(withFacts(aged(30 * hour + 1)), ["warning freshness:contacts"])
    assert.deepStrictEqual(withFacts(aged(54 * hour + 1)), ["wrong freshness:contacts"])
    assert.deepStrictEqual(withFacts({ ...aged(99 * hour), syncs: [run({ exitCode: 3 })] }), ["wrong sync"])
  })
  it("about rejects, from five and the share on", () => {
    const rejecting = (rows: number, rejected: number) =>
      withFacts({ standing: [{ location: "L", resource: "invoices", subject: "invoices", rows, rejected }] })
    assert.deepStrictEqual(rejecting(100, 5), ["warning rejects:invoices"])
    assert.deepStrictEqual(rejecting(100, 4), [])
    assert.deepStrictEqual(rejecting(500, 5), [])
  })
  it("about requests: far more than planned", () => {
    assert.deepStrictEqual(withFacts({ syncs: [run({ requests: 3001, plannedRequests: 1000 })] }), ["warning requests"])
    assert.deepStrictEqual(withFacts({ syncs: [run({ requests: 3000, plannedRequests: 1000 })] }), [])
    assert.deepStrictEqual(withFacts({ syncs: [run({ requests: 90, plannedRequests: 10 })] }), [])
  })
  it("about the budget: a week ahead", () => {
    const past = (requests: (ago: number) => number) =>
      Array.from({ length: 14 }, (_, ago) =>
        run({ startedAt: now - ago * day - hour, requests: requests(ago), plannedRequests: undefined })
      )
    assert.deepStrictEqual(withFacts({ syncs: past(() => 120_000) }), [])
    assert.deepStrictEqual(withFacts({ syncs: past((ago) => 170_000 - ago * 9000) }), ["warning budget"])
    assert.deepStrictEqual(withFacts({ syncs: past((ago) => (ago === 0 ? 190_000 : 100)) }), [], "one first sync")
  })
  it("about the disk, the token, and what the service sends", () => {
    assert.deepStrictEqual(withFacts({}, { free: [{ at: now, bytes: 499 }] }), ["wrong disk"])
    const falling = [8, 4, 0].map((ago) => ({ at: now - ago * day, bytes: 1000 + ago * 100 }))
    assert.deepStrictEqual(withFacts({}, { free: falling }), ["warning disk"])
    const token = (tokenExpires: number) => withFacts({}, {}, { tokenExpires })
    assert.deepStrictEqual(token(now + 15 * day), [])
    assert.deepStrictEqual(token(now + 14 * day), ["warning token"])
    assert.deepStrictEqual(token(now), ["wrong token"])
    assert.deepStrictEqual(withFacts({ newFields: ["contacts.tier (new field)"], newValues: ["tasks.x = y"] }), [
      "warning schema",
      "warning values"
    ])
  })
})

describe("the state", () => {
  const alarm: Alarm = { kind: "freshness", where: "freshness:contacts", level: "warning", what: "late", next: "x" }
  /** What is reported night by night. */
  const reported = (
    steps: ReadonlyArray<readonly [alarms: ReadonlyArray<Alarm>, silences?: ReadonlyArray<Silence>]>
  ) => {
    let known: ReturnType<typeof changesOf>["alarms"] = []
    return steps.map(([alarms, silences = []], night) => {
      const { opened, recovered, alarms: next } = changesOf(known, alarms, silences, night * day)
      known = next
      return [...opened.map((one) => `+${one.where}`), ...recovered.map((one) => `-${one.where}`)].join()
    })
  }
  it("reports one alarm and one recovery per bad period, also if the level rises", () => {
    const error: Alarm = { ...alarm, level: "wrong" }
    assert.deepStrictEqual(reported([[[]], [[alarm]], [[error]], [[alarm]], [[]], [[]], [[alarm]], [[]]]), [
      "",
      "+freshness:contacts",
      "",
      "",
      "-freshness:contacts",
      "",
      "+freshness:contacts",
      "-freshness:contacts"
    ])
  })
  it("reports nothing that is silenced, by name or by kind, until the silence ends", () => {
    for (const name of ["freshness", "freshness:contacts"]) {
      const silence = [{ alarm: name, reason: "closed", until: 2 * day }]
      assert.deepStrictEqual(reported([[[alarm], silence], [[], silence], [[alarm], silence], [[]]]), [
        "",
        "",
        "+freshness:contacts",
        "-freshness:contacts"
      ])
    }
    const other = [{ alarm: "freshness:tasks", reason: "closed", until: 9 * day }]
    assert.deepStrictEqual(reported([[[alarm], other]]), ["+freshness:contacts"])
  })
  it("keeps its names in the file, also those of an earlier version", async () => {
    const folder = newFolder()
    const file = join(folder, "alarms.json")
    const written = `{"version":1,"alarms":[
      {"kind":"freshness","subject":"contacts","level":"error","message":"late","next":"x","since":5,"silenced":"closed"},
      {"kind":"disk","level":"warning","message":"nearly full","next":"y","since":6}],"free":[{"at":1,"bytes":2}]}`
    writeFileSync(file, written)
    const state = await readState(folder)
    assert.deepStrictEqual(
      state.alarms.map(({ level, where, what }) => `${level} ${where}: ${what}`),
      ["wrong freshness:contacts: late", "warning disk: nearly full"]
    )
    await writeState(folder, state)
    assert.deepStrictEqual(JSON.parse(readFileSync(file, "utf8")), JSON.parse(written))
  })
})

/** Each alarm just before and just at its limit. */
import { assert, describe, it } from "@effect/vitest"
import { type AlarmKind, type AlarmLimits, alarms, alarmsOf, nameOf } from "../../src/alarms/alarms.ts"
import type { Facts } from "../../src/alarms/facts.ts"
import type { FailedRun } from "../../src/alarms/verdict.ts"
import { noFacts } from "../../src/alarms/watch.ts"
import { silencesOf } from "../../src/alarms/silence.ts"
import { anomalyOf, isComparable, median } from "../../src/alarms/volume.ts"
import type { Run } from "../../src/stores/warehouse/meta/runs.ts"
import { type Rest, now, situationOf } from "./situation.ts"

const [hour, day] = [3_600_000, 86_400_000]
const run = (fields: Partial<Run> = {}): Run =>
  ({
    id: "r",
    command: "sync",
    startedAt: now - hour,
    finishedAt: now - 1000,
    status: "complete",
    exitCode: 0,
    ...fields
  }) as Run
const limits = {
  warnAfter: 30 * hour,
  errorAfter: 54 * hour,
  rejectShare: 0.01,
  requestsPerDay: 1000,
  diskFreeMb: 500,
  volumeSensitivity: 3
}
/** The level of the alarm of a kind; `none` if it is none. */
const level = (kind: AlarmKind, facts: object, rest: Rest = {}, own: Partial<AlarmLimits> = {}) => {
  const situation = situationOf({ ...noFacts, syncs: [run()], ...facts }, rest)
  const found = alarms[kind].check(situation, { ...limits, ...own } as AlarmLimits)
  return found.map(({ level }) => level).join() || "none"
}
const reading = (fields: object) => ({
  location: "l",
  resource: "t",
  subject: "t",
  state: "complete",
  reasons: [],
  unchangedMs: 0,
  completeAt: now,
  ...fields
})

describe("an alarm at its limit", () => {
  it.each([
    [30 * hour, "none"],
    [30 * hour + 1, "warning"],
    [54 * hour, "warning"],
    [54 * hour + 1, "wrong"]
  ])("a table of %i ms: %s", (age, expected) => {
    assert.strictEqual(level("freshness", { readings: [reading({ completeAt: now - age })] }), expected)
    // A parent that vouches for it counts.
    const vouched = reading({ completeAt: now - 200 * hour, checkedAt: now - age, unchangedMs: 200 * hour })
    assert.strictEqual(level("freshness", { readings: [vouched] }), expected)
  })

  it.each([
    [4, 100, "none"],
    [5, 100, "warning"],
    [5, 499, "warning"],
    [5, 500, "none"],
    [6, 500, "warning"],
    [5, 0, "warning"]
  ])("%i rejects beside %i rows: %s", (rejected, rows, expected) =>
    assert.strictEqual(level("rejects", { standing: [{ subject: "t", rejected, rows }] }), expected)
  )

  it.each([
    [3000, 1000, "none"],
    [3001, 1000, "warning"],
    [509, 10, "none"],
    [510, 10, "warning"],
    [700, 233, "none"],
    [undefined, 10, "none"],
    [9000, undefined, "none"]
  ])("%o requests, where %o were planned: %s", (requests, plannedRequests, expected) =>
    assert.strictEqual(level("requests", { syncs: [run({ requests, plannedRequests } as Partial<Run>)] }), expected)
  )

  it.each([
    [1000, 1000, "none"],
    [1001, 1001, "warning"],
    [800, 600, "none"],
    [801, 600, "warning"],
    [900, 1000, "none"],
    [1000, 0, "none"]
  ])("a day of %i requests, a week before %i: %s", (recent, before, expected) => {
    const syncs = Array.from({ length: 14 }, (_, ago) =>
      run({ startedAt: now - ago * day - hour, requests: ago < 7 ? recent : before })
    )
    assert.strictEqual(level("budget", { syncs }), expected)
  })

  it.each([
    [499_999_999, "wrong"],
    [500_000_000, "none"]
  ])("%i bytes that are free: %s", (bytes, expected) =>
    assert.strictEqual(level("disk", {}, { free: [{ at: now, bytes }] }), expected)
  )

  it.each([
    [13, "warning"],
    [14, "none"],
    [15, "none"]
  ])("a disk that is full in %i days: %s", (days, expected) => {
    const free = [4, 2, 0].map((ago) => ({ at: now - ago * day, bytes: 1e9 * (days + ago) }))
    assert.strictEqual(level("disk", {}, { free }), expected)
  })

  it.each([
    [14 * day + 1, "none"],
    [14 * day, "warning"],
    [1, "warning"],
    [0, "wrong"],
    [-day, "wrong"]
  ])("a token that expires in %i ms: %s", (left, expected) =>
    assert.strictEqual(level("token", {}, {}, { tokenExpires: now + left }), expected)
  )
  it("a token of which nobody knows the day: none", () => assert.strictEqual(level("token", {}), "none"))
})

describe("the alarm about the sync", () => {
  const failed = (at: number): { readonly failed: FailedRun } => ({
    failed: { at, exitCode: 78, message: "no", next: "x" }
  })
  const last = run({ finishedAt: now })
  const killed = run({
    id: "k",
    finishedAt: undefined,
    exitCode: undefined,
    status: "interrupted"
  } as unknown as Partial<Run>)
  it.each([
    ["a run that failed when the last one ended", { syncs: [last] }, failed(now), "wrong"],
    ["a run that failed before", { syncs: [last] }, failed(now - 1), "none"],
    ["a run that failed, and no other", { syncs: [] }, failed(0), "wrong"],
    ["no run", { syncs: [] }, {}, "none"],
    ["a run that paused", { syncs: [run({ exitCode: 75 })] }, {}, "warning"],
    ["a run in part", { syncs: [run({ exitCode: 3 })] }, {}, "wrong"],
    ["a run that was killed", { syncs: [killed, last] }, {}, "warning"],
    ["a run that works", { syncs: [killed, last] }, { isRunning: true }, "none"],
    ["a run that works, after one in part", { syncs: [killed, run({ exitCode: 3 })] }, { isRunning: true }, "wrong"],
    ["a table that an earlier run left", { readings: [reading({ state: "incomplete" })] }, {}, "wrong"],
    ["a table that no run has read", { readings: [reading({ state: "never" })] }, {}, "none"]
  ] as ReadonlyArray<readonly [string, object, Parameters<typeof level>[2], string]>)(
    "%s: %o",
    (_, facts, rest, expected) => assert.strictEqual(level("sync", facts, rest), expected)
  )

  it("keeps the freshness quiet, which follows from it", () => {
    const readings = [reading({ completeAt: 0 })]
    assert.strictEqual(level("freshness", { readings, syncs: [run({ exitCode: 3 })] }), "none")
    assert.strictEqual(level("freshness", { readings }), "wrong")
  })
})

it("each fact is an alarm of its own kind, named by what it is about, and says what was found", () => {
  const facts = {
    standing: [
      { subject: "first-0", rejected: 71, rows: 100 },
      { subject: "second-0", rejected: 72, rows: 100 }
    ],
    modelProblems: [
      { where: "first-1", keptAt: now - 71 * hour },
      { where: "second-1", keptAt: undefined }
    ],
    targets: [
      { name: "first-2", run: "run-71", deliveredAt: now - 9 * hour, failedSince: now - 3 * hour },
      { name: "second-2", failedSince: now - 72 * hour },
      { name: "third-2", run: "run-73", deliveredAt: now - 9 * hour }
    ],
    limits: [
      { place: "first-3", allowed: 71, found: 1072, what: "fields", whole: "elsewhere" },
      { place: "second-3", allowed: 72, found: 1073, what: "rows", whole: "elsewhere" }
    ],
    unknownTimeZones: [
      { location: "first-4", timeZone: "Mars/71" },
      { location: "second-4", timeZone: "Mars/72" }
    ],
    newFields: ["first-5", "second-5"],
    newValues: ["first-6", "second-6"]
  }
  const kinds = {
    standing: ["rejects", /^71 rejected.*100 rows.*1 %/, /^72 /],
    modelProblems: ["models", /keeps its table of 71 h/, /has no table/],
    targets: ["target", /for 3 h; it has those of run run-71, which it got 9 h/, /for 72 h; it never got/],
    limits: ["limit", /for 71 fields, and there are 1,072/, /for 72 rows, and there are 1,073/],
    unknownTimeZones: ["time_zone", /Mars\/71/, /Mars\/72/],
    newFields: ["schema", /fields.*first-5, second-5/],
    newValues: ["values", /values.*first-6, second-6/]
  } as const
  for (const [index, [name, [kind, ...texts]]] of Object.entries(kinds).entries()) {
    const own = { [name]: facts[name as keyof typeof facts] }
    const found = alarmsOf(situationOf({ ...noFacts, syncs: [run()], ...own } as Facts), limits as AlarmLimits)
    const subjects = texts.length > 1 ? [`${kind}:first-${index}`, `${kind}:second-${index}`] : [kind]
    assert.deepStrictEqual(
      found.map(({ where }) => where),
      subjects,
      name
    )
    for (const [n, text] of texts.entries()) assert.match(found[n]!.what, text)
  }
  const all = alarmsOf(situationOf({ ...noFacts, syncs: [run()], ...facts } as unknown as Facts), limits as AlarmLimits)
  assert.deepStrictEqual(
    [...new Set(all.map(({ kind }) => kind))],
    Object.values(kinds).map(([kind]) => kind)
  )
})

describe("a night", () => {
  const nights = (changed: number, usual: ReadonlyArray<number>, gapHours = 24) =>
    [changed, ...usual, 0].map((count, n) => ({
      at: now - n * day + (n === 0 ? (gapHours - 24) * hour : 0),
      changed: count
    }))
  const isUnusual = (changed: number, usual: ReadonlyArray<number>, gapHours?: number) =>
    anomalyOf(nights(changed, usual, gapHours), limits) !== undefined
  const steady = Array<number>(6).fill(100)
  it("is compared with seven before, none of which is half a day or two days long", () => {
    assert.isFalse(isComparable(nights(0, steady)))
    assert.isTrue(isComparable(nights(0, [...steady, 100])))
    assert.deepStrictEqual(
      [17, 18, 32, 33].map((hours) => isComparable(nights(0, [...steady, 100], hours))),
      [false, true, true, false]
    )
  })

  it("is unusual beyond three deviations, and by at least fifty rows", () => {
    // Of 400 rows, the deviation is at least 20.
    const usual = Array<number>(6).fill(400).concat(400)
    assert.deepStrictEqual(
      [460, 461, 340, 339].map((changed) => isUnusual(changed, usual.with(6, 2000))),
      [false, true, false, true]
    )
    const few = [...steady.map(() => 1), 1]
    assert.deepStrictEqual(
      [50, 51].map((changed) => isUnusual(changed, few)),
      [false, true]
    )
  })

  it("has the larger middle of an even number as its median", () => {
    assert.strictEqual(median([3, 1, 2]), 2)
    assert.strictEqual(median([4, 1, 2, 3]), 3)
    assert.strictEqual(median([10, 9, 100]), 10)
  })
})

it("an alarm is named by its kind and what it is about, and silenced to the end of a day", () => {
  assert.strictEqual(nameOf({ kind: "disk" }), "disk")
  assert.strictEqual(nameOf({ kind: "rejects", subject: "contacts" }), "rejects:contacts")
  const [silence, ...none] = silencesOf([
    { alarm: "disk", reason: "r", until: "2026-03-16" },
    { alarm: "disk", reason: "r" }
  ] as never)
  assert.deepStrictEqual([silence!.until, none.length], [Date.parse("2026-03-17"), 0])
})

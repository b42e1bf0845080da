/** A fleet's schedule on the days on which the clock changes, as pg-boss reads it. */
import { assert, describe, it } from "@effect/vitest"
import { occurrencesInWindow } from "../../node_modules/pg-boss/dist/rrule.js"
import { recurrencesOf } from "../../src/features/fleet/recurrence.ts"

const now = Date.parse("2026-09-01T00:00:00Z")
/** The occurrences of a day and a night around it, as UTC. */
const runs = (fields: string, timeZone: string, from: string, to: string): ReadonlyArray<string> =>
  recurrencesOf(fields, timeZone, now)
    .flatMap((rule) => occurrencesInWindow(rule, new Date(Date.parse(from) - 1), new Date(to), timeZone))
    .map((at) => at.toISOString().slice(0, 16))
    .toSorted()

describe("a schedule", () => {
  it.each([
    // The clock skips the time: at the moment at which it goes on.
    ["30 2 * * *", "Europe/Berlin", "2027-03-28", ["2027-03-28T01:00"]],
    ["30 2 * * *", "America/New_York", "2027-03-14", ["2027-03-14T07:00"]],
    ["15 2 * * *", "Australia/Lord_Howe", "2026-10-03", ["2026-10-03T15:30"]],
    ["30 0 * * *", "Africa/Cairo", "2027-04-29", ["2027-04-29T22:00"]],
    ["0,30 2 * * *", "Europe/Berlin", "2027-03-28", ["2027-03-28T01:00"]],
    ["0 2,3 * * *", "Europe/Berlin", "2027-03-28", ["2027-03-28T01:00"]],
    // The clock has the time twice: the first one.
    ["30 2 * * *", "Europe/Berlin", "2026-10-25", ["2026-10-25T00:30"]],
    ["30 1 * * *", "America/New_York", "2026-11-01", ["2026-11-01T05:30"]],
    ["45 1 * * *", "Australia/Lord_Howe", "2027-04-03", ["2027-04-03T14:45"]],
    // Any other time, on these days and on others.
    ["30 4 * * *", "Europe/Berlin", "2027-03-28", ["2027-03-28T02:30"]],
    ["30 4 * * *", "Europe/Berlin", "2026-10-25", ["2026-10-25T03:30"]],
    ["30 2 * * *", "Europe/Berlin", "2027-03-27", ["2027-03-27T01:30"]],
    ["30 2 * * *", "Europe/Berlin", "2027-03-29", ["2027-03-29T00:30"]],
    ["30 2 * * *", "UTC", "2027-03-28", ["2027-03-28T02:30"]],
    // Only on the days that it names.
    ["30 2 * * 1-5", "Europe/Berlin", "2027-03-28", []],
    ["30 2 * * 0", "Europe/Berlin", "2027-03-28", ["2027-03-28T01:00"]],
    ["30 2 1 * *", "Europe/Berlin", "2027-03-28", []],
    ["30 2 1 * 0", "Europe/Berlin", "2027-03-28", ["2027-03-28T01:00"]],
    ["30 2 1 * 1", "Europe/Berlin", "2027-02-01", ["2027-02-01T01:30"]],
    ["30 2 1 * 1", "Europe/Berlin", "2027-03-01", ["2027-03-01T01:30"]],
    ["30 2 */2 * 0", "Europe/Berlin", "2027-03-28", []],
    ["30 2 * 4-12 *", "Europe/Berlin", "2027-03-28", []]
  ] as const)("%s in %s on %s is %j", (fields, timeZone, day, expected) => {
    const next = new Date(Date.parse(day) + 86_399_000).toISOString()
    assert.deepStrictEqual(runs(fields, timeZone, day, next), expected)
  })

  it("is read by pg-boss minute by minute as in one piece", { tags: ["slow"] }, () => {
    for (const [timeZone, day] of [
      ["Europe/Berlin", "2027-03-28"],
      ["Europe/Berlin", "2026-10-25"],
      ["America/New_York", "2027-03-14"],
      ["America/New_York", "2026-11-01"]
    ] as const) {
      const [rule] = recurrencesOf("30 2 * * *", timeZone, now)
      const found = new Set<number>()
      for (let at = Date.parse(day); at < Date.parse(day) + 10 * 3_600_000; at += 30_000)
        for (const one of occurrencesInWindow(rule!, new Date(at - 60_000), new Date(at), timeZone))
          found.add(one.getTime())
      assert.strictEqual(found.size, 1, `${timeZone} ${day}`)
    }
  })

  it("has one run a day for ten years, in each zone", { tags: ["slow"] }, () => {
    for (const timeZone of [
      "Europe/Berlin",
      "America/New_York",
      "Australia/Lord_Howe",
      "America/Santiago",
      "Asia/Kolkata"
    ])
      for (const fields of ["30 2 * * *", "0 0 * * *", "30 1 * * *"]) {
        const all = runs(fields, timeZone, "2026-09-02T12:00:00Z", "2036-08-30T12:00:00Z")
        const days = (Date.parse("2036-08-30") - Date.parse("2026-09-02")) / 86_400_000
        assert.lengthOf(all, days, `${timeZone} ${fields}`)
      }
  })
})

/** Times as ISO 8601 allows them, and numbers only in a unit that makes them a time. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { dayText, instantText } from "../../src/catalog/timestamps.ts"
import { literal } from "../../src/stores/warehouse/sql.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

/** What is sent, and the time in UTC that it means; `undefined` if it is none. */
const cases: ReadonlyArray<readonly [sent: unknown, utc: string | undefined]> = [
  ["2026-01-01 10:00:00+00", "2026-01-01T10:00:00"],
  ["2026-01-01T10:00:00+05", "2026-01-01T05:00:00"],
  ["2026-01-01T10:00:00+0530", "2026-01-01T04:30:00"],
  ["2026-01-01T10:00:00 -05:00", "2026-01-01T15:00:00"],
  ["2026-01-01T10:00:00z", "2026-01-01T10:00:00"],
  ["2026-01-01t10:00:00-00:00", "2026-01-01T10:00:00"],
  ["2026-01-01T10:00:00,123Z", "2026-01-01T10:00:00.123"],
  ["2026-01-01T10:00:00.1234567899Z", "2026-01-01T10:00:00.123456"],
  ["2026-12-31T24:00:00Z", "2027-01-01T00:00:00"],
  ["2026-02-28T24:00+01:00", "2026-02-28T23:00:00"],
  ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00"],
  ["2016-12-31T23:59:60.5Z", "2017-01-01T00:00:00.5"],
  ["20260101T100000Z", "2026-01-01T10:00:00"],
  ["20260101T1000+0530", "2026-01-01T04:30:00"],
  ["20260101", "2026-01-01T00:00:00"],
  [" 2026-01-01T10:00:00Z\n", "2026-01-01T10:00:00"],
  ["2026-01-01 10:00:00 UTC", "2026-01-01T10:00:00"],
  ["2026/01/05 10:00", "2026-01-05T10:00:00"],
  ["1/5/2026", "2026-01-05T00:00:00"],
  ["1767261600000", "2026-01-01T10:00:00"],
  ["1767261600000.0", "2026-01-01T10:00:00"],
  [" 1767261600000 ", "2026-01-01T10:00:00"],
  [1_767_261_600_000.5, "2026-01-01T10:00:00.0005"],
  [JSON.rawJSON("1767261600000.12345"), "2026-01-01T10:00:00.000123"],
  [-0.25 - 12_345_678_901, "1969-08-11T02:38:41.09875"],
  // Midnight in 1969 and 1970, in UTC and in India.
  [0, "1970-01-01T00:00:00"],
  [-86_400_000, "1969-12-31T00:00:00"],
  // Seconds, also those that would be a quarter of an hour in milliseconds.
  [1_749_600_000, "2025-06-11T00:00:00"],
  [1_767_600_000, "2026-01-05T08:00:00"],
  [1_771_200_000, "2026-02-16T00:00:00"],
  [1_728_000_000, "2024-10-04T00:00:00"],
  [999_900_000, "2001-09-07T22:00:00"],
  [946_684_800, "2000-01-01T00:00:00"],
  [100_800_000, "1973-03-12T16:00:00"],
  [99_900_000, "1970-01-02T03:45:00"],
  // Milliseconds of 1970 to 1973: the seconds would be of the years 2286 to 5138.
  [10_000_000_000, "1970-04-26T17:46:40"],
  [99_999_999_000, "1973-03-03T09:46:39"],
  ["99999999000", "1973-03-03T09:46:39"],
  [100_000_000_000, "1973-03-03T09:46:40"],
  [1_767_261_600, "2026-01-01T10:00:00"],
  [1_767_261_600.25, "2026-01-01T10:00:00.25"],
  [-62_135_596_800_000, "0001-01-01T00:00:00"],
  [253_402_300_799_999, "9999-12-31T23:59:59.999"],
  ["9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999"],
  ["0001-01-01T00:00:00-12:00", "0001-01-01T12:00:00"],
  // A quantity, a year, a day as a number, a phone number.
  [5, undefined],
  [2026, undefined],
  [20_260_101, undefined],
  [-5, undefined],
  ["0", undefined],
  ["7776000000", undefined],
  [-62_135_596_800_000.5, undefined],
  [253_402_300_800_000, undefined],
  [1_767_261_600_000_000, undefined],
  [1e300, undefined],
  ["0001-01-01T00:00:00+14:00", undefined],
  ["9999-12-31T23:59:59-12:00", undefined],
  ["9999-12-31T24:00:00Z", undefined],
  ["0000-12-31T00:00:00Z", undefined],
  ["2026-01-01T24:00:01Z", undefined],
  ["2026-01-01T24:00:00.1Z", undefined],
  ["2026-01-01T23:59:61Z", undefined],
  ["2026-01-01T23:60:00Z", undefined],
  ["2026-01-01T10:00:00+19:00", undefined],
  ["2023-02-29T10:00:00Z", undefined],
  ["1900-02-29T10:00:00Z", undefined],
  ["2026-01/05", undefined],
  ["2026-01-01Tgarbage", undefined],
  ["2026-01-01 or later", undefined],
  ["31/12/2026", undefined],
  ["1.5", undefined],
  ["", undefined],
  [true, undefined]
]

describe("a timestamp", () => {
  it.each(cases)("%j means %s", (sent, utc) => {
    const text = instantText(sent)
    if (utc === undefined) return assert.isUndefined(text)
    // Date holds milliseconds.
    const [, micros = ""] = /\.\d{3}(\d{3})/.exec(text!) ?? []
    const ms = new Date(text!).toISOString().slice(0, 23)
    assert.strictEqual(`${ms}${micros}`.padEnd(26, "0"), utc.padEnd(20, ".").padEnd(26, "0"))
  })

  it.live("is the same to DuckDB, in every notation", () =>
    Effect.gen(function* () {
      const random = randomFrom(8)
      const pick = <A>(values: ReadonlyArray<A>) => values[Math.floor(random() * values.length)]!
      const two = (below: number, from = 0) => String(from + Math.floor(random() * (below - from))).padStart(2, "0")
      const texts = Array.from({ length: 3000 }, () => {
        const sign = pick(["-", "-", "/", ""])
        const colon = pick([":", ":", ""])
        const date = [pick(["0001", "0999", "1969", "2024", "2026", "9999"]), two(13, 1), two(32, 1)].join(sign)
        const time = `${two(25)}${colon}${two(60)}${pick(["", `${colon}${two(61)}`, `${colon}${two(61)}${pick([".", ","])}${Math.floor(random() * 1e12)}`])}`
        return `${date}${pick(["T", " ", "t"])}${time}${pick(["", "Z", "+00", "-1130", "+14:00", " +05:30"])}`
      })
      const read = texts.flatMap((text) => instantText(text) ?? [])
      assert.isAbove(read.length, 2000)
      const rows = yield* (yield* Warehouse).rows(
        `SELECT t, floor(epoch_us(t::TIMESTAMPTZ) / 1000)::BIGINT AS ms, year(t::TIMESTAMPTZ) AS year FROM (VALUES ${read.map((text) => `(${literal(text)})`).join(", ")}) AS texts (t)`
      )
      for (const { t, ms, year } of rows) {
        assert.strictEqual(Number(ms), Date.parse(String(t)), String(t))
        assert.isTrue(Number(year) >= 1 && Number(year) <= 9999, String(t))
      }
    }).pipe(Effect.provide(Warehouse.layer(join(newFolder(), "w.duckdb"), { access: "write", memoryMb: 128 })))
  )
})

describe("a day", () => {
  // A birthday may be in 1970; the time of an event is not.
  it.each([
    [2_678_400_000, "1970-02-01"],
    [7_776_000_000, "1970-04-01"],
    [1_708_200_000, "1970-01-20"],
    [1_767_261_600, "2026-01-01"],
    ["1970-04-01T23:00:00-05:00", "1970-04-01"]
  ])("that is sent as %s is %s", (sent, day) => assert.strictEqual(dayText(sent), day))
})

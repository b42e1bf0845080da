/** Every model of drawn accounts is computed a second time from the records of the service, and compared value by value. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { inMemory } from "../../../src/stores/warehouse/in-memory.ts"
import { draw } from "./draw.ts"
import { byLoader, byNormaliser, withAccounts } from "./load.ts"
import { query } from "../../support/compare.ts"
import { questions } from "../questions.ts"
import { answers } from "./questions.ts"
import { wrongInReport } from "./report-page.ts"
import { secondly } from "./second.ts"
import { countsAs, factsOf, statesOf } from "./states.ts"
import { wrongIn } from "./shrink.ts"

const drawn = (count: number, first = 1) => Array.from({ length: count }, (_, index) => draw(first + index))

describe("the models of a drawn account", () => {
  it("are what its records say", async () => assert.strictEqual(await wrongIn(drawn(2)), ""))

  it("are what its records say, of 200 accounts", { tags: ["slow"] }, async () =>
    assert.strictEqual(await wrongIn(drawn(200)), "")
  )

  it("are all computed, and have rows", { tags: ["slow"] }, async () => {
    const worlds = drawn(30)
    const found = worlds.map((world) => secondly(world, worlds))
    const models = await withAccounts(drawn(1), byNormaliser, (modelsOf) => modelsOf())
    assert.deepStrictEqual([...found[0]!.keys(), "dim_date", "dim_state"].sort(), [...models.keys()].sort())
    for (const model of found[0]!.keys()) assert.isAbove(found.flatMap((one) => one.get(model)!).length, 20, model)
  })

  it("know the states that the second computation knows, as what it counts them", async () => {
    const sql = readFileSync(new URL("../../../models/marts/dim_state.sql", import.meta.url), "utf8")
    const rows = await inMemory(async (connection) => (await connection.runAndReadAll(sql)).getRowObjectsJson())
    const listed = rows.flatMap((row) =>
      row["fact"] === "fct_task" ? [] : [`${row["fact"]} ${row["state"]}: ${row["counts_as"]}`]
    )
    const known = factsOf.flatMap(([fact, thing]) =>
      statesOf(thing).map((state) => `${fact} ${state}: ${countsAs(thing, state)}`)
    )
    assert.sameMembers(listed, known)
  })

  it("are those of the tables as the loader fills them", { tags: ["slow"] }, async () => {
    const worlds = drawn(4)
    const lines = async (fill: typeof byLoader) =>
      new Map(
        Array.from(await withAccounts(worlds, fill, (modelsOf) => modelsOf()), ([model, rows]) => [
          model,
          rows.map((row) => JSON.stringify(row)).sort()
        ])
      )
    const [loaded, written] = [await lines(byLoader), await lines(byNormaliser)]
    // What the runs did is drawn, and not counted by the loader.
    for (const model of written.keys())
      if (!["fct_daily_change", "mart_freshness"].includes(model))
        assert.deepStrictEqual(loaded.get(model), written.get(model), model)
  })

  it(
    "differ once a model forgets a location, and the message has the records that show it",
    { tags: ["slow"] },
    async () => {
      const wrong = await wrongIn(drawn(12), (_, sql) =>
        sql.replace("ON calendars.location_id = appointments.location_id AND", "ON")
      )
      assert.match(wrong, /fct_appointment \S+ a\d: \d+ rows, but 1/)
      assert.isAtMost(wrong.split("\n").filter((line) => line.startsWith("[")).length, 6, wrong)
    }
  )
})

describe("the report of drawn accounts", () => {
  it("says what their records say", { tags: ["slow"] }, async () => {
    for (let first = 1; first < 31; first += 5)
      assert.deepStrictEqual(await wrongInReport(drawn(5, first), 6), [], `from ${first}`)
  })
})

describe("the ten questions of docs/models.md", () => {
  it("are answered as the records of drawn accounts say", { tags: ["slow"] }, async () => {
    const line = (row: Readonly<Record<string, unknown>>) =>
      JSON.stringify(
        Object.entries(row)
          .map(([name, value]) => [
            name,
            /^-?[\d.]+$/.test(String(value)) ? Number(Number(value).toFixed(4)) : (value ?? null)
          ])
          .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1))
      )
    const seen = questions.map(() => 0)
    for (let first = 1; first < 61; first += 20) {
      const worlds = drawn(20, first)
      const rows = worlds.map((world) => secondly(world, worlds))
      await withAccounts(worlds, byNormaliser, async (modelsOf, path) => {
        await modelsOf()
        for (const [index, sql] of questions.entries()) {
          const expected = answers[index]!((model) => rows.flatMap((one) => one.get(model)!))
          seen[index]! += expected.length
          assert.deepStrictEqual(
            (await query(path, sql)).map(line).sort(),
            expected.map(line).sort(),
            `${first}: ${sql}`
          )
        }
      })
    }
    for (const [index, count] of seen.entries()) assert.isAbove(count, 8, questions[index])
  })
})

describe("dim_date", () => {
  it("has the days, weeks and months of the calendar", async () => {
    const rows = (await withAccounts(drawn(1), byNormaliser, (modelsOf) => modelsOf())).get("dim_date")!
    const dayMs = 86_400_000
    const text = (ms: number) => new Date(ms).toISOString().slice(0, 10)
    const first = Date.UTC(2010, 0, 1)
    assert.lengthOf(rows, (Date.UTC(2041, 0, 1) - first) / dayMs)
    const expected = rows.map((_, index) => {
      const ms = first + index * dayMs
      const date = new Date(ms)
      const weekday = date.getUTCDay() || 7
      // The week belongs to the year of its Thursday.
      const thursday = ms + (4 - weekday) * dayMs
      const isoYear = new Date(thursday).getUTCFullYear()
      return {
        date_day: text(ms),
        iso_year: String(isoYear),
        iso_week: String(1 + Math.floor((thursday - Date.UTC(isoYear, 0, 1)) / dayMs / 7)),
        calendar_year: String(date.getUTCFullYear()),
        calendar_quarter: String(1 + Math.floor(date.getUTCMonth() / 3)),
        calendar_month: String(1 + date.getUTCMonth()),
        month_start: `${text(ms).slice(0, 8)}01`,
        week_start: text(ms + (1 - weekday) * dayMs),
        iso_day_of_week: String(weekday),
        is_weekend: weekday >= 6
      }
    })
    const inOrder = rows.toSorted((one, other) => (String(one["date_day"]) < String(other["date_day"]) ? -1 : 1))
    assert.deepStrictEqual(inOrder, expected)
  })
})

/** Charts of sums: which are drawn, and which say nothing. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Account, discard, openSynced } from "../support/account.ts"
import { randomFrom } from "../support/random.ts"
import { type Client, openExplorer } from "./client.ts"

let account: Account
let client: Client
beforeAll(async () => {
  account = await openSynced({ tables: "contacts,opportunities", flags: ["--contacts", "20"], formats: "duckdb" })
  client = await openExplorer(account.output)
})
afterAll(async () => {
  await client.explorer.close()
  discard(account)
})

/** What the chart of a query says that has the column `n`; `isStacked`: bars that stand on each other. */
const chartOf = async (sql: string, isStacked = false) => {
  const { parts, ...answer } = (await client.query(sql)).body
  if (parts === undefined) return answer.error.message as string
  const made = parts.made.n ?? Object.values(parts.made).flat()[0]
  const sums = [...made.sums, ...(isStacked ? made.numbers : [])]
  const points = [["a", 1]]
  const chart = { kind: "bar", xType: "nominal", x: "x", y: "y", points, named: parts.named, sums }
  const { status, body } = await client.post("/api/chart", chart)
  return status === 200 ? "drawn" : (body.error.message as string)
}

/** Functions of an expression: their value has its number, perhaps changed, or does not. */
const changing =
  "E|E * 2|-(E)|coalesce(E, 0)|CAST(E AS DOUBLE)|abs(E)|CASE WHEN won THEN E END|(1 + E)|E / 60.0|greatest(E, 0)|if(won, E, 0)"
const counting =
  "CASE WHEN E > 1 THEN 1 ELSE 0 END|(E IS NULL)::INTEGER|(E BETWEEN 1 AND 3)::INTEGER|if(NOT E > 2, 1, 0)"
const summing =
  "sum(E)|SUM(E)|fsum(E)|kahan_sum(E)|list_sum(list(E))|list_aggregate(list(E), 'sum')|sum(E) FILTER (won)|sum(sum(E)) OVER ()|sum(E) / count(*)|round(100 * sum(E), 2)|coalesce(sum(E), 0)"
const others = "avg(E)|median(E)|max(E)|count(E)|count(*) FILTER (E > 1)|min(E) * 2|first(E)"
const of = (form: string, expression: string) => form.replaceAll(/\bE\b/g, expression)

interface Step {
  readonly form: string
  readonly place: string
}

/** The steps of a query, each in the SELECT of the one before. */
const stepsOf = (random: () => number): ReadonlyArray<Step> => {
  const pick = <A>(all: ReadonlyArray<A>): A => all[Math.floor(random() * all.length)]!
  return Array.from({ length: pick([1, 2, 3, 4]) }, () => ({
    form: pick(pick([changing, changing, changing, counting, summing, others]).split("|")),
    place: pick(["subquery", "with", "alias", "capitals"])
  }))
}
/** A query whose column `n` is made of a number in these steps. */
const queryOf = (drawn: ReadonlyArray<Step>): string => {
  const tables: Array<string> = []
  let from = "(SELECT is_won AS won, stage_position AS n FROM bi.fct_opportunity)"
  for (const { form, place } of drawn) {
    const isGrouped = summing.split("|").includes(form) || others.split("|").includes(form)
    const name = place === "capitals" ? "N" : place === "alias" && !isGrouped ? "m" : "n"
    const before = name === "m" ? "n AS m, " : ""
    const select = `SELECT won, ${before}${of(form, name)} AS ${name === "m" ? "made" : "n"} FROM ${from} AS t${isGrouped ? " GROUP BY ALL" : ""}`
    const named = name === "m" ? `SELECT won, made AS n FROM (${select})` : select
    if (place === "with") tables.push(`w${tables.length} AS (${named})`)
    from = place === "with" ? `w${tables.length - 1}` : `(${named})`
  }
  return `${tables.length > 0 ? `WITH ${tables.join(", ")} ` : ""}SELECT won, n FROM ${from}`
}

const wrong =
  "stage_position of bi.fct_opportunity does not add up: choose its median, its average, or a number of rows."

describe("charts", () => {
  it("are refused if they add up what does not, in whatever steps", async () => {
    const random = randomFrom(68)
    const seen = new Map<string, number>()
    for (let n = 0; n < 60; n++) {
      const [drawn, isStacked] = [stepsOf(random), random() < 0.3]
      let [isNumber, isSum] = [true, false]
      for (const { form } of drawn) {
        if (counting.split("|").includes(form) || form.startsWith("count")) isNumber = isSum = false
        if (summing.split("|").includes(form)) isSum ||= isNumber
      }
      const expected = isSum || (isStacked && isNumber) ? wrong : "drawn"
      assert.strictEqual(await chartOf(queryOf(drawn), isStacked), expected, queryOf(drawn))
      seen.set(expected, (seen.get(expected) ?? 0) + 1)
    }
    for (const [, count] of seen) assert.isAbove(count, 10)
  })

  it("refuse a sum that says nothing, in one sentence", async () => {
    assert.strictEqual(
      await chartOf("SELECT status, Sum(o.stage_position) AS n FROM bi.fct_opportunity AS o GROUP BY ALL"),
      wrong
    )
    assert.strictEqual(
      await chartOf("SELECT status, sum(monetary_value) AS n FROM bi.fct_opportunity GROUP BY ALL"),
      "monetary_value of bi.fct_opportunity adds up within one currency only: name currency in the query."
    )
    assert.strictEqual(
      await chartOf("SELECT sum(monthly_amount) FROM bi.fct_subscription_month WHERE currency = 'USD'"),
      "monthly_amount of bi.fct_subscription_month adds up within one month_start only: name month_start in the query."
    )
    assert.match(
      await chartOf(
        "PIVOT bi.fct_opportunity ON status IN ('won', 'lost') USING sum(stage_position) GROUP BY currency"
      ),
      /^stage_position of bi\.fct_opportunity does not add up/
    )
    for (const sql of [
      "SELECT currency, sum(monetary_value) AS n FROM bi.fct_opportunity GROUP BY ALL",
      "SELECT status, sum(monetary_value) AS n FROM bi.fct_opportunity WHERE currency = 'USD' GROUP BY ALL",
      "SELECT month_start, currency, sum(monthly_amount) AS n FROM bi.fct_subscription_month GROUP BY ALL",
      "SELECT median(stage_position) AS n, sum(stage_position) AS other FROM bi.fct_opportunity",
      "SELECT currency, sum(monetary_value * stage_position / 100) AS n FROM bi.fct_opportunity GROUP BY ALL",
      "SELECT status, sum(stage_position) AS n FROM (SELECT status, 1 AS stage_position FROM opportunities) GROUP BY ALL"
    ])
      assert.strictEqual(await chartOf(sql), "drawn", sql)
  })

  it("of each question of the models are drawn", async () => {
    const { questions } = (await client.get("/api/questions")).body
    for (const { chart, sql } of questions) {
      for (const name of chart.y)
        assert.strictEqual(await chartOf(`SELECT "${name}" AS n FROM (${sql.replace(/;\s*$/, "")})`), "drawn", sql)
    }
  })
})

it("a query has the names of what it reads, views too, in whatever letters and under whatever alias", async () => {
  const tablesOf = async (sql: string) => [...(await client.query(sql)).body.tables].sort()
  const sql =
    "WITH won AS (FROM bi.stg_opportunities AS o) SELECT * FROM Contacts AS c JOIN won ON won.contact_id = c.id"
  assert.deepStrictEqual(await tablesOf(sql), ["bi.stg_opportunities", "contacts"])
  assert.deepStrictEqual(await tablesOf("SELECT 1"), [])
})

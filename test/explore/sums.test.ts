/** Charts of sums: which are drawn, and which say nothing. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Account, discard, openSynced } from "../support/account.ts"
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

describe("charts", () => {
  it("refuse a sum that says nothing, in one sentence", async () => {
    const chartOf = async (sql: string) => {
      const { parts } = (await client.query(sql)).body
      const chart = { kind: "bar", xType: "nominal", x: "x", y: "y", points: [["a", 1]], ...parts }
      const { status, body } = await client.post("/api/chart", chart)
      return status === 200 ? "drawn" : body.error.message
    }
    assert.strictEqual(
      await chartOf("SELECT status, Sum(o.stage_position) AS n FROM bi.fct_opportunity AS o GROUP BY ALL"),
      "stage_position of bi.fct_opportunity does not add up: choose its median, its average, or a number of rows."
    )
    assert.strictEqual(
      await chartOf("SELECT status, sum(monetary_value) AS n FROM bi.fct_opportunity GROUP BY ALL"),
      "monetary_value of bi.fct_opportunity adds up within one currency only: name currency in the query."
    )
    assert.strictEqual(
      await chartOf("SELECT currency, sum(monthly_amount) FROM bi.fct_subscription_month GROUP BY ALL"),
      "monthly_amount of bi.fct_subscription_month adds up within one month_start only: name month_start in the query."
    )
    for (const sql of [
      "SELECT currency, sum(monetary_value) AS n FROM bi.fct_opportunity GROUP BY ALL",
      "SELECT status, sum(monetary_value) AS n FROM bi.fct_opportunity WHERE currency = 'USD' GROUP BY ALL",
      "SELECT month_start, currency, sum(monthly_amount) FROM bi.fct_subscription_month GROUP BY ALL",
      "SELECT median(stage_position), count(*) FROM bi.fct_opportunity",
      "SELECT status, sum(stage_position) AS n FROM (SELECT status, 1 AS stage_position FROM opportunities) GROUP BY ALL"
    ])
      assert.strictEqual(await chartOf(sql), "drawn", sql)
  })

  it("of each question of the models are drawn", async () => {
    const { questions } = (await client.get("/api/questions")).body
    for (const { sql } of questions) {
      const { parts } = (await client.query(sql)).body
      const chart = { kind: "bar", xType: "nominal", x: "x", y: "y", points: [["a", 1]], ...parts }
      assert.strictEqual((await client.post("/api/chart", chart)).status, 200, sql)
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

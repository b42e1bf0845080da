/** The second part of the report, from releases that no sandbox makes: hostile names, missing models, many currencies. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { business } from "../../src/features/report/business/business.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { query } from "../support/compare.ts"
import { newFolder } from "../support/sluice.ts"
import { numberIn, rowsOf, textOf } from "./reading.ts"

/** The part as of 23 November 2026, from a published file that these statements fill. */
const partAfter = async (...statements: ReadonlyArray<string>): Promise<string> => {
  const folder = newFolder()
  const path = join(folder, "crm.duckdb")
  const meta = "CREATE SCHEMA meta; CREATE TABLE meta.runs (run_id VARCHAR); CREATE SCHEMA bi"
  await query(path, [meta, ...statements].join(";\n"), "READ_WRITE")
  const options = { access: "read", isRelease: true, memoryMb: 128 } as const
  try {
    const part = business(Date.UTC(2026, 10, 23)).pipe(Effect.provide(Warehouse.layer(path, options)))
    return (await Effect.runPromise(part)).text
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const hostile = `<script>alert(1)</script>"'&`
const literal = `'${hostile.replaceAll("'", "''")}'`
const opportunities = `CREATE TABLE bi.fct_opportunity (pipeline_name VARCHAR, pipeline_stage_name VARCHAR, stage_position INTEGER, currency VARCHAR,
  opportunity_value DECIMAL(38, 4), is_open BOOLEAN, is_won BOOLEAN, is_lost BOOLEAN, closed_local_date DATE)`
const payments = `CREATE TABLE bi.fct_payment (currency VARCHAR, net_amount DECIMAL(38, 4), is_live BOOLEAN, is_succeeded BOOLEAN, paid_local_date DATE)`
const subscriptions = `CREATE TABLE bi.fct_subscription_month (subscription_id VARCHAR, month_start DATE, is_live BOOLEAN, currency VARCHAR,
  monthly_amount DECIMAL(38, 4), is_first_month BOOLEAN, is_churn_month BOOLEAN, subscription_status VARCHAR)`
const replies = `CREATE TABLE bi.fct_conversation_reply (asked_local_date DATE, is_replied BOOLEAN, reply_minutes DECIMAL(18, 2), reply_business_minutes BIGINT)`
const messages = "CREATE TABLE bi.fct_message (is_between_people BOOLEAN, direction VARCHAR, sent_at TIMESTAMPTZ)"
const appointments = `CREATE TABLE bi.fct_appointment (calendar_id VARCHAR, calendar_name VARCHAR, is_attended BOOLEAN, is_no_show BOOLEAN,
  is_cancelled BOOLEAN, is_past BOOLEAN, start_local_date DATE)`
const acquisitions = "CREATE TABLE bi.fct_contact_acquisition (channel VARCHAR, created_local_date DATE)"
const all = [opportunities, payments, subscriptions, replies, messages, appointments, acquisitions]

it("a release without models says so in one sentence, and one that lacks a model shows the others", async () => {
  assert.strictEqual(
    textOf(await partAfter()),
    "The published DuckDB file has no models in schema bi, so there is nothing to show here."
  )
  const part = textOf(await partAfter(opportunities, "CREATE TABLE bi.fct_payment (amount INTEGER)"))
  assert.include(part, "No opportunity is open.")
  assert.include(part, "The release does not have the model fct_appointment.")
  assert.include(part, "The model fct_payment is of another version; ./sluice publish builds it again.")
})

it("an account without any business has a sentence for each topic, and no chart", async () => {
  const part = await partAfter(...all)
  for (const sentence of [
    "No opportunity is open.",
    "No opportunity was won or lost in the last 13 months.",
    "No live payment succeeded in the last 13 months.",
    "There was no live subscription in the last 13 months.",
    "No contact asked a question in the last 13 months.",
    "There was no appointment in the last 13 months.",
    "No contact was created in the last 13 months."
  ])
    assert.include(textOf(part), sentence)
  assert.notInclude(part, "<svg")
  assert.notMatch(part, /NaN|undefined|Infinity/)
})

it("an account whose records have no status or time is not said to have none", async () => {
  const part = textOf(
    await partAfter(
      ...all,
      "INSERT INTO bi.fct_opportunity (currency) VALUES ('USD')",
      "INSERT INTO bi.fct_payment (is_live) VALUES (true), (true)",
      "INSERT INTO bi.fct_message VALUES (true, NULL, now())",
      "INSERT INTO bi.fct_appointment (calendar_id) VALUES ('c')",
      "INSERT INTO bi.fct_contact_acquisition VALUES ('unknown', NULL)"
    )
  )
  for (const sentence of [
    "It is not known whether an opportunity is open: 1 opportunity has no known status.",
    "It is not known whether an opportunity was won or lost in the last 13 months: 1 opportunity has no known status or day of closing.",
    "It is not known whether a live payment succeeded in the last 13 months: 2 payments have no known status, day or amount.",
    "It is not known whether a contact asked a question in the last 13 months: 1 message has no known direction or time.",
    "It is not known whether there was an appointment in the last 13 months: 1 appointment has no known time.",
    "It is not known whether a contact was created in the last 13 months: 1 contact has no known day of creation."
  ])
    assert.include(part, sentence)
  assert.notMatch(part, /No opportunity|No live payment|No contact/)
})

it("a table that was never read to its end is not said to be empty", async () => {
  const watermarks =
    "CREATE TABLE meta.watermarks AS SELECT 'contacts' AS resource, now() AS complete_at UNION ALL SELECT 'subscriptions', NULL"
  const part = textOf(await partAfter(...all, watermarks))
  assert.include(
    part,
    "It is not known whether there was a live subscription in the last 13 months: subscriptions was never read completely."
  )
  assert.include(part, "No contact was created in the last 13 months.")
})

it("amounts of different currencies are never added, and tests, failures and refunds are left out", async () => {
  const part = await partAfter(
    ...all,
    `INSERT INTO bi.fct_payment VALUES ('USD', 100.5, true, true, '2026-10-31'), ('USD', 50, true, true, '2026-10-01'), ('EUR', 7, true, true, '2026-10-02'),
       ('USD', 9000, false, true, '2026-10-02'), ('USD', 9000, true, false, '2026-10-02'), ('USD', 9000, true, true, '2025-10-31'), (NULL, 3, true, true, '2026-11-30')`
  )
  assert.include(textOf(part), "USD 151 and EUR 7 and no currency 0 in Oct 2026.")
  const rows = rowsOf(part, "revenue-by-month")
  assert.lengthOf(rows, 13)
  assert.deepStrictEqual(rows.at(-2), ["Oct 2026", "151", "2", "7", "1", "0", "0"])
  assert.deepStrictEqual(rows.at(-1), ["Nov 2026", "0", "0", "0", "0", "3", "1"])
})

it("medians, rates and recurring amounts are those of their month", async () => {
  const part = await partAfter(
    ...all,
    "INSERT INTO bi.fct_conversation_reply VALUES ('2026-10-05', true, 10, 10), ('2026-10-06', true, 30, 20), ('2026-10-07', true, 5000, 900), ('2026-10-08', false, NULL, NULL)",
    `INSERT INTO bi.fct_subscription_month VALUES ('a', '2026-10-01', true, 'USD', 20, true, false, 'unknown'), ('b', '2026-10-01', true, 'USD', NULL, false, true, 'active'),
       ('c', '2026-10-01', false, 'USD', 500, true, false, 'active')`,
    `INSERT INTO bi.fct_appointment SELECT 'c', 'Visit', i > 0, i = 0, false, true, DATE '2026-05-01' FROM range(4) AS r (i)`,
    "INSERT INTO bi.fct_appointment VALUES ('c', 'Visit', false, false, true, true, '2026-05-01'), ('c', 'Visit', false, true, false, false, '2026-11-30')"
  )
  assert.deepStrictEqual(rowsOf(part, "replies-by-month").at(-2), ["Oct 2026", "4", "75 %", "30 min", "20 min"])
  assert.include(
    textOf(part),
    "In Oct 2026, 1 subscription began and 1 were cancelled. 1 subscription without an interval is not included in the amounts. The status of 1 subscription is not known; it counts as live."
  )
  assert.deepStrictEqual(rowsOf(part, "recurring-by-month").at(-2), ["Oct 2026", "20", "2"])
  assert.deepStrictEqual(rowsOf(part, "calendars"), [["Visit", "5", "3", "1", "1", "25 %", ""]])
})

it("names of the account are texts, addresses in them are masked, and rare sources are not named", async () => {
  const part = await partAfter(
    ...all,
    `INSERT INTO bi.fct_opportunity SELECT ${literal}, ${literal} || i, i, ${literal}, 5, true, false, false, NULL FROM range(200) AS r (i)`,
    "INSERT INTO bi.fct_opportunity VALUES ('Calls of jane@example.com', '+1 817 555 1234', 1, 'USD', 9000, true, false, false, NULL)",
    `INSERT INTO bi.fct_payment SELECT ${literal} || i, 5, true, true, DATE '2026-10-01' FROM range(50) AS r (i)`,
    `INSERT INTO bi.fct_appointment SELECT 'c' || i, ${literal}, true, false, false, true, DATE '2026-05-01' FROM range(500) AS r (i)`,
    `INSERT INTO bi.fct_contact_acquisition SELECT ${literal}, DATE '2026-10-01' FROM range(9)`,
    `INSERT INTO bi.fct_contact_acquisition SELECT 'friend of Jane ' || i, DATE '2026-10-01' FROM range(2000) AS r (i)`
  )
  assert.notMatch(part, /<script|jane|817|Jane/)
  assert.include(part, "&#60;script&#62;alert(1)")
  assert.isAtMost(rowsOf(part, "stages").length, 40)
  assert.isAtMost(rowsOf(part, "calendars").length, 25)
  const sources = rowsOf(part, "sources")
  assert.deepStrictEqual(sources.map(([source, n]) => [source, numberIn(n!)]).at(-1), ["2,000 other sources", 2000])
  assert.include(textOf(part), "The 4 of 50 currencies with the most rows are shown.")
  assert.isBelow(part.length, 100_000)
})

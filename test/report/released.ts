/** The first part of the report, from a published file that statements fill. */
import { Effect } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { business } from "../../src/features/report/business/business.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { query } from "../support/compare.ts"
import { newFolder } from "../support/sluice.ts"

/** The part and its first sentence as of 23 November 2026, from a published file that these statements fill. */
export const partAfter = (...statements: ReadonlyArray<string>) => partOf([], ...statements)

/** As `partAfter`, of these locations. */
export const partOf = (locations: ReadonlyArray<string>, ...statements: ReadonlyArray<string>) =>
  partAt(Date.UTC(2026, 10, 23), locations, statements)

export const partAt = async (
  asOf: number,
  locations: ReadonlyArray<string>,
  statements: ReadonlyArray<string>
): Promise<string> => {
  const folder = newFolder()
  const path = join(folder, "crm.duckdb")
  const read = ["appointments", "contacts", "messages", "opportunities", "subscriptions", "transactions"]
  const meta = [
    "CREATE SCHEMA meta; CREATE SCHEMA bi; CREATE TABLE meta.runs (run_id VARCHAR)",
    "CREATE TABLE meta.model_problems (model VARCHAR, problem VARCHAR, kept_at TIMESTAMPTZ)",
    `CREATE TABLE meta.watermarks AS SELECT '${locations[0] ?? "a"}' AS location_id, unnest(['${read.join("', '")}']) AS resource, now() AS complete_at`
  ]
  await query(path, [...meta, ...statements].join(";\n"), "READ_WRITE")
  const options = { access: "read", isRelease: true, memoryMb: 128 } as const
  try {
    const part = business(asOf, {
      locations: [...locations],
      placeOf: (location) => `Place ${location}`,
      group: locations.length > 1 ? ({ location }) => `Place ${location}` : undefined
    }).pipe(Effect.provide(Warehouse.layer(path, options)))
    const { headline, content } = await Effect.runPromise(part)
    return `${headline?.text ?? ""}${content.text}`
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export const opportunities = `CREATE TABLE bi.fct_opportunity (pipeline_name VARCHAR, pipeline_stage_name VARCHAR, stage_position INTEGER, currency VARCHAR,
  monetary_value DECIMAL(38, 4), is_open BOOLEAN, is_won BOOLEAN, is_lost BOOLEAN, closed_local_date DATE, location_id VARCHAR, pipeline_id VARCHAR)`
const payments = `CREATE TABLE bi.fct_payment (currency VARCHAR, amount DECIMAL(38, 4), is_live BOOLEAN, is_succeeded BOOLEAN, paid_local_date DATE)`
const revenue = `CREATE TABLE bi.fct_revenue (currency VARCHAR, value DECIMAL(38, 4), is_live BOOLEAN, moved_local_date DATE, kind VARCHAR)`
const subscriptions = `CREATE TABLE bi.fct_subscription_month (subscription_id VARCHAR, month_start DATE, is_live BOOLEAN, currency VARCHAR,
  monthly_amount DECIMAL(38, 4), is_first_month BOOLEAN, is_churn_month BOOLEAN, counts_as VARCHAR, price_per_month DECIMAL(38, 4), location_id VARCHAR)`
const replies = `CREATE TABLE bi.fct_conversation_reply (asked_local_date DATE, is_replied BOOLEAN, reply_minutes DECIMAL(18, 2), reply_business_minutes BIGINT)`
const messages = "CREATE TABLE bi.fct_message (is_between_people BOOLEAN, direction VARCHAR, sent_at TIMESTAMPTZ)"
const appointments = `CREATE TABLE bi.fct_appointment (calendar_id VARCHAR, calendar_name VARCHAR, is_attended BOOLEAN, is_no_show BOOLEAN,
  is_cancelled BOOLEAN, is_past BOOLEAN, start_local_date DATE, location_id VARCHAR, booked_at TIMESTAMPTZ)`
export const acquisitions = "CREATE TABLE bi.fct_contact_acquisition (channel VARCHAR, created_local_date DATE)"
const places = "CREATE TABLE bi.dim_location (location_id VARCHAR, time_zone VARCHAR)"
export const all = [
  places,
  opportunities,
  payments,
  revenue,
  subscriptions,
  replies,
  messages,
  appointments,
  acquisitions
]

/** With the location of each row. */
export const withLocation = all.map((model) =>
  model.includes("location_id") ? model : model.replace(/\)$/, ", location_id VARCHAR)")
)

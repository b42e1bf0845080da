/** The ten questions of docs/models.md, answered from the second computation of the models. */
import type { Expected, Value } from "./place.ts"

/** The rows of a model, of all locations. */
type RowsOf = (model: string) => ReadonlyArray<Expected>
type Rows = ReadonlyArray<Expected>

const isTrue = (column: string) => (row: Expected) => row[column] === true
const count = (rows: Rows, column: string): number => rows.filter(isTrue(column)).length
const unknown = (rows: Rows): number => rows.filter((row) => row["counts_as"] === undefined).length
const numbers = (rows: Rows, column: string): ReadonlyArray<number> =>
  rows.flatMap((row) => (typeof row[column] === "number" ? [row[column]] : []))
const sum = (rows: Rows, column: string): Value => {
  const all = numbers(rows, column)
  return all.length === 0 ? undefined : all.reduce((one, other) => one + other, 0)
}
const median = (rows: Rows, column: string): Value => {
  const sorted = numbers(rows, column).toSorted((one, other) => one - other)
  const half = (sorted.length - 1) / 2
  return sorted.length === 0 ? undefined : (sorted[Math.floor(half)]! + sorted[Math.ceil(half)]!) / 2
}
const monthOf = (day: Value): Value => (typeof day === "string" ? `${day.slice(0, 8)}01` : undefined)
const keyOf = (...values: ReadonlyArray<Value>) => JSON.stringify(values.map((value) => value ?? null))

/** A row for each of what is equal in `keys`, with what `rest` makes of its rows. */
const grouped = (rows: Rows, keys: (row: Expected) => Expected, rest: (own: Rows) => Expected): Rows =>
  [...Map.groupBy(rows, (row) => keyOf(...Object.values(keys(row)))).values()].map((own) => ({
    ...keys(own[0]!),
    ...rest(own)
  }))

const replies = (rowsOf: RowsOf): Rows =>
  grouped(
    rowsOf("fct_conversation_reply"),
    (row) => ({ month: monthOf(row["asked_local_date"]) }),
    (own) => ({
      questions: own.length,
      replies: count(own, "is_replied"),
      median_reply_minutes: median(own, "reply_minutes"),
      median_reply_business_minutes: median(own, "reply_business_minutes")
    })
  )

const emails = (rowsOf: RowsOf): Rows =>
  grouped(
    rowsOf("fct_email").filter((row) => row["direction"] === "outbound"),
    ({ source }) => ({ source }),
    (own) => ({
      emails_sent: count(own, "is_sent"),
      emails_opened: count(own, "is_opened"),
      emails_of_unknown_status: unknown(own)
    })
  )

const products = (rowsOf: RowsOf): Rows =>
  grouped(
    rowsOf("fct_order_line").filter(
      (row) => row["is_live"] === true && [undefined, "paid"].includes(row["counts_as"] as string | undefined)
    ),
    (row) => ({
      month: monthOf(row["order_local_date"]),
      product_name: row["product_name"],
      currency: row["currency"],
      payment: row["counts_as"] ?? "unknown"
    }),
    (own) => ({ order_revenue: sum(own, "line_amount") })
  )

const recurring = (rowsOf: RowsOf): Rows =>
  grouped(
    rowsOf("fct_subscription_month").filter(isTrue("is_live")),
    (row) => ({ month: row["month_start"], currency: row["currency"] }),
    (own) => {
      const counted = own.filter((row) => row["counts_as"] === "recurring")
      return {
        monthly_recurring: sum(counted, "monthly_amount"),
        recurring_subscriptions: counted.length,
        subscriptions_without_interval: own.filter((row) => row["price_per_month"] === undefined).length,
        subscriptions_of_unknown_status: unknown(own),
        subscriptions_ended: count(own, "is_churn_month"),
        revenue_ended: sum(own.filter(isTrue("is_churn_month")), "monthly_amount")
      }
    }
  )

const overdue = (rowsOf: RowsOf): Rows =>
  grouped(
    rowsOf("fct_invoice").filter((row) => row["is_live"] === true && row["aging_bucket"] !== undefined),
    (row) => ({ currency: row["currency"], aging_bucket: row["aging_bucket"] }),
    (own) => ({ invoices_due: own.length, amount_due: sum(own, "amount_due") })
  )

const forms = (rowsOf: RowsOf): Rows =>
  grouped(
    rowsOf("fct_form_submission"),
    (row) => ({ form_name: row["form_name"] }),
    (own) => ({ submissions: own.length, submissions_with_deal: count(own, "has_opportunity") })
  )

const stages = (rowsOf: RowsOf): Rows => {
  const placeOf = (row: Expected) => keyOf(row["location_id"], row["pipeline_id"], row["pipeline_stage_id"])
  const deals = rowsOf("fct_opportunity")
    .filter((row) => [undefined, "open"].includes(row["counts_as"] as string | undefined))
    .map((row) => ({ ...row, deal_status: row["counts_as"] ?? "unknown" }) as Expected)
  const places = new Set(deals.map(placeOf))
  const empty = rowsOf("dim_pipeline_stage").filter((stage) => !places.has(placeOf(stage)))
  return grouped(
    [...deals, ...empty],
    (row) => ({
      pipeline_name: row["pipeline_name"],
      pipeline_stage_name: row["pipeline_stage_name"],
      currency: row["currency"],
      deal_status: row["deal_status"]
    }),
    (own) => {
      const some = own.filter((row) => row["opportunity_id"] !== undefined)
      return { deals: some.length, value: some.length === 0 ? 0 : sum(some, "monetary_value") }
    }
  )
}

/** The rows of a model that belong to a row of another one at the same location. */
const belonging = (rows: Rows, row: Expected, column: string, as = column): Rows =>
  row[as] === undefined
    ? []
    : rows.filter((one) => one["location_id"] === row["location_id"] && one[column] === row[as])

const hosts = (rowsOf: RowsOf): Rows =>
  grouped(
    rowsOf("fct_appointment").filter(isTrue("is_past")),
    (row) => ({ user_name: belonging(rowsOf("dim_user"), row, "user_id", "assigned_user_id")[0]?.["user_name"] }),
    (own) => {
      const [missed, attended] = [count(own, "is_no_show"), count(own, "is_attended")]
      const share = Math.round((1000 * missed) / (missed + attended)) / 10
      const percent = missed + attended === 0 ? undefined : share
      return { no_shows: missed, attended, status_unknown: unknown(own), no_show_percent: percent }
    }
  )

const sources = (rowsOf: RowsOf): Rows => {
  const contacts = rowsOf("fct_contact_acquisition").map((row) => ({
    ...row,
    currency: belonging(rowsOf("dim_location"), row, "location_id")[0]?.["currency"]
  })) as Rows
  const lowered = (row: Expected) => String(row["channel"]).trim().toLowerCase()
  return [...Map.groupBy(contacts, (row) => keyOf(lowered(row), row["currency"])).values()].map((own) => {
    const won = own.flatMap((row) => belonging(rowsOf("fct_opportunity"), row, "contact_id")).filter(isTrue("is_won"))
    const spellings = [...Map.groupBy(own, (row) => String(row["channel"]))]
    const [channel] = spellings.toSorted(
      ([one, ones], [other, others]) => others.length - ones.length || (one < other ? -1 : 1)
    )[0]!
    const currency = own[0]!["currency"]
    return { channel, currency, contacts: own.length, won: won.length, won_value: sum(won, "monetary_value") }
  })
}

const lastNight = (rowsOf: RowsOf): Rows => {
  const rows = rowsOf("fct_daily_change")
  const last = rows
    .map((row) => String(row["run_date"]))
    .sort()
    .at(-1)
  return rows
    .filter((row) => row["run_date"] === last)
    .map(({ changed_rows, deleted_rows, new_rows, table_name }) => ({
      table_name,
      new_rows,
      changed_rows,
      deleted_rows
    }))
    .filter(
      ({ changed_rows, deleted_rows, new_rows }) => Number(changed_rows) + Number(deleted_rows) + Number(new_rows) > 0
    )
}

/** In the order of the page. */
export const answers: ReadonlyArray<(rowsOf: RowsOf) => Rows> = [
  replies,
  emails,
  products,
  recurring,
  overdue,
  forms,
  stages,
  hosts,
  sources,
  lastNight
]

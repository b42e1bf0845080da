/** The tiles, the first sentence and the sentences of the report's topics, from the second computation of the models. */
import { count, duration, money, share } from "../../../src/features/report/format.ts"
import { type Expected, dayOf } from "./place.ts"

/** The rows of a model. */
type RowsOf = (model: string) => ReadonlyArray<Expected>

/** What the report says: the number of each tile, by its title, and those of each sentence. */
export interface Said {
  readonly tiles: Readonly<Record<string, string>>
  readonly headline: string
  readonly sentences: Readonly<Record<string, string>>
}

const dayMs = 86_400_000
const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** The days that a report is about: whole days, by the clocks of the location where it is the earliest day. */
export const daysOf = (zones: ReadonlyArray<string>, asOf: number) => {
  const today = zones.map((zone) => dayOf(asOf, zone)!).sort()[0] ?? isoDay(asOf)
  const [year, month] = [Number(today.slice(0, 4)), Number(today.slice(5, 7)) - 1]
  const firstOf = (back: number) => isoDay(Date.UTC(year, month - back, 1))
  const daysBack = (days: number) => isoDay(Date.parse(today) - days * dayMs)
  return {
    first: firstOf(12),
    /** The last month that is over, and the one after it. */
    last: firstOf(1),
    end: firstOf(-1),
    next: firstOf(0),
    week: [daysBack(7), daysBack(1)],
    before: [daysBack(14), daysBack(8)]
  } as const
}
type Days = ReturnType<typeof daysOf>

const within = (day: Expected[string], [from, to]: readonly [string, string]): boolean =>
  typeof day === "string" && day >= from && day <= to
const sum = (rows: ReadonlyArray<Expected>, column: string): number =>
  rows.reduce((all, row) => all + Number(row[column] ?? 0), 0)
const median = (values: ReadonlyArray<number>): number | undefined => {
  const sorted = values.toSorted((one, other) => one - other)
  const half = (sorted.length - 1) / 2
  return values.length === 0 ? undefined : (sorted[Math.floor(half)]! + sorted[Math.ceil(half)]!) / 2
}

/** The rows of each currency: that of the most rows first, then by its name, and one that is not stated last. */
const byCurrency = (rows: ReadonlyArray<Expected>) =>
  [...Map.groupBy(rows, (row) => row["currency"] as string | undefined)].toSorted(
    ([code, own], [other, theirs]) =>
      theirs.length - own.length || (code === undefined ? 1 : other === undefined ? -1 : code < other ? -1 : 1)
  )
const amounts = (found: ReadonlyArray<readonly [string | undefined, number]>): string => {
  const some = found.filter(([, amount]) => amount !== 0)
  return (some.length > 0 ? some : found.slice(0, 1))
    .slice(0, 4)
    .map(([code, amount]) => money(amount, code))
    .join(" and ")
}
const exactly = (value: number, code: string | undefined) =>
  money(value, code, (one) => one.toLocaleString("en-US", { maximumFractionDigits: 2 }))

/** What a sentence has of rows that belong to no month or state. */
const leftOut = (rows: ReadonlyArray<Expected>, amount?: string): string => {
  if (rows.length === 0) return ""
  const worth = byCurrency(rows).map(([code, own]) => [code, sum(own, amount ?? "none")] as const)
  const some = worth.filter(([, value]) => value !== 0)
  return `; ${count(rows.length)} ${some.length === 0 ? "" : amounts(some)}`
}

export const saidOf = (rowsOf: RowsOf, days: Days): Said => {
  const tiles: Record<string, string> = {}
  const sentences: Record<string, string> = {}
  const clauses: Array<string> = []
  const { end, first, last, next } = days
  const isInPeriod = (row: Expected, day: string) => within(row[day], [first, `${end.slice(0, 8)}00`])
  const isInLast = (row: Expected, day: string) => within(row[day], [last, `${next.slice(0, 8)}00`])
  const clause = (rows: ReadonlyArray<Expected>, day: string, unknown: number, amount?: string) => {
    const now = rows.filter((row) => within(row[day], days.week))
    const before = rows.filter((row) => within(row[day], days.before))
    if (now.length === 0 && unknown > 0) return
    const worth = amount === undefined ? [] : byCurrency(now).map(([code, own]) => [code, sum(own, amount)] as const)
    const some = worth.filter(([, value]) => value !== 0)
    const difference = now.length === before.length ? "" : count(Math.abs(now.length - before.length))
    clauses.push(
      `${now.length === 0 ? "no" : count(now.length)} ${some.length === 0 ? "" : amounts(some)} ${difference}`
    )
  }
  const none = (rows: ReadonlyArray<Expected>) => (rows.length > 0 ? count(rows.length) : "none")

  const deals = rowsOf("fct_opportunity")
  const open = deals.filter((row) => row["is_open"] === true)
  const ofNoState = deals.filter((row) => row["is_open"] === undefined)
  const pipelines = byCurrency(open).map(([code, own]) => [code, sum(own, "monetary_value"), own.length] as const)
  if (pipelines[0]) tiles["Open pipeline"] = `${exactly(pipelines[0][1], pipelines[0][0])} ${count(pipelines[0][2])}`
  sentences["pipeline"] =
    open.length === 0
      ? none(ofNoState)
      : `${count(open.length)} ${amounts(pipelines.map(([code, value]) => [code, value]))}${leftOut(ofNoState, "monetary_value")}`

  const unclear = deals.filter(
    (row) =>
      row["is_won"] === undefined || ((row["is_won"] || row["is_lost"]) && row["closed_local_date"] === undefined)
  )
  const closed = (which: string, isIn = isInPeriod) =>
    deals.filter((row) => row[which] === true && isIn(row, "closed_local_date")).length
  const [won, lost] = [closed("is_won"), closed("is_lost")]
  tiles["Won"] = `${count(closed("is_won", isInLast))} ${count(closed("is_lost", isInLast))}`
  sentences["outcomes"] =
    won + lost === 0 ? none(unclear) : `${count(won)} ${count(lost)} ${share(won, won + lost)}${leftOut(unclear)}`
  clause(
    deals.filter((row) => row["is_won"] === true),
    "closed_local_date",
    unclear.length,
    "monetary_value"
  )

  const moved = rowsOf("fct_revenue").filter((row) => row["is_live"] === true)
  const unpaid = rowsOf("fct_payment").filter(
    (row) =>
      row["is_live"] === true &&
      (row["is_succeeded"] === undefined ||
        (row["is_succeeded"] === true && (row["paid_local_date"] === undefined || row["amount"] === undefined)))
  )
  const revenue = byCurrency(moved.filter((row) => isInPeriod(row, "moved_local_date"))).map(
    ([code, own]) =>
      [
        code,
        sum(
          own.filter((row) => isInLast(row, "moved_local_date")),
          "value"
        )
      ] as const
  )
  if (revenue[0]) tiles["Revenue"] = exactly(revenue[0][1], revenue[0][0])
  const more = (found: ReadonlyArray<unknown>) => (found.length > 4 ? ` 4 of ${found.length}` : "")
  sentences["revenue"] =
    revenue.length === 0 ? none(unpaid) : `${amounts(revenue)}${more(revenue)}${leftOut(unpaid, "amount")}`
  clause(
    moved.filter((row) => row["kind"] === "received"),
    "moved_local_date",
    unpaid.length,
    "value"
  )

  const subscribed = rowsOf("fct_subscription_month").filter((row) => row["is_live"] === true)
  const inMonths = subscribed.filter((row) => isInPeriod(row, "month_start"))
  const recurring = inMonths.filter((row) => row["counts_as"] === "recurring")
  const monthly = byCurrency(recurring).map(
    ([code, own]) =>
      [
        code,
        sum(
          own.filter((row) => isInLast(row, "month_start")),
          "monthly_amount"
        )
      ] as const
  )
  if (monthly[0]) tiles["Monthly recurring"] = exactly(monthly[0][1], monthly[0][0])
  const keyOf = (row: Expected) => `${row["location_id"]} ${row["subscription_id"]}`
  const ofNoSubscriptionState = [
    ...Map.groupBy(
      subscribed.filter((row) => row["counts_as"] === undefined),
      keyOf
    ).values()
  ].map((own) => own.toSorted((one, other) => (String(one["month_start"]) < String(other["month_start"]) ? 1 : -1))[0]!)
  const inLast = inMonths.filter((row) => isInLast(row, "month_start"))
  const which = (column: string) => inLast.filter((row) => row[column] === true).length
  const trials = inLast.filter((row) => row["counts_as"] === "trial").length
  const withoutInterval = new Set(recurring.filter((row) => row["monthly_amount"] === undefined).map(keyOf)).size
  sentences["recurring"] =
    recurring.length === 0
      ? none(ofNoSubscriptionState)
      : [
          count(which("is_first_month")),
          count(which("is_churn_month")),
          trials === 0 ? "" : count(trials),
          withoutInterval === 0 ? "" : count(withoutInterval),
          more(monthly),
          leftOut(ofNoSubscriptionState, "price_per_month")
        ].join(" ")

  const contacts = rowsOf("fct_contact_acquisition")
  const created = contacts.filter((row) => isInPeriod(row, "created_local_date"))
  const recent = created.filter((row) => isInLast(row, "created_local_date")).length
  const undated = contacts.filter((row) => row["created_local_date"] === undefined)
  tiles["New contacts"] = count(recent)
  sentences["acquisition"] =
    created.length === 0 ? none(undated) : `${count(created.length)} ${count(recent)} 5${leftOut(undated)}`
  clause(contacts, "created_local_date", undated.length)

  const appointments = rowsOf("fct_appointment")
  const past = appointments.filter((row) => row["is_past"] === true && isInPeriod(row, "start_local_date"))
  const ofNoTime = appointments.filter((row) => row["is_past"] === undefined)
  const [attended, missed, unknown] = [
    past.filter((row) => row["is_attended"] === true).length,
    past.filter((row) => row["is_no_show"] === true).length,
    past.filter((row) => row["is_attended"] === undefined).length
  ]
  const known = attended + missed
  tiles["No-shows"] = known === 0 ? "–" : share(missed, known)
  sentences["appointments"] =
    past.length === 0
      ? none(ofNoTime)
      : known === 0
        ? "13"
        : `${count(known)} ${count(missed)} ${share(missed, known)} ${unknown === 0 ? "" : count(unknown)}${leftOut(ofNoTime)}`
  const zones = new Map(rowsOf("dim_location").map((row) => [row["location_id"], String(row["time_zone"])]))
  clause(
    appointments.map((row) => ({
      ...row,
      booked: dayOf((row["booked_at"] ?? undefined) as number | undefined, zones.get(row["location_id"]) ?? "UTC")
    })),
    "booked",
    ofNoTime.length
  )

  const questions = rowsOf("fct_conversation_reply").filter((row) => isInPeriod(row, "asked_local_date"))
  const minutesOf = (rows: ReadonlyArray<Expected>) =>
    median(rows.flatMap((row) => (typeof row["reply_minutes"] === "number" ? [row["reply_minutes"]] : [])))
  const minutes = minutesOf(questions.filter((row) => isInLast(row, "asked_local_date")))
  const time = minutes === undefined ? "–" : duration(minutes * 60_000)
  tiles["Median reply"] = time
  const unsent = rowsOf("fct_message").filter(
    (row) => row["is_between_people"] === true && (row["direction"] === undefined || row["sent_at"] === undefined)
  )
  const replied = questions.filter((row) => row["is_replied"] === true).length
  sentences["replies"] =
    questions.length === 0
      ? none(unsent)
      : `${share(replied, questions.length)} ${count(questions.length)} ${time}${leftOut(unsent)}`

  const allCalls = rowsOf("fct_call")
  const calls = allCalls.filter((row) => isInPeriod(row, "sent_local_date"))
  const undatedCalls = allCalls.filter((row) => row["sent_at"] === undefined)
  const answered = calls.filter((row) => row["is_answered"] === true).length
  const ofState = calls.filter((row) => row["is_answered"] !== undefined).length
  sentences["calls"] =
    calls.length === 0
      ? none(undatedCalls)
      : `${count(calls.length)} ${ofState === 0 ? "" : share(answered, ofState)} ${calls.length > ofState ? count(calls.length - ofState) : ""}${leftOut(undatedCalls)}`

  const tasks = rowsOf("fct_task")
  const todo = tasks.filter((row) => row["is_completed"] === false)
  const overdue = todo.filter((row) => row["is_overdue"] === true).length
  if (todo.length > 0) tiles["Overdue tasks"] = `${count(overdue)} ${count(todo.length)}`
  const ofNoTaskState = tasks.filter((row) => row["is_completed"] === undefined)
  sentences["tasks"] =
    todo.length === 0
      ? none(ofNoTaskState)
      : `${count(todo.length)} ${share(overdue, todo.length)}${leftOut(ofNoTaskState)}`
  return { tiles, headline: clauses.join("; "), sentences }
}

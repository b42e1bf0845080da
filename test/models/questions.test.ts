/** The queries of docs/models.md, compared with results computed from the records of the service. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { type Account, discard, openSynced } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { moreQuestions } from "./more-questions.ts"
import { questions as queries } from "./questions.ts"

type Json = any
type Row = Readonly<Record<string, unknown>>

const zone = "America/New_York"
const localDay = (instant: string | number) =>
  new Intl.DateTimeFormat("en-CA", { timeZone: zone }).format(new Date(instant))
const monthOf = (day: string) => `${day.slice(0, 7)}-01`
const round = (value: number) => Math.round(value * 1e4) / 1e4
const median = (values: ReadonlyArray<number>) => {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length / 2
  return Number.isInteger(middle) ? (sorted[middle - 1]! + sorted[middle]!) / 2 : sorted[Math.floor(middle)]!
}
const sum = (values: ReadonlyArray<number>) => round(values.reduce((all, one) => all + one, 0))
const groups = <A>(all: ReadonlyArray<A>, keyOf: (one: A) => string) => Map.groupBy(all, keyOf)
/** Minutes from Monday to Friday, 9:00 to 17:00, counted one by one. */
const workingMinutes = (from: number, to: number): number => {
  const clock = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23"
  })
  let minutes = 0
  for (let at = Math.floor(from / 60000); at < Math.floor(to / 60000); at++) {
    const [day, time] = clock.format(at * 60000).split(/,? /)
    if (!/Sat|Sun/.test(day!) && time! >= "09:00" && time! < "17:00") minutes++
  }
  return minutes
}

describe("the ten questions of docs/models.md", () => {
  let account: Account
  const records = async (collection: string): Promise<ReadonlyArray<Json>> => account.service.records(collection)
  /** The result of a query, with numbers as such. */
  const answers = async (index: number): Promise<ReadonlyArray<Row>> =>
    (await query(join(account.output, "published", "crm.duckdb"), queries[index]!)).map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          /^-?\d+(\.\d+)?$/.test(String(value)) ? round(Number(value)) : value
        ])
      )
    )
  const same = (rows: ReadonlyArray<Row>, expected: ReadonlyArray<Row>) => {
    assert.isNotEmpty(expected)
    const sorted = (all: ReadonlyArray<Row>) =>
      all.map((row) => JSON.stringify(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1)))).sort()
    assert.deepStrictEqual(sorted(rows), sorted(expected))
  }
  beforeAll(async () => {
    account = await openSynced({ flags: ["--contacts", "150"], formats: "duckdb" })
  })
  afterAll(() => discard(account))

  it("are ten, of at most twelve lines", () => {
    assert.lengthOf(queries, 10)
    for (const sql of queries) assert.isAtMost(sql.trim().split("\n").length, 12)
  })

  it("value of open deals by stage", async () => {
    const pipelines = await records("pipelines")
    const closed = ["won", "lost", "abandoned"]
    const deals = (await records("opportunities")).filter(({ status }) => !closed.includes(status))
    const byStage = groups(deals, (one) => `${one.pipelineId} ${one.pipelineStageId}`)
    same(
      await answers(6),
      pipelines.flatMap((pipeline) =>
        pipeline.stages.flatMap((stage: Json) => {
          const names = { pipeline_name: pipeline.name, pipeline_stage_name: stage.name }
          const own = byStage.get(`${pipeline.id} ${stage.id}`)
          if (own === undefined) return [{ ...names, currency: null, deal_status: null, deals: 0, value: 0 }]
          return [...groups(own, ({ status }) => (status === "open" ? "open" : "unknown"))].map(
            ([deal_status, all]) => {
              const values = all.flatMap((deal) => deal.monetaryValue ?? [])
              const value = values.length === 0 ? null : sum(values)
              return { ...names, currency: "USD", deal_status, deals: all.length, value }
            }
          )
        })
      )
    )
  })

  it("time to reply", { tags: ["slow"] }, async () => {
    const reachedNobody = /^(failed|undelivered|opt_out|busy|no-answer|canceled|pending|scheduled)$/
    const isBetweenPeople = ({ messageType }: Json) => !/^TYPE_(ACTIVITY|INTERNAL_COMMENT)/.test(messageType)
    const stored = new Set(
      (await query(join(account.output, "warehouse.duckdb"), "SELECT id FROM crm.messages")).map(({ id }) => id)
    )
    const messages = (await records("messages")).filter((one) => isBetweenPeople(one) && stored.has(one.id))
    assert.isAbove(messages.length, 250)
    const replies = [...groups(messages, (one) => one.conversationId).values()].flatMap((all) => {
      const inOrder = all.toSorted((one, other) =>
        one.dateAdded === other.dateAdded ? (one.id < other.id ? -1 : 1) : one.dateAdded < other.dateAdded ? -1 : 1
      )
      return inOrder.flatMap((one, index) => {
        if (one.direction !== "inbound" || inOrder[index - 1]?.direction === "inbound") return []
        const reply = inOrder
          .slice(index + 1)
          .find(({ direction, status }) => direction === "outbound" && !reachedNobody.test(status ?? ""))
        const [asked, replied] = [Date.parse(one.dateAdded), reply && Date.parse(reply.dateAdded)]
        return [{ month: monthOf(localDay(asked)), asked, replied }]
      })
    })
    same(
      await answers(0),
      [...groups(replies, ({ month }) => month)].map(([month, all]) => {
        const replied = all.filter((one) => one.replied !== undefined)
        return {
          month,
          questions: all.length,
          replies: replied.length,
          median_reply_minutes:
            replied.length === 0
              ? null
              : round(median(replied.map((one) => Math.round((one.replied! - one.asked) / 600) / 100))),
          median_reply_business_minutes:
            replied.length === 0 ? null : median(replied.map((one) => workingMinutes(one.asked, one.replied!)))
        }
      })
    )
  })

  it("opened e-mails", async () => {
    const emails = (await records("emails")).filter(({ direction }) => direction === "outbound")
    const count = (all: ReadonlyArray<Json>, statuses: RegExp) =>
      all.filter(({ status }) => statuses.test(status)).length
    same(
      await answers(1),
      [...groups(emails, ({ source }) => source ?? "")].map(([source, all]) => ({
        source: source === "" ? null : source,
        emails_sent: count(all, /^(sent|delivered|read|opened|connected)$/),
        emails_opened: count(all, /^(read|opened)$/),
        emails_of_unknown_status: all.filter(({ status }) => status === undefined).length
      }))
    )
  })

  it("revenue by product and month", async () => {
    const names = new Map((await records("products")).map(({ _id, name }) => [_id, name]))
    const lines = (await records("orders"))
      .filter(({ liveMode, paymentStatus }) => liveMode && paymentStatus === "paid")
      .flatMap((order) =>
        order.items.map((item: Json) => ({
          month: monthOf(localDay(order.createdAt)),
          product_name: names.get(item.product?._id) ?? item.product?.name ?? item.name,
          currency: order.currency,
          payment: "paid",
          order_revenue: item.qty * item.price.amount
        }))
      )
    same(
      await answers(2),
      [
        ...groups(lines, ({ month, product_name, currency }) =>
          JSON.stringify([month, product_name, currency])
        ).values()
      ].map((all) => ({ ...all[0], order_revenue: sum(all.map(({ order_revenue }) => order_revenue)) }))
    )
  })

  it("monthly recurring revenue and churn", async () => {
    const perMonth: Record<string, number> = { yearly: 1 / 12, monthly: 1, weekly: 52 / 12, daily: 365 / 12 }
    const last = monthOf(localDay(Date.now()))
    const rows = (await records("subscriptions"))
      .filter(
        ({ liveMode, status, markAsTest }) =>
          liveMode && !markAsTest && !(status?.type ?? status).startsWith("incomplete")
      )
      .flatMap(({ amount, currency, createdAt, canceledAt, schedule, status }) => {
        const end = canceledAt ? monthOf(localDay(canceledAt)) : last
        const months: Array<string> = []
        for (let month = monthOf(localDay(createdAt)); month <= end || months.length === 0;) {
          months.push(month)
          const [year, number] = month.split("-").map(Number) as [number, number]
          month = number === 12 ? `${year + 1}-01-01` : `${year}-${String(number + 1).padStart(2, "0")}-01`
        }
        const { intervalType, interval } = schedule?.rrule ?? {}
        const factor = perMonth[intervalType]
        const price = factor === undefined || !interval ? null : round((amount / interval) * factor)
        const state = status?.type ?? status
        const isTrial = state === "trialing"
        assert.include(["active", "past_due", "trialing", "canceled"], state)
        const value = isTrial ? 0 : price
        const cancelled = canceledAt ? monthOf(localDay(canceledAt)) : undefined
        return months.map((month) => ({
          month,
          currency,
          value,
          price,
          isTrial,
          isChurn: month === cancelled
        }))
      })
    const total = (all: ReadonlyArray<(typeof rows)[number]>) => {
      const known = all.flatMap(({ value }) => (value === null ? [] : [value]))
      return known.length === 0 ? null : sum(known)
    }
    same(
      await answers(3),
      [...groups(rows, ({ month, currency }) => `${month} ${currency}`).values()].map((all) => {
        const churned = all.filter(({ isChurn }) => isChurn)
        return {
          month: all[0]!.month,
          currency: all[0]!.currency,
          monthly_recurring: total(all.filter(({ isTrial }) => !isTrial)),
          recurring_subscriptions: all.filter(({ isTrial }) => !isTrial).length,
          subscriptions_without_interval: all.filter(({ price }) => price === null).length,
          subscriptions_of_unknown_status: 0,
          subscriptions_ended: churned.length,
          revenue_ended: total(churned)
        }
      })
    )
  })

  it("no-shows by host", async () => {
    const names = new Map(
      (await records("users")).map(({ id, name, firstName, lastName }) => [id, name ?? `${firstName} ${lastName}`])
    )
    const past = (await records("appointments")).filter(
      ({ startTime, deleted }) => Date.parse(startTime) < Date.now() && !deleted
    )
    same(
      await answers(7),
      [...groups(past, ({ assignedUserId }) => names.get(assignedUserId) ?? "")].map(([user, all]) => {
        const noShows = all.filter(({ appointmentStatus }) => appointmentStatus === "noshow").length
        const attended = all.filter(({ appointmentStatus }) => /^(showed|completed)$/.test(appointmentStatus)).length
        return {
          user_name: user === "" ? null : user,
          no_shows: noShows,
          attended,
          status_unknown: all.filter(({ appointmentStatus }) => appointmentStatus === undefined).length,
          no_show_percent: noShows + attended === 0 ? null : Math.round((1000 * noShows) / (noShows + attended)) / 10
        }
      })
    )
  })

  it("sources of contacts", async () => {
    const won = groups(
      (await records("opportunities")).filter(({ status }) => status === "won"),
      ({ contactId }) => contactId
    )
    const contacts = (await records("contacts")).map((contact) => {
      const first = contact.attributionSource ?? {}
      return {
        channel: first.sessionSource || first.utmSource || contact.source || "unknown",
        won: won.get(contact.id) ?? []
      }
    })
    const spellings = groups(contacts, ({ channel }) => channel)
    /** As most write it, and of as many the first. */
    const nameOf = (all: typeof contacts) =>
      all
        .map(({ channel }) => channel as string)
        .toSorted(
          (one, other) => spellings.get(other)!.length - spellings.get(one)!.length || (one < other ? -1 : 1)
        )[0]
    same(
      await answers(8),
      [...groups(contacts, ({ channel }) => channel.trim().toLowerCase())].map(([, all]) => {
        const channel = nameOf(all)
        const deals = all.flatMap((one) => one.won)
        const values = deals.flatMap((deal: Json) => deal.monetaryValue ?? [])
        return {
          channel,
          currency: "USD",
          contacts: all.length,
          won: deals.length,
          won_value: values.length === 0 ? null : sum(values)
        }
      })
    )
  })

  it("overdue invoices", async () => {
    const today = localDay(Date.now())
    const due = (await records("invoices")).filter(
      ({ status, amountDue, liveMode }) =>
        /^(sent|partially_paid|payment_processing)$/.test(status) && amountDue > 0 && liveMode !== false
    )
    const days = (day: string) => Math.round((Date.parse(today) - Date.parse(day)) / 86_400_000)
    const bucketOf = ({ dueDate }: Json) => {
      if (!dueDate || dueDate.slice(0, 10) >= today) return "not due"
      const age = days(dueDate.slice(0, 10))
      return age <= 30 ? "1-30 days" : age <= 60 ? "31-60 days" : "over 60 days"
    }
    same(
      await answers(4),
      [...groups(due, (one) => `${one.currency} ${bucketOf(one)}`).values()].map((all) => ({
        currency: all[0].currency,
        aging_bucket: bucketOf(all[0]),
        invoices_due: all.length,
        amount_due: sum(all.map(({ amountDue }) => amountDue))
      }))
    )
  })

  it("deals after a submission", async () => {
    const names = new Map((await records("forms")).map(({ id, name }) => [id, name]))
    const deals = groups(await records("opportunities"), ({ contactId }) => contactId)
    const submissions = (await records("submissions")).filter(({ formId }) => names.has(formId))
    same(
      await answers(5),
      [...groups(submissions, ({ formId }) => names.get(formId)!)].map(([form_name, all]) => ({
        form_name,
        submissions: all.length,
        submissions_with_deal: all.filter(({ contactId, createdAt }) =>
          (deals.get(contactId) ?? []).some((deal) => deal.createdAt >= createdAt)
        ).length
      }))
    )
  })

  it("changes of the last night", async () => {
    const rows = new Map((await answers(9)).map((row) => [row["table_name"], row]))
    for (const [table, collection] of [
      ["contacts", "contacts"],
      ["opportunities", "opportunities"],
      ["invoices", "invoices"],
      ["forms", "forms"]
    ])
      assert.deepInclude(rows.get(table), {
        new_rows: (await records(collection!)).length,
        changed_rows: 0,
        deleted_rows: 0
      })
  })

  it.each(moreQuestions)("as the tables answer: %s", async (_, models, tables) => {
    const lines = async (file: string, sql: string) =>
      (await query(file, sql)).map((row) => Object.values(row).map(String).join(" | ")).sort()
    const answer = await lines(join(account.output, "published", "crm.duckdb"), models)
    assert.isNotEmpty(answer)
    assert.deepStrictEqual(answer, await lines(account.warehouse, tables))
  })
})

/** Every table about the business, for all locations and for each, computed a second time from drawn rows of the models. */
import { assert, it } from "@effect/vitest"
import { randomFrom } from "../support/random.ts"
import { rowsInto } from "./nights.ts"
import { numberIn, rowsOf, textOf } from "./reading.ts"
import { partOf, withLocation } from "./released.ts"

const months = Array.from({ length: 13 }, (_, index) =>
  new Date(Date.UTC(2025, 10 + index, 1)).toISOString().slice(0, 7)
)
const names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
const nameOf = (month: string) => `${names[Number(month.slice(5)) - 1]} ${month.slice(0, 4)}`
const lastMonth = "2026-10"

const draw = () => {
  const random = randomFrom(17)
  const upTo = (max: number) => Math.floor(random() * (max + 1))
  const oneOf = <One>(of: ReadonlyArray<One>): One => of[upTo(of.length - 1)]!
  const many = <One>(length: number, one: (index: number) => One) => Array.from({ length }, (_, index) => one(index))
  const location = () => oneOf(["a", "a", "b"])
  // Some before the months of the report; those of the last weeks are many.
  const day = () =>
    new Date(Date.UTC(2026, 10, 22) - (random() < 0.3 ? upTo(20) : upTo(460)) * 86_400_000).toISOString().slice(0, 10)
  const isTrue = (share = 0.5) => random() < share
  return {
    opportunities: many(120, () => {
      const state = oneOf(["open", "won", "lost"])
      const [pipeline, stage] = [upTo(1), upTo(3)]
      return {
        pipeline_name: ["Sales", "Repairs"][pipeline]!,
        pipeline_stage_name: `Stage ${stage}`,
        stage_position: stage,
        pipeline_id: `p${pipeline}`,
        currency: oneOf(["USD", "USD", "EUR"]),
        monetary_value: 10 * upTo(90),
        is_open: state === "open",
        is_won: state === "won",
        is_lost: state === "lost",
        closed_local_date: state === "open" ? undefined : day(),
        location_id: location()
      }
    }),
    tasks: many(90, () => {
      const overdue = oneOf([undefined, -3, 0, 1, 7, 8, 30, 31, 90])
      return {
        is_completed: isTrue(0.3),
        is_overdue: overdue === undefined ? undefined : overdue > 0,
        overdue_days: overdue,
        due_date: overdue === undefined ? undefined : day(),
        assigned_user_id: oneOf([undefined, "u1", "u2", "u3"]),
        location_id: location()
      }
    }),
    calls: many(150, () => ({
      sent_local_date: day(),
      is_answered: oneOf([true, false, undefined]),
      is_voicemail: isTrue(0.2),
      call_duration_seconds: upTo(400),
      location_id: location()
    })),
    contacts: many(160, () => ({
      channel: oneOf(["Referral", "Search", "Search", "Advert", random() < 0.2 ? "rare" : "Search"]),
      created_local_date: day(),
      location_id: location()
    })),
    appointments: many(150, () => {
      const outcome = oneOf(["attended", "missed", "cancelled", "unknown"])
      return {
        calendar_id: "cal",
        calendar_name: "Visit",
        is_attended: outcome === "unknown" ? undefined : outcome === "attended",
        is_no_show: outcome === "missed",
        is_cancelled: outcome === "cancelled",
        is_past: isTrue(0.9),
        start_local_date: day(),
        location_id: location()
      }
    }),
    replies: many(150, () => {
      const isReplied = isTrue(0.6)
      const minutes = isReplied ? 3 + upTo(100) : undefined
      return {
        asked_local_date: day(),
        is_replied: isReplied,
        reply_minutes: minutes,
        reply_business_minutes: minutes && Math.ceil(minutes / 2),
        location_id: location()
      }
    }),
    movements: many(200, () => {
      const kind = oneOf(["received", "received", "refunded"])
      return {
        currency: oneOf(["USD", "USD", "EUR"]),
        value: (kind === "received" ? 1 : -1) * upTo(500),
        is_live: isTrue(0.9),
        moved_local_date: day(),
        kind,
        location_id: location()
      }
    })
  }
}
type World = ReturnType<typeof draw>

const all = draw()
const only = (place: string | undefined): World => {
  const own = <One extends { readonly location_id: string }>(rows: ReadonlyArray<One>) =>
    rows.filter((row) => place === undefined || row.location_id === place)
  return {
    opportunities: own(all.opportunities),
    tasks: own(all.tasks),
    calls: own(all.calls),
    contacts: own(all.contacts),
    appointments: own(all.appointments),
    replies: own(all.replies),
    movements: own(all.movements)
  }
}

const sum = <One>(rows: ReadonlyArray<One>, of: (row: One) => number) => rows.reduce((total, row) => total + of(row), 0)
const shareOf = (part: number, whole: number) => {
  const percent = whole === 0 ? 0 : (100 * part) / whole
  return percent === 0 ? "0 %" : `${percent.toFixed(percent < 9.95 ? 1 : 0)} %`
}
const minutesOf = (minutes: number | undefined) =>
  minutes === undefined
    ? "–"
    : minutes < 2
      ? `${Math.round(minutes * 60)} s`
      : `${Math.round(Math.round(minutes * 60) / 60)} min`
const medianOf = (values: ReadonlyArray<number>): number | undefined => {
  const sorted = values.toSorted((one, other) => one - other)
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]]
  return low === undefined || high === undefined ? undefined : (low + high) / 2
}
const byMonth = <One, Cell>(
  rows: ReadonlyArray<One>,
  dayOf: (row: One) => string | undefined,
  cells: (own: ReadonlyArray<One>) => ReadonlyArray<Cell>
): ReadonlyArray<ReadonlyArray<string | Cell>> =>
  months.map((month, index) => [
    `${nameOf(month)}${index === 12 ? " so far" : ""}`,
    ...cells(rows.filter((row) => dayOf(row)?.startsWith(month)))
  ])
const inMonths = <One>(rows: ReadonlyArray<One>, dayOf: (row: One) => string | undefined) =>
  rows.filter((row) => (dayOf(row) ?? "") >= months[0]!)
const numbersBehind = (
  rows: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<ReadonlyArray<string | number | undefined>> =>
  rows.map(([first, ...cells]) => [first, ...cells.map(numberIn)])
const inWeek = (day: string | undefined) => day !== undefined && day >= "2026-11-16" && day <= "2026-11-22"
const inWeekBefore = (day: string | undefined) => day !== undefined && day >= "2026-11-09" && day <= "2026-11-15"

it("the tables, figures and first sentence are those of the rows, of all locations and of each", async () => {
  const part = await partOf(
    ["a", "b"],
    ...withLocation,
    "CREATE TABLE bi.fct_task (is_completed BOOLEAN, is_overdue BOOLEAN, overdue_days INTEGER, due_date DATE, assigned_user_id VARCHAR, location_id VARCHAR)",
    "CREATE TABLE bi.fct_call (sent_at TIMESTAMPTZ, sent_local_date DATE, is_answered BOOLEAN, is_voicemail BOOLEAN, call_duration_seconds INTEGER, location_id VARCHAR)",
    "CREATE OR REPLACE TABLE meta.watermarks AS SELECT l AS location_id, r AS resource, now() AS complete_at FROM (SELECT unnest(['a', 'b']) AS l), (SELECT unnest(['appointments', 'contacts', 'messages', 'opportunities', 'subscriptions', 'tasks', 'transactions']) AS r)",
    ...rowsInto("bi.fct_opportunity", all.opportunities),
    ...rowsInto("bi.fct_task", all.tasks),
    ...rowsInto("bi.fct_call", all.calls),
    "UPDATE bi.fct_call SET sent_at = sent_local_date",
    ...rowsInto("bi.fct_contact_acquisition", all.contacts),
    ...rowsInto("bi.fct_appointment", all.appointments),
    ...rowsInto("bi.fct_conversation_reply", all.replies),
    ...rowsInto("bi.fct_revenue", all.movements)
  )
  for (const [index, place] of [undefined, "a", "b"].entries()) {
    const { appointments, calls, contacts, movements, opportunities, replies, tasks } = only(place)
    const table = (id: string) =>
      rowsOf(part, `${index === 0 ? "" : `place-${index}-`}${id}`).filter(({ length }) => length > 1)

    const open = opportunities.filter((one) => one.is_open)
    for (const [suffix, currency] of [
      ["", "USD"],
      ["-2", "EUR"]
    ] as const)
      assert.deepStrictEqual(
        table(`stages${suffix}`)
          .map(([pipeline, stage, n, value]) => `${pipeline} ${stage}: ${n}, ${value}`)
          .toSorted(),
        [
          ...Map.groupBy(
            open.filter((one) => one.currency === currency),
            (one) => `${one.location_id} ${one.pipeline_name} ${one.pipeline_stage_name}`
          )
        ]
          .map(
            ([name, own]) =>
              `${name.slice(2)}: ${own.length}, ${currency} ${sum(own, (one) => one.monetary_value).toLocaleString("en-US")}`
          )
          .toSorted()
      )
    const closedOn = (one: World["opportunities"][number]) => one.closed_local_date
    assert.deepStrictEqual(
      table("outcomes-by-month"),
      byMonth(opportunities, closedOn, (own) => {
        const [won, lost] = [own.filter((one) => one.is_won).length, own.filter((one) => one.is_lost).length]
        return [String(won), String(lost), shareOf(won, won + lost)]
      })
    )
    const live = movements.filter((one) => one.is_live)
    const currencies = [
      ...Map.groupBy(
        inMonths(live, (one) => one.moved_local_date),
        ({ currency }) => currency
      )
    ].toSorted(([, one], [, other]) => other.length - one.length)
    for (const [at, [, own]] of currencies.entries())
      assert.deepStrictEqual(
        numbersBehind(table(`revenue-by-month${at === 0 ? "" : `-${at + 1}`}`)),
        byMonth(
          own,
          (one) => one.moved_local_date,
          (rows) => [sum(rows, (one) => one.value), rows.length]
        )
      )
    assert.deepStrictEqual(
      table("replies-by-month"),
      byMonth(
        replies,
        (one) => one.asked_local_date,
        (own) => {
          const replied = own.filter((one) => one.is_replied)
          const median = (of: (one: (typeof own)[number]) => number | undefined) =>
            minutesOf(medianOf(own.flatMap((one) => of(one) ?? [])))
          return [
            String(own.length),
            shareOf(replied.length, own.length),
            median((one) => one.reply_minutes),
            median((one) => one.reply_business_minutes)
          ]
        }
      )
    )
    assert.deepStrictEqual(
      table("calls-by-month").map((row) => row.slice(0, 5)),
      byMonth(
        calls,
        (one) => one.sent_local_date,
        (own) => {
          const [answered, known] = [
            own.filter((one) => one.is_answered),
            own.filter((one) => one.is_answered !== undefined)
          ]
          return [
            String(own.length),
            String(answered.length),
            shareOf(answered.length, known.length),
            String(own.filter((one) => one.is_voicemail).length)
          ]
        }
      )
    )
    const seconds = byMonth(
      calls,
      (one) => one.sent_local_date,
      (own) => [
        sum(
          own.filter((one) => one.is_answered),
          (one) => one.call_duration_seconds
        )
      ]
    )
    assert.deepStrictEqual(
      table("calls-by-month").map(([, , , , , time]) => time),
      seconds.map(([, n]) => (n === 0 ? "–" : minutesOf(Number(n) / 60)))
    )
    const todo = tasks.filter((one) => !one.is_completed)
    const within = (from: number, to: number) =>
      todo.filter((one) => one.is_overdue === true && one.overdue_days! >= from && one.overdue_days! <= to)
    const ages = [
      within(31, 1000),
      within(8, 30),
      within(1, 7),
      todo.filter((one) => one.is_overdue === false),
      todo.filter((one) => one.due_date === undefined)
    ]
    assert.deepStrictEqual(
      table("open-tasks").map(([, n, owners]) => [n, owners]),
      ages.map((own) => [String(own.length), String(new Set(own.flatMap((one) => one.assigned_user_id ?? [])).size)])
    )
    const overdue = within(1, 1000).length
    assert.include(textOf(part), `${todo.length} tasks are open, ${shareOf(overdue, todo.length)} of them overdue.`)
    assert.include(textOf(part), `Overdue tasks ${overdue} of ${todo.length} that are open`)

    const made = inMonths(contacts, (one) => one.created_local_date)
    const channels = [...Map.groupBy(made, ({ channel }) => channel)]
    const rare = channels.filter(([, own]) => own.length < 5)
    const sources = [
      ...channels.filter(([, own]) => own.length >= 5),
      ...(rare.length === 0
        ? []
        : [[`${rare.length} other source${rare.length === 1 ? "" : "s"}`, rare.flatMap(([, own]) => own)] as const])
    ]
    assert.deepStrictEqual(
      table("sources")
        .map(([name, n, part, , recent]) => `${name}: ${n}, ${part}, ${recent}`)
        .toSorted(),
      sources
        .map(
          ([name, own]) =>
            `${name}: ${own.length}, ${shareOf(own.length, made.length)}, ${own.filter((one) => one.created_local_date.startsWith(lastMonth)).length}`
        )
        .toSorted()
    )
    const past = inMonths(appointments, (one) => one.start_local_date).filter((one) => one.is_past)
    assert.deepStrictEqual(
      table("calendars")
        .map((row) => row.slice(0, 6))
        .toSorted(),
      [...Map.groupBy(past, (one) => one.location_id)]
        .map(([, own]) => {
          const [attended, missed] = [
            own.filter((one) => one.is_attended).length,
            own.filter((one) => one.is_no_show).length
          ]
          return [
            "Visit",
            String(own.length),
            String(attended),
            String(missed),
            String(own.filter((one) => one.is_cancelled).length),
            shareOf(missed, attended + missed)
          ]
        })
        .toSorted()
    )

    const [headline] = Array.from(part.matchAll(/<p class="headline">(.*?)<\/p>/gs), ([, one]) => textOf(one!)).slice(
      index
    )
    const said = (thing: string, days: ReadonlyArray<string | undefined>) => {
      const [now, before] = [days.filter(inWeek).length, days.filter(inWeekBefore).length]
      const than =
        now === before
          ? now === 0
            ? ""
            : " \\(as many\\)"
          : ` \\(${Math.abs(now - before)} ${now > before ? "more" : "fewer"}\\)`
      assert.match(
        headline!,
        new RegExp(
          `(^|\\D)${now === 0 ? "no" : now} ${now === 1 ? thing : thing.replace(/^(new contact|payment|opportunity)/, (one) => (one === "opportunity" ? "opportunities" : `${one}s`))}[^;]*${than}`
        )
      )
    }
    said(
      "new contact",
      contacts.map((one) => one.created_local_date)
    )
    said(
      "payment received",
      live.filter(({ kind }) => kind === "received").map((one) => one.moved_local_date)
    )
    said("opportunity won", opportunities.filter((one) => one.is_won).map(closedOn))

    const line = (rowsOf(part, "places")[index - 1] ?? []).join(" | ")
    if (index > 0) {
      const usd = open.filter(({ currency }) => currency === "USD")
      const eur = open.filter(({ currency }) => currency === "EUR")
      const most = usd.length >= eur.length ? usd : eur
      assert.include(line, `Place ${place} | ${most[0]!.currency} `)
      assert.include(
        line,
        ` | ${opportunities.filter((one) => one.is_won && one.closed_local_date?.startsWith(lastMonth)).length} | `
      )
      assert.include(line, ` | ${contacts.filter((one) => one.created_local_date.startsWith(lastMonth)).length} | `)
    }
  }
})

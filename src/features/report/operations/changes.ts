/** Section: which tables changed since yesterday and since last week, and how many rows they had over time. */
import * as Effect from "effect/Effect"
import { itemAt } from "../../../catalog/present.ts"
import { literal, name } from "../../../stores/warehouse/sql.ts"
import { lines, sparkline, spread, ticksOf } from "../../../pages/charts.ts"
import { brief, counted, signed } from "../format.ts"
import { type Html, day, html } from "../../../pages/html.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { numbers } from "../../../values/rows.ts"
import { chart, number, numbersOf, sumOf, tableOf, text } from "../../../pages/html-table.ts"
import { section } from "../section.ts"
import { type Period, dayOf, onDay, runResources, since } from "./period.ts"
import { dayMs } from "../../../catalog/timestamps.ts"

/** With its sums over all tables. */
export const changesSection = Effect.fn("report.changes")(function* (period: Period) {
  const tables = yield* tableChanges(period)
  const moved = tables.filter(({ week }) => week > 0)
  const [most] = moved
  const still = tables.length - moved.length
  const lead =
    period.runs === 1
      ? "This is the first run: it read everything, so every row is new."
      : most === undefined
        ? "No row is new, changed or deleted in the last 7 days."
        : most.day === 0
          ? "No row is new, changed or deleted in the last 24 hours."
          : `The table that changed most in the last 24 hours is ${most.table}, with ${counted(most.day, "row")}.`
  const shownOf = (value: number) => (value === 0 ? html`<span class="zero">0</span>` : value)
  const moves = (head: string, of: (table: TableChanges) => number, rows: string, days: number) =>
    number(head, (table: TableChanges) => shownOf(of(table)), `${rows} > 0 AND finished_at > ${since(period, days)}`)
  const stored = (head: string, of: (table: TableChanges) => number, condition: string) =>
    number(
      head,
      (one: TableChanges) => html`<span data-rows="FROM ${name(one.table)}${condition}">${shownOf(of(one))}</span>`
    )
  const byDay = chart(`${period.days.length} days`, ({ table, rowsByDay }: TableChanges) =>
    sparkline(rowsByDay, {
      title: `Rows of ${table} by day`,
      description: `From ${counted(rowsByDay[0] ?? 0, "row")} to ${counted(rowsByDay.at(-1) ?? 0, "row")}.`
    })
  )
  const rowsByDay = period.days.map((_, index) => sumOf(tables, (table) => itemAt(table.rowsByDay, index)))
  const content = section({
    id: "changes",
    title: "What changed",
    lead: `${lead}${still > 0 && moved.length > 0 && period.runs > 1 ? ` ${counted(still, "table")} did not change in the last 7 days.` : ""}`,
    content: html`${
      moved.length === 0
        ? undefined
        : tableOf(moved, {
            id: "table-changes",
            caption: "Rows by table, with those that are new, changed and deleted in the last 24 hours and 7 days",
            folded: 12,
            behind: ({ table }) => runResources(`split_part(resource, '/', 1) = ${literal(table)}`),
            columns: [
              text("Table", ({ table }) => table),
              stored("Rows", ({ rows }) => rows, ""),
              stored("Deleted", ({ deletedRows }) => deletedRows, "\nWHERE _deleted_at IS NOT NULL"),
              moves("New, 24 h", ({ newDay }) => newDay, "new_rows", 1),
              moves("Changed, 24 h", ({ changedDay }) => changedDay, "changed_rows", 1),
              moves("Deleted, 24 h", ({ deletedDay }) => deletedDay, "deleted_rows", 1),
              moves("New, 7 d", ({ newWeek }) => newWeek, "new_rows", 7),
              moves("Changed, 7 d", ({ changedWeek }) => changedWeek, "changed_rows", 7),
              moves("Deleted, 7 d", ({ deletedWeek }) => deletedWeek, "deleted_rows", 7),
              ...(period.days.length > 1 ? [byDay] : [])
            ]
          })
    }${rowsOverTime(period.days, rowsByDay)}`
  })
  return {
    rowsByDay,
    added: sumOf(tables, ({ newDay }) => newDay),
    changed: sumOf(tables, ({ changedDay }) => changedDay),
    deleted: sumOf(tables, ({ deletedDay }) => deletedDay),
    content
  }
})

type TableChanges = Effect.Success<ReturnType<typeof tableChanges>>[number]

/** The tables of resources, those that changed most first; child tables change with them. */
const tableChanges = Effect.fnUntraced(function* (period: Period) {
  const sum = (rows: string, days: number) => `coalesce(sum(${rows}) FILTER (finished_at > ${since(period, days)}), 0)`
  const found = yield* query(
    {
      table: String,
      ...numbers("day", "newDay", "changedDay", "deletedDay", "week", "newWeek", "changedWeek", "deletedWeek")
    },
    `SELECT split_part(resource, '/', 1) AS "table",
       ${sum("new_rows", 1)} AS newDay, ${sum("changed_rows", 1)} AS changedDay, ${sum("deleted_rows", 1)} AS deletedDay,
       ${sum("new_rows", 7)} AS newWeek, ${sum("changed_rows", 7)} AS changedWeek, ${sum("deleted_rows", 7)} AS deletedWeek,
       newDay + changedDay + deletedDay AS day, newWeek + changedWeek + deletedWeek AS week
     FROM meta.run_resources GROUP BY "table" ORDER BY day DESC, week DESC, "table"`
  )
  const net = yield* query(
    { table: String, day: Number, n: Number },
    `SELECT split_part(resource, '/', 1) AS "table", ${dayOf("finished_at")} AS day, sum(new_rows - deleted_rows) AS n
     FROM meta.run_resources WHERE finished_at > ${since(period, 31)} GROUP BY ALL HAVING n <> 0`
  )
  const netOf = new Map(net.map(({ table, day, n }) => [`${table}\n${day}`, n]))
  const present = new Map((yield* presentRows()).map((one) => [one.table, one]))
  return found.map((one) => {
    const { rows, existing } = present.get(one.table) ?? { rows: 0, existing: 0 }
    // Backwards from the present rows, without what each day added.
    let atEnd = existing
    const rowsByDay = period.days.toReversed().map((day) => {
      const atEndOfDay = atEnd
      atEnd = Math.max(0, atEnd - (netOf.get(`${one.table}\n${day}`) ?? 0))
      return atEndOfDay
    })
    return { ...one, rows, deletedRows: rows - existing, rowsByDay: rowsByDay.toReversed() }
  })
})

/** All rows, and those without `_deleted_at`, by table, in the warehouse or in a release. */
const presentRows = Effect.fnUntraced(function* () {
  const tables = yield* query(
    { table: String },
    `SELECT table_name AS "table" FROM duckdb_tables() WHERE database_name = current_database()
       AND schema_name = if(database_name = 'crm', 'main', 'crm')
       AND table_name IN (SELECT split_part(resource, '/', 1) FROM meta.run_resources)`
  )
  const counts = tables.map(
    ({ table }) =>
      `SELECT ${literal(table)} AS "table", count(*) AS rows, count(*) FILTER (_deleted_at IS NULL) AS existing FROM crm.${name(table)}`
  )
  return counts.length === 0
    ? []
    : yield* query({ table: String, ...numbers("rows", "existing") }, counts.join(" UNION ALL "))
})

/** `days`: since 1970. */
const rowsOverTime = (days: ReadonlyArray<number>, totals: ReadonlyArray<number>): Html => {
  if (days.length === 1) return html`<p class="note">The chart of rows over time begins with the second day.</p>`
  const names = days.map((one) => day(one * dayMs))
  const [first = 0, last = first] = [totals[0], totals.at(-1)]
  const rows = totals.map((total, index) => {
    const before = totals[index - 1]
    return {
      day: itemAt(days, index),
      name: names[index],
      total,
      difference: before === undefined ? "" : signed(total - before)
    }
  })
  return html`<h4>Rows over time</h4>
    ${lines([{ name: "Rows", kind: "area", points: spread(totals) }], {
      title: "Rows over time",
      description: `From ${counted(first, "row")} on ${names[0]} to ${counted(last, "row")} on ${names.at(-1)}, a difference of ${signed(last - first)}.`,
      unit: "Rows of all resources at the end of each day",
      format: brief,
      ticks: ticksOf(names, "points")
    })}
    <p class="note">
      Computed back from the present rows with the rows that each run added and deleted. Child tables, such as the tags
      of a contact, and deleted records are not counted.
    </p>
    ${numbersOf(rows, {
      id: "rows-by-day",
      caption: "Rows at the end of each day",
      behind: (one) => runResources(`new_rows + deleted_rows > 0 AND ${onDay(one.day)}`),
      columns: [
        text("Day, UTC", ({ name }) => name),
        number("Rows", ({ total }) => total),
        number("Difference", ({ difference }) => difference)
      ]
    })}`
}

/** Section: which tables changed since yesterday and since last week, and how many rows they had over time. */
import * as Effect from "effect/Effect"
import { literal, name } from "../../../stores/warehouse/sql.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { lines, sparkline, ticksOf } from "../../../values/charts.ts"
import { dayMs } from "../../../catalog/timestamps.ts"
import { brief, count, counted, signed } from "../format.ts"
import { day } from "../../../values/moment.ts"
import { type Html, html } from "../../../values/html.ts"
import { numbersOf, section, tableOf } from "../table.ts"
import { type Period, dayOf, since } from "./period.ts"

interface Changes {
  readonly added: number
  readonly changed: number
  readonly deleted: number
}

export interface TableChanges {
  readonly table: string
  /** Rows that are not deleted. */
  readonly rows: number
  readonly lastDay: Changes
  readonly lastWeek: Changes
  /** Rows at the end of each day of the period. */
  readonly rowsByDay: ReadonlyArray<number>
}

/** The tables of resources; child tables change with them. */
export const tableChanges = Effect.fn("report.changes")(function* (period: Period) {
  const warehouse = yield* Warehouse
  const rowsOf = yield* presentRows()
  const sums = (from: string, suffix: string) =>
    ["new", "changed", "deleted"].map(
      (kind) => `coalesce(sum(${kind}_rows) FILTER (finished_at > ${from}), 0)::BIGINT AS ${kind}_${suffix}`
    )
  const found = yield* warehouse.rows(
    `SELECT split_part(resource, '/', 1) AS "table", ${[...sums(since(period, 1), "day"), ...sums(since(period, 7), "week")].join(", ")}
     FROM meta.run_resources GROUP BY ALL ORDER BY ALL`
  )
  const net = yield* warehouse.rows(
    `SELECT split_part(resource, '/', 1) AS "table", ${dayOf("finished_at")} AS day, sum(new_rows - deleted_rows)::BIGINT AS net
     FROM meta.run_resources WHERE finished_at > ${since(period, 31)} GROUP BY ALL HAVING sum(new_rows - deleted_rows) <> 0`
  )
  const netOf = new Map(net.map((row) => [`${row["table"]}\n${row["day"]}`, Number(row["net"])]))
  const changesOf = (row: (typeof found)[number], suffix: string): Changes => ({
    added: Number(row[`new_${suffix}`]),
    changed: Number(row[`changed_${suffix}`]),
    deleted: Number(row[`deleted_${suffix}`])
  })
  return found.map((row) => {
    const table = String(row["table"])
    let rows = rowsOf.get(table) ?? 0
    // Backwards from the present rows, without what each day added.
    const rowsByDay = period.days.toReversed().map((one) => {
      const atEnd = rows
      rows = Math.max(0, rows - (netOf.get(`${table}\n${one}`) ?? 0))
      return atEnd
    })
    return {
      table,
      rows: rowsOf.get(table) ?? 0,
      lastDay: changesOf(row, "day"),
      lastWeek: changesOf(row, "week"),
      rowsByDay: rowsByDay.toReversed()
    }
  })
})

/** Rows without `_deleted_at`, by table, in the warehouse or in a release. */
const presentRows = Effect.fnUntraced(function* () {
  const warehouse = yield* Warehouse
  const tables = yield* warehouse.rows(
    `SELECT table_name FROM duckdb_columns() WHERE column_name = '_deleted_at' AND database_name = current_database()
       AND schema_name = if(database_name = 'crm', 'main', 'crm')
       AND table_name IN (SELECT split_part(resource, '/', 1) FROM meta.run_resources)
       AND table_name IN (SELECT table_name FROM duckdb_tables())`
  )
  if (tables.length === 0) return new Map()
  const counts = yield* warehouse.rows(
    tables
      .map(({ table_name: table }) => {
        const relation = `crm.${name(String(table))}`
        return `SELECT ${literal(String(table))} AS "table", count(*) FILTER (_deleted_at IS NULL) AS n FROM ${relation}`
      })
      .join(" UNION ALL ")
  )
  return new Map(counts.map((row) => [String(row["table"]), Number(row["n"])]))
})

/** How many rows more there are than some days before; before the first run there were none. */
export const growth = (tables: ReadonlyArray<TableChanges>, days: number): number =>
  tables.reduce((sum, { rows, rowsByDay }) => sum + rows - (rowsByDay.at(-1 - days) ?? 0), 0)

const sizeOf = ({ added, changed, deleted }: Changes): number => added + changed + deleted

export const sumOf = (changes: ReadonlyArray<Changes>): Changes => ({
  added: changes.reduce((sum, { added }) => sum + added, 0),
  changed: changes.reduce((sum, { changed }) => sum + changed, 0),
  deleted: changes.reduce((sum, { deleted }) => sum + deleted, 0)
})

export const changesSection = (period: Period, tables: ReadonlyArray<TableChanges>): Html => {
  const moved = tables
    .filter((one) => sizeOf(one.lastWeek) > 0)
    .sort((one, other) => sizeOf(other.lastDay) - sizeOf(one.lastDay) || sizeOf(other.lastWeek) - sizeOf(one.lastWeek))
  const still = tables.length - moved.length
  const [most] = moved
  const lead =
    period.runs === 1
      ? "This is the first run: it read everything, so every row is new."
      : most === undefined
        ? "No row is new, changed or deleted in the last 7 days."
        : sizeOf(most.lastDay) === 0
          ? "No row is new, changed or deleted in the last 24 hours."
          : `The table that changed most in the last 24 hours is ${most.table}, with ${counted(sizeOf(most.lastDay), "row")}.`
  const number = (head: string, cell: (row: TableChanges) => number) => ({
    head,
    kind: "number" as const,
    cell: (row: TableChanges) => (cell(row) === 0 ? html`<span class="zero">0</span>` : count(cell(row)))
  })
  return section({
    id: "changes",
    title: "What changed",
    lead: `${lead}${still > 0 && moved.length > 0 && period.runs > 1 ? ` ${counted(still, "table")} did not change in the last 7 days.` : ""}`,
    content: html`${
      moved.length === 0
        ? undefined
        : tableOf({
            id: "table-changes",
            caption: "Rows by table, with those that are new, changed and deleted in the last 24 hours and 7 days",
            rows: moved,
            folded: 12,
            columns: [
              { head: "Table", cell: ({ table }) => table },
              number("Rows", ({ rows }) => rows),
              number("New, 24 h", ({ lastDay }) => lastDay.added),
              number("Changed, 24 h", ({ lastDay }) => lastDay.changed),
              number("Deleted, 24 h", ({ lastDay }) => lastDay.deleted),
              number("New, 7 d", ({ lastWeek }) => lastWeek.added),
              number("Changed, 7 d", ({ lastWeek }) => lastWeek.changed),
              number("Deleted, 7 d", ({ lastWeek }) => lastWeek.deleted),
              ...(period.days.length > 1
                ? [
                    {
                      head: `${period.days.length} days`,
                      kind: "chart" as const,
                      cell: ({ table, rowsByDay }: TableChanges) =>
                        sparkline(rowsByDay, {
                          title: `Rows of ${table} by day`,
                          description: `From ${counted(rowsByDay[0]!, "row")} to ${counted(rowsByDay.at(-1)!, "row")}.`
                        })
                    }
                  ]
                : [])
            ]
          })
    }${rowsOverTime(period, tables)}`
  })
}

const rowsOverTime = ({ days }: Period, tables: ReadonlyArray<TableChanges>): Html => {
  if (days.length === 1) return html`<p class="note">The chart of rows over time begins with the second day.</p>`
  const totals = days.map((_, index) => tables.reduce((sum, { rowsByDay }) => sum + rowsByDay[index]!, 0))
  const [first, last] = [totals[0]!, totals.at(-1)!]
  return html`<h4>Rows over time</h4>
    ${lines([{ name: "Rows", kind: "area", points: totals.map((y, index) => ({ x: index / (days.length - 1), y })) }], {
      title: "Rows over time",
      description: `From ${counted(first, "row")} on ${day(days[0]! * dayMs)} to ${counted(last, "row")} on ${day(days.at(-1)! * dayMs)}, a difference of ${signed(last - first)}.`,
      unit: "Rows of all resources at the end of each day",
      format: brief,
      ticks: ticksOf(
        days.map((one) => day(one * dayMs)),
        "points"
      )
    })}
    <p class="note">
      Computed back from the present rows with the rows that each run added and deleted. Child tables, such as the tags
      of a contact, are not counted.
    </p>
    ${numbersOf({
      id: "rows-by-day",
      caption: "Rows at the end of each day",
      rows: days.map((one, index) => ({ one, total: totals[index]!, before: totals[index - 1] })),
      columns: [
        { head: "Day, UTC", cell: ({ one }) => day(one * dayMs) },
        { head: "Rows", kind: "number", cell: ({ total }) => count(total) },
        {
          head: "Difference",
          kind: "number",
          cell: ({ total, before }) => (before === undefined ? "" : signed(total - before))
        }
      ]
    })}`
}

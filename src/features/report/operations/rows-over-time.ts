/** How many rows all tables had at the end of each day. */
import { lines, spread, ticksOf } from "../../../values/charts.ts"
import { dayMs } from "../../../catalog/timestamps.ts"
import { brief, counted, signed } from "../format.ts"
import { day } from "../../../values/moment.ts"
import { type Html, html } from "../../../values/html.ts"
import { number, numbersOf, text } from "../table.ts"

/** `days`: since 1970. */
export const rowsOverTime = (days: ReadonlyArray<number>, totals: ReadonlyArray<number>): Html => {
  if (days.length === 1) return html`<p class="note">The chart of rows over time begins with the second day.</p>`
  const names = days.map((one) => day(one * dayMs))
  const [first, last] = [totals[0]!, totals.at(-1)!]
  const rows = totals.map((total, index) => {
    const before = totals[index - 1]
    return { name: names[index], total, difference: before === undefined ? "" : signed(total - before) }
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
      of a contact, are not counted.
    </p>
    ${numbersOf(rows, {
      id: "rows-by-day",
      caption: "Rows at the end of each day",
      columns: [
        text("Day, UTC", ({ name }) => name),
        number("Rows", ({ total }) => total),
        number("Difference", ({ difference }) => difference)
      ]
    })}`
}

/** Section: how completely and how recently each resource was read. */
import { itemAt } from "../../../catalog/present.ts"
import { literal } from "../../../stores/warehouse/sql.ts"
import { type Content, type Html, day, dayAndTime, html, moment } from "../../../pages/html.ts"
import { begunStates, briefText, stateText } from "../../../values/state.ts"
import { strip } from "../../../pages/charts.ts"
import { dayMs } from "../../../catalog/timestamps.ts"
import { count, counted } from "../format.ts"
import { cleanReason } from "../mask.ts"
import { section } from "../section.ts"
import { chart, number, tableOf, text, wide } from "../../../pages/html-table.ts"
import { type Period, daysMax, runResources } from "./period.ts"
import type { Reading, Readings } from "./readings.ts"

/** What the marks of a strip mean. */
export const stateKeys = html`<p class="legend" aria-hidden="true">
  <span class="key complete"></span>complete <span class="key warning"></span>with warnings
  <span class="key problem"></span>incomplete <span class="key none"></span>not read
</p>`

export const freshness = (period: Period, readings: Readings): Html => {
  const { days, group, locations } = period
  const { shown, total, countOf, oldest, soughtSince } = readings
  const reasons = shown.filter(({ state }) => state !== "complete")
  const parted = begunStates
    .toReversed()
    .filter((state) => countOf(state) > 0)
    .map((state) => `${count(countOf(state))} ${stateText(state)}`)
  const [first, last] = [0, days.length - 1].map((place) => day(itemAt(days, place) * dayMs))
  const span = first === last ? `on ${first}` : `from ${first} to ${last}`
  return section({
    id: "freshness",
    title: "Completeness and freshness",
    lead: html`Of ${counted(total, "resource")}${group ? ` in ${counted(locations.length, "location")}` : undefined}:
    ${parted.join(", ")}.
    ${
      oldest === undefined
        ? "None was ever read completely."
        : `The oldest complete reading ended on ${moment(oldest)}.`
    }${
      soughtSince === undefined ? "" : ` Deleted rows were looked for in every list since ${moment(soughtSince)}.`
    }${shown.length < total ? ` The worst ${count(shown.length)} are shown; ./sluice status lists all.` : undefined}`,
    content: html`${stateKeys}
    ${tableOf(shown, {
      id: "readings",
      caption: `Resources, and their state each day ${span}, in UTC`,
      folded: Math.max(20, reasons.length),
      behind: ({ location, resource }) =>
        runResources(`location_id = ${literal(location)} AND resource = ${literal(resource)}`),
      group,
      columns: [
        text("Resource", ({ resource }) => resource),
        text("State", ({ state }) => html`<span class="state ${state}">${briefText(state)}</span>`),
        chart(`${daysMax} days`, (reading) =>
          strip(reading.days, daysMax, {
            title: `${reading.resource} by day`,
            description: `Read completely on ${completeDays(reading)} of ${counted(days.length, "day")} ${span}.`
          })
        ),
        number(
          "Days complete",
          (reading) => `${completeDays(reading)} of ${days.length}`,
          "starts_with(status, 'complete')"
        ),
        number(
          "Last complete, UTC",
          ({ completeAt }) => (completeAt === undefined ? "never" : dayAndTime(completeAt)),
          "starts_with(status, 'complete')"
        )
      ]
    })}
    ${
      reasons.length === 0
        ? undefined
        : tableOf(reasons, {
            id: "reasons",
            caption: "Why resources are not complete, or complete with warnings",
            folded: 30,
            group,
            columns: [text("Resource", ({ resource }) => resource), wide("Why", (reading) => why(reading))]
          })
    }`
  })
}

const completeDays = (reading: Reading): number =>
  reading.days.filter((mark) => mark === "complete" || mark === "warning").length

/** The first reasons. */
export const why = ({ reasons, state }: Reading): Content => {
  const shown = reasons.slice(0, 2).map(cleanReason).join("; ")
  const more = reasons.length > 2 ? `; and ${counted(reasons.length - 2, "other reason")}` : ""
  if (state === "interrupted" && reasons.length === 0)
    return "The run ended before this was read to its end; the next one resumes."
  return `${shown}${more}`
}

/** The state of the data in one sentence, for the top of the report; the causes, and the figures of the last day. */
import type * as Effect from "effect/Effect"
import type { Cause, Verdict } from "../../../alarms/verdict.ts"
import { type Naming, causeText, remedyOf, verdictText } from "../../../alarms/verdict-text.ts"
import { count, counted, duration, share } from "../format.ts"
import { cleanReason } from "../mask.ts"
import { type Html, html, moment } from "../../../pages/html.ts"
import { tiles } from "../section.ts"
import type { Totals } from "../../../output/manifest.ts"
import type { changesSection } from "./changes.ts"
import { why } from "./freshness.ts"
import { type Period, documentedLimits, runResources, since } from "./period.ts"
import type { Reading, Readings } from "./readings.ts"

const states: Readonly<Record<Verdict["state"], string>> = {
  nothing: "Nothing was read",
  stopped: "Did not end",
  incomplete: "Incomplete",
  paused: "Paused",
  undelivered: "Not delivered",
  models: "Models are missing",
  late: "Late",
  warned: "Complete with warnings",
  complete: "Complete"
}

/** What a reader in a hurry needs: whether the tables are complete, and as of when. */
export const overviewOf = ({ sync }: Period, verdict: Verdict, naming: Naming) => {
  const last =
    sync?.finishedAt === undefined
      ? ""
      : ` The last run ended on ${moment(sync.finishedAt)}, after ${duration(sync.finishedAt - sync.startedAt)}.`
  return {
    tone: verdict.tone,
    /** One or two words. */
    state: states[verdict.state],
    sentence: `${verdictText(verdict, naming, (at) => `on ${moment(at)}`)}${last}`
  }
}

/** As the report writes causes: without the words of the service, and without where the settings keep a token. */
export const namingOf = ({ locations, placeOf }: Pick<Period, "locations" | "placeOf">): Naming => ({
  isOfSeveral: locations.length > 1,
  placeOf,
  tokenOf: (location) => (locations.length > 1 ? `the token of ${placeOf(location)}` : "the token"),
  sentence: cleanReason
})

/** The line at the top of the report. */
export const stateLine = ({ tone, state, sentence }: ReturnType<typeof overviewOf>): Html =>
  html`<p class="notice ${tone}">
    <strong id="status">${state}</strong> ${sentence}
    <span id="age" hidden></span>${tone === "complete" ? undefined : html` <a href="#operations">Details</a>`}
  </p>`

export interface OverviewParts {
  readonly period: Period
  readonly readings: Readings
  /** Rows at the end of each day, and those that changed in the last one. */
  readonly changes: Pick<
    Effect.Success<ReturnType<typeof changesSection>>,
    "rowsByDay" | "added" | "changed" | "deleted"
  >
  /** Of the release; `undefined` without one. */
  readonly totals: Totals | undefined
  /** In the last day. */
  readonly sent: number
  readonly rejected: number
  readonly verdict: Verdict
  readonly naming: Naming
}

export const overviewSection = (parts: OverviewParts): Html => {
  const { period, sent, rejected, totals } = parts
  const { rowsByDay, added, changed, deleted } = parts.changes
  const today = (condition: string) => runResources(`finished_at > ${since(period, 1)}\n  AND ${condition}`)
  const ofLimit = period.locations.length === 1 ? `, ${share(sent, documentedLimits.perDay)} of the limit` : ""
  return html`${reasons(parts)}
  ${tiles([
    totals
      ? {
          id: "rows",
          title: "Rows",
          value: count(totals.rows),
          note: `in ${counted(totals.tables, "table")}`,
          rows: "SELECT table_name, estimated_size AS rows FROM duckdb_tables()\nWHERE schema_name = 'main'\nORDER BY rows DESC"
        }
      : { id: "rows", title: "Rows", value: count(rowsByDay.at(-1) ?? 0), note: "of the resources" },
    ...Object.entries({ New: added, Changed: changed, Deleted: deleted }).map(([title, rows]) => {
      const id = title.toLowerCase()
      return { id, title, value: count(rows), note: "rows in 24 hours", rows: today(`${id}_rows > 0`) }
    }),
    { id: "sent", title: "Requests", value: count(sent), note: `in 24 hours${ofLimit}`, rows: today("requests > 0") },
    {
      id: "rejected",
      title: "Rejected",
      value: count(rejected),
      note: "values in 24 hours",
      rows: `FROM meta.rejected_values\nWHERE rejected_at > ${since(period, 1)}`
    }
  ])}`
}

/** Causes that are shown at the top, the worst first. */
const causesMax = 8

/** What a server or DuckDB says may quote a value, so it is not shown. */
const reasons = ({ naming, period, readings, verdict }: OverviewParts): Html | undefined => {
  const { causes, locations, oldest } = verdict
  const warned = readings.shown.filter(({ state }) => state === "complete_with_warnings")
  if (causes.length + warned.length === 0) return undefined
  const lastRead = (cause: Cause) => {
    const at = "location" in cause ? locations.find(({ location }) => location === cause.location)?.oldestAt : undefined
    return at === undefined || oldest === undefined
      ? undefined
      : html` <span class="note">Its oldest complete reading is of ${moment(at)}.</span>`
  }
  const place = ({ location }: Reading) => (naming.isOfSeveral ? html` of ${period.placeOf(location)}` : undefined)
  const shown = causes.slice(0, causesMax)
  const first = warned.slice(0, Math.max(0, causesMax - causes.length))
  const left = causes.length + warned.length - shown.length - first.length
  return html`<ul class="reasons">
    ${shown.map((cause) => html`<li>${causeText(cause, naming)}. <span class="note">Next: ${remedyOf([cause], naming)}</span>${lastRead(cause)}</li>`)}
    ${first.map((reading) => html`<li><strong>${reading.resource}</strong>${place(reading)}: ${why(reading)}.</li>`)}
    ${left > 0 ? html`<li>and ${count(left)} more, under <a href="#freshness">Completeness and freshness</a></li>` : undefined}
  </ul>`
}

/** The state of the data in one sentence, for the top of the report; the reasons, and the figures of the last day. */
import type * as Effect from "effect/Effect"
import { count, counted, duration, listed, share } from "../format.ts"
import { type Html, html, moment } from "../../../pages/html.ts"
import { isWhole } from "../../../values/state.ts"
import { tiles } from "../section.ts"
import type { Totals } from "../../../output/manifest.ts"
import type { TargetState } from "../../../stores/warehouse/meta/targets.ts"
import type { StoredProblem } from "../../../stores/warehouse/meta/model-problems.ts"
import type { changesSection } from "./changes.ts"
import { why } from "./freshness.ts"
import { type Period, documentedLimits, runResources, since } from "./period.ts"
import type { Reading, Readings } from "./readings.ts"

export interface Overview {
  readonly tone: "complete" | "warning" | "problem"
  /** One or two words. */
  readonly state: string
  readonly sentence: string
}

const says = (tone: Overview["tone"], state: string, sentence: string): Overview => ({ tone, state, sentence })

/** A reading of the hour before the last run is as good as one of the run. */
const recentMs = 3_600_000

/** What a reader in a hurry needs: whether the tables are complete, and as of when. */
export const overviewOf = (
  period: Period,
  { shown, countOf, total, oldest }: Readings,
  { models, targets }: Pick<OverviewParts, "models" | "targets">
): Overview => {
  const { run, sync = run, asOf } = period
  const open = countOf("incomplete") + countOf("interrupted")
  const ended = sync.finishedAt ?? asOf
  const missing = ` Of ${listed([...new Set(shown.filter(({ state }) => !isWhole(state)).map(({ resource }) => resource))], 5)}, rows may be missing.`
  const tables = `${count(total - open)} of ${counted(total, "resource")}`
  const took = sync.finishedAt === undefined ? "" : `, after ${duration(sync.finishedAt - sync.startedAt)}`
  if (sync.status === "interrupted")
    return says(
      "problem",
      "Did not end",
      `The ${sync.command} of ${moment(sync.startedAt)} failed or was stopped; its log has the reason. ${
        oldest === undefined
          ? "Nothing was ever read completely."
          : `The tables keep what was loaded: ${tables} were last read to the end, the oldest on ${moment(oldest)}.`
      } ./sluice sync resumes.`
    )
  if (sync.status === "paused")
    return says(
      "warning",
      "Paused",
      `The ${sync.command} of ${moment(sync.startedAt)} stopped early, because the service allowed no more requests or did not respond, or because of its deadline. ${tables} were last read to the end; the next sync resumes.`
    )
  if (open > 0)
    return says(
      "problem",
      "Incomplete",
      `${counted(open, "resource")} of ${count(total)} could not be read completely.${missing} The last run ended on ${moment(ended)}${took}.`
    )
  const read =
    oldest === undefined || oldest >= sync.startedAt - recentMs
      ? ""
      : ` The oldest complete reading is of ${moment(oldest)}.`
  if (targets.length > 0)
    return says(
      "problem",
      "Not delivered",
      `No rows of the tables are known to be missing, but ${listed(targets.map(({ name }) => name))} did not get what is new. The last run ended on ${moment(ended)}${took}.${read}`
    )
  if (models.length > 0)
    return says(
      "warning",
      "Models are missing",
      `No rows of the tables are known to be missing, but ${counted(models.length, "model")} of schema bi could not be built: ${listed(models.map(({ where }) => where))}. The last run ended on ${moment(ended)}${took}.${read}`
    )
  const warned = countOf("complete_with_warnings")
  return warned > 0
    ? says(
        "warning",
        "Complete with warnings",
        `No rows are known to be missing; ${counted(warned, "resource has a warning", "resources have warnings")}. The last run ended on ${moment(ended)}${took}.${read}`
      )
    : says(
        "complete",
        "Complete",
        `${total === 1 ? "The only resource was" : `All ${count(total)} resources were`} read to the end. The last run ended on ${moment(ended)}${took}.${read}`
      )
}

/** The line at the top of the report. */
export const stateLine = ({ tone, state, sentence }: Overview): Html =>
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
  readonly models: ReadonlyArray<StoredProblem>
  /** Those that do not get what is new. */
  readonly targets: ReadonlyArray<TargetState>
  readonly scopeOf: (label: string) => string | undefined
}

export const overviewSection = (parts: OverviewParts): Html => {
  const { period, sent, rejected, models, targets, totals } = parts
  const { rowsByDay, added, changed, deleted } = parts.changes
  const today = (condition: string) => runResources(`finished_at > ${since(period, 1)}\n  AND ${condition}`)
  const ofLimit = period.locations.length === 1 ? `, ${share(sent, documentedLimits.perDay)} of the limit` : ""
  return html`${notDelivered(targets)} ${failedModels(models)} ${reasons(parts)}
  ${tiles([
    totals
      ? {
          id: "rows",
          title: "Rows",
          value: count(totals.rows),
          note: `in ${counted(totals.tables, "table")}`,
          rows: "SELECT table_name, estimated_size AS rows FROM duckdb_tables()\nWHERE schema_name = 'main'\nORDER BY rows DESC"
        }
      : { id: "rows", title: "Rows", value: count(rowsByDay.at(-1)!), note: "of the resources" },
    { id: "new", title: "New", value: count(added), note: "rows in 24 hours", rows: today("new_rows > 0") },
    {
      id: "changed",
      title: "Changed",
      value: count(changed),
      note: "rows in 24 hours",
      rows: today("changed_rows > 0")
    },
    {
      id: "deleted",
      title: "Deleted",
      value: count(deleted),
      note: "rows in 24 hours",
      rows: today("deleted_rows > 0")
    },
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

/** What a server says may quote a value, so it is not shown. */
const notDelivered = (targets: ReadonlyArray<TargetState>): Html | undefined =>
  targets.length === 0
    ? undefined
    : html`<ul class="reasons" id="targets">
        ${targets.map(({ name, deliveredAt, failedSince }) => html`<li><strong>${name}</strong> does not get what is new, since ${moment(failedSince!)}: ${deliveredAt === undefined ? "it never got any tables" : `it has those of ${moment(deliveredAt)}`}. <span class="note">./sluice status says why.</span></li>`)}
      </ul>`

/** What DuckDB says about a model may quote a value, so it is not shown. */
const failedModels = (models: ReadonlyArray<StoredProblem>): Html | undefined =>
  models.length === 0
    ? undefined
    : html`<ul class="reasons" id="models">
        ${models.map(({ where, keptAt }) => html`<li><strong>bi.${where}</strong> could not be built: ${keptAt === undefined ? "the release does not have it" : `its table is that of ${moment(keptAt)}`}. <span class="note">The reason is in meta.model_problems.</span></li>`)}
      </ul>`

/** Reasons that are shown at the top, the most severe first. */
const reasonsMax = 5

const reasons = ({ readings, scopeOf, period }: OverviewParts): Html | undefined => {
  const { shown, total, countOf } = readings
  const withReason = shown.filter(({ state }) => state !== "complete")
  if (withReason.length === 0) return undefined
  // A child is never more complete than its parents: what is wrong with the parents is the news.
  const inherited = withReason.filter(isInherited)
  const own = withReason.filter((reading) => !isInherited(reading))
  const first = own.slice(0, reasonsMax)
  const all = total - countOf("complete") - inherited.length
  const place = ({ location }: Reading) =>
    period.locations.length > 1 ? html` of ${period.placeOf(location)}` : undefined
  const lastRead = ({ state, completeAt }: Reading) =>
    isWhole(state) || completeAt === undefined
      ? undefined
      : html` <span class="note">Last read completely on ${moment(completeAt)}.</span>`
  const dependent = [...new Set(inherited.map(({ resource }) => resource))]
  return html`<ul class="reasons">
    ${first.map((reading) => html`<li><strong>${reading.resource}</strong>${place(reading)}: ${why(reading, scopeOf)}.${lastRead(reading)}</li>`)}
    ${all > first.length ? html`<li>and ${count(all - first.length)} more, under <a href="#freshness">Completeness and freshness</a></li>` : undefined}
    ${dependent.length > 0 ? html`<li class="note">Therefore also ${listed(dependent, 6)}, which ${dependent.length === 1 ? "is" : "are"} read for each row of such a table.</li>` : undefined}
  </ul>`
}

const isInherited = ({ reasons: all }: Reading): boolean =>
  all.length > 0 && all.every(({ _tag }) => _tag === "ParentNotComplete")

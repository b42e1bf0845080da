/** The first part of the report: the account's business, from the models in schema `bi` of the published DuckDB file. */
import * as Effect from "effect/Effect"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import type { Failure } from "../../../values/failure.ts"
import { type Html, day, html, moment, month } from "../../../values/html.ts"
import { existingMetaTables } from "../../../stores/warehouse/meta/tables.ts"
import { modelProblems } from "../../../stores/warehouse/meta/model-problems.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { type Tile, section, tiles } from "../section.ts"
import { acquisitionTopic } from "./acquisition.ts"
import { appointmentTopic } from "./appointments.ts"
import { recurringTopic, revenueTopic } from "./money.ts"
import { lastWhole, monthsUntil } from "./months.ts"
import { outcomeTopic } from "./outcomes.ts"
import { pipelineTopic } from "./pipeline.ts"
import { replyTopic } from "./replies.ts"
import { type Context, type Topic, leftOutText, noneText } from "./topic.ts"
import { clauseOf, headlineOf, weekOf } from "./week.ts"

const topics = [
  pipelineTopic,
  outcomeTopic,
  revenueTopic,
  recurringTopic,
  acquisitionTopic,
  appointmentTopic,
  replyTopic
]

export interface Business {
  /** What happened in a week, in a sentence. */
  readonly headline: Html | undefined
  readonly content: Html
}

interface Made {
  readonly figures: ReadonlyArray<Tile>
  /** Its part of the sentence about the week. */
  readonly clause: Html | undefined
  readonly content: Html
}

/** `Warehouse` is the published DuckDB file. A topic whose model is missing says so, and the others are shown. */
export const business = Effect.fn("report.business")(function* (asOf: number, placeOf: Context["placeOf"]) {
  const found = yield* query(
    { name: String },
    "SELECT table_name AS name FROM duckdb_tables() WHERE schema_name = 'bi' AND database_name = current_database()"
  )
  const models = new Set(found.map(({ name }) => name))
  if (models.size === 0) return withoutModels("The published DuckDB file has no models in schema bi")
  const months = monthsUntil(asOf)
  const context = { months, since: month(months[0]!), lastMonth: month(lastWhole(months)), placeOf }
  const week = yield* weekOf(asOf)
  const staleSince = new Map((yield* modelProblems()).map(({ where, keptAt }) => [where, keptAt]))
  const unreadOf = yield* unreadResources
  const make = Effect.fnUntraced(function* (topic: Topic) {
    const { id, title, models: needed, resources, unknown } = topic
    const [count] = unknown ? yield* query({ n: Number }, `SELECT count(*) AS n FROM ${unknown.rows}`) : []
    const missing = { unread: unreadOf(resources), rows: count?.n ?? 0 }
    const { isEmpty, lead, content, figures } = yield* topic.find({ ...context, leftOut: leftOutText(topic, missing) })
    const shown = section({ id, title, ...(isEmpty ? { lead: noneText(topic, missing) } : { lead, content }) })
    const stale = needed.flatMap((model) => staleSince.get(model) ?? [])
    return stale.length > 0
      ? asOfDay(figures, shown, Math.min(...stale))
      : { figures, content: shown, clause: topic.week && (yield* clauseOf(topic.week, week, missing)) }
  })
  const made = yield* Effect.forEach(topics, (topic): Effect.Effect<Made, Failure, Warehouse> => {
    const { id, title, models: needed } = topic
    const without = (lead: string) =>
      Effect.succeed({ figures: [], clause: undefined, content: section({ id, title, lead }) })
    const absent = needed.filter((model) => !models.has(model))
    if (absent.length > 0) return without(`The release does not have the model ${absent.join(", ")}.`)
    return make(topic).pipe(
      Effect.catchIf(
        ({ reason }) => reason._tag === "StatementRejected",
        () => without(`The model ${needed.join(", ")} is of another version; ./sluice publish builds it again.`)
      )
    )
  })
  return {
    headline: headlineOf(
      made.flatMap(({ clause }) => clause ?? []),
      week
    ),
    content: html`${tiles(made.flatMap(({ figures }) => figures))}
      <div class="two-columns">${made.map(({ content }) => content)}</div>`
  }
})

/** A release of an earlier version may say nothing about readings. */
const unreadResources = Effect.gen(function* () {
  if (!(yield* existingMetaTables(yield* Warehouse)).has("watermarks")) return () => []
  const found = yield* query(
    { resource: String },
    "SELECT DISTINCT split_part(resource, '/', 1) AS resource FROM meta.watermarks WHERE complete_at IS NOT NULL"
  )
  const read = new Set(found.map(({ resource }) => resource))
  return (resources: ReadonlyArray<string>) => resources.filter((resource) => !read.has(resource))
})

/** The model could not be built since, so the figures are old. */
const asOfDay = (figures: ReadonlyArray<Tile>, content: Html, at: number): Made => ({
  figures: figures.map((figure) => ({ ...figure, note: `${figure.note}, as of ${day(at)}` })),
  clause: undefined,
  content: html`<div>
    ${content}
    <p class="note">These figures are as of ${moment(at)}: the model could not be built since.</p>
  </div>`
})

/** Instead of the figures. */
export const withoutModels = (why: string): Business => ({
  headline: undefined,
  content: html`<p class="lead">${why}, so there is nothing to show here.</p>`
})

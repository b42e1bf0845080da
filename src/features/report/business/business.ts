/** The first part of the report: the account's business, from the models in schema `bi` of the published DuckDB file. */
import * as Effect from "effect/Effect"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { type Html, html } from "../../../values/html.ts"
import { existingMetaTables } from "../../../stores/warehouse/meta/tables.ts"
import { modelProblems } from "../../../stores/warehouse/meta/model-problems.ts"
import { day, moment } from "../../../values/moment.ts"
import { section, tiles } from "../table.ts"
import { acquisitionTopic } from "./acquisition.ts"
import { outcomeTopic, pipelineTopic } from "./deals.ts"
import { type Context, type Topic, monthsUntil } from "./figures.ts"
import { recurringTopic, revenueTopic } from "./money.ts"
import { appointmentTopic, replyTopic } from "./service.ts"
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

/** `Warehouse` is the published DuckDB file. A topic whose model is missing says so, and the others are shown. */
export const business = Effect.fn("report.business")(function* (asOf: number, placeOf: Context["placeOf"]) {
  const found = yield* (yield* Warehouse).rows(
    "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'bi' AND database_name = current_database()"
  )
  const models = new Set(found.map((row) => String(row["table_name"])))
  if (models.size === 0) return withoutModels("The published DuckDB file has no models in schema bi")
  const months = monthsUntil(asOf)
  const week = yield* weekOf(asOf)
  const staleSince = new Map((yield* modelProblems()).map(({ where, keptAt }) => [where, keptAt]))
  const unreadOf = yield* unreadResources
  const made = yield* Effect.forEach(topics, (topic) => {
    const { id, title, models: needed } = topic
    const without = (lead: string): MadeTopic => ({
      figures: [],
      clause: undefined,
      content: section({ id, title, lead, content: undefined })
    })
    const missing = needed.filter((model) => !models.has(model))
    if (missing.length > 0) return Effect.succeed(without(`The release does not have the model ${missing.join(", ")}.`))
    const stale = needed.flatMap((model) => staleSince.get(model) ?? [])
    return Effect.gen(function* () {
      const [row] = yield* (yield* Warehouse).rows(`SELECT (${topic.unknown}) AS n`)
      const unknown = { unread: unreadOf(topic.resources), rows: Number(row?.["n"]) }
      const made = yield* topic.make({ months, unknown, placeOf })
      if (stale.length > 0) return { ...asOfDay(made, Math.min(...stale)), clause: undefined }
      return { ...made, clause: topic.week && (yield* clauseOf(topic.week, week, unknown)) }
    }).pipe(
      Effect.catchIf(
        ({ reason }) => reason._tag === "StatementRejected",
        () =>
          Effect.succeed(
            without(`The model ${needed.join(", ")} is of another version; ./sluice publish builds it again.`)
          )
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

interface MadeTopic extends Topic {
  /** Its part of the sentence about the week. */
  readonly clause: Html | undefined
}

/** A release of an earlier version may say nothing about readings. */
const unreadResources = Effect.gen(function* () {
  const warehouse = yield* Warehouse
  if (!(yield* existingMetaTables(warehouse)).has("watermarks")) return () => []
  const rows = yield* warehouse.rows(
    "SELECT DISTINCT split_part(resource, '/', 1) AS resource FROM meta.watermarks WHERE complete_at IS NOT NULL"
  )
  const read = new Set(rows.map((row) => String(row["resource"])))
  return (resources: ReadonlyArray<string>) => resources.filter((resource) => !read.has(resource))
})

/** The model could not be built since, so the figures are old. */
const asOfDay = ({ figures, content }: Topic, at: number): Topic => ({
  figures: figures.map((figure) => ({ ...figure, note: `${figure.note}, as of ${day(at)}` })),
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

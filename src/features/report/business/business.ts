/** The first part of the report: the account's business, from the models in schema `bi` of the published DuckDB file. */
import * as Effect from "effect/Effect"
import { itemAt } from "../../../catalog/present.ts"
import { Html, day, html, moment, month } from "../../../pages/html.ts"
import { modelProblems } from "../../../stores/warehouse/meta/model-problems.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { literal } from "../../../stores/warehouse/sql.ts"
import { readMetrics } from "../../../stages/publish/models/metrics.ts"
import type { Period } from "../operations/period.ts"
import { type Tile, leadOf, section, tiles } from "../section.ts"
import { number, sumOf, tableOf, text } from "../../../pages/html-table.ts"
import { acquisitionTopic } from "./acquisition.ts"
import { appointmentTopic } from "./appointments.ts"
import { callTopic } from "./calls.ts"
import { currency } from "./currencies.ts"
import { recurringTopic, revenueTopic } from "./money.ts"
import { type Months, lastWhole, monthsUntil } from "./months.ts"
import { dayMs } from "../../../catalog/timestamps.ts"
import { outcomeTopic } from "./outcomes.ts"
import { pipelineTopic } from "./pipeline.ts"
import { replyTopic } from "./replies.ts"
import { taskTopic } from "./tasks.ts"
import { type Context, type From, type RowsSql, type Topic, leftOutText, noneText } from "./topic.ts"
import { clauseOf, headlineOf, weekOf } from "./week.ts"

const topics = [
  pipelineTopic,
  outcomeTopic,
  revenueTopic,
  recurringTopic,
  acquisitionTopic,
  appointmentTopic,
  replyTopic,
  callTopic,
  taskTopic
]

/** So many locations are also shown alone. */
export const placesMax = 60

export interface Business {
  /** The names of the locations that are also shown alone. */
  readonly places: ReadonlyArray<string>
  /** What happened in a week, in a sentence. */
  readonly headline: Html | undefined
  readonly content: Html
  readonly months?: Months
}

/** The topics of one location or of all. */
interface Part {
  readonly figures: ReadonlyArray<Tile>
  readonly headline: Html | undefined
  readonly topics: ReadonlyArray<Html>
}

/** `Warehouse` is the published DuckDB file. A topic whose model is missing says so, and the others are shown. */
export const business = Effect.fn("report.business")(function* (
  asOf: number,
  { group, locations, placeOf }: Pick<Period, "group" | "locations" | "placeOf">
) {
  const models = yield* releasedModels()
  if (models.size === 0) return withoutModels("The published DuckDB file has no models in schema bi")
  const metrics = yield* Effect.promise(readMetrics)
  const week = yield* weekOf(asOf)
  // A month begins when it has begun at each location.
  const months = monthsUntil((week.last + 1) * dayMs)
  const lastMonth = month(lastWhole(months))
  const staleSince = new Map((yield* modelProblems()).map(({ where, keptAt }) => [where, keptAt]))
  const partOf = Effect.fnUntraced(function* (location?: string) {
    const ofLocation = location === undefined ? "" : ` WHERE location_id = ${literal(location)}`
    const from: From = (model) => `(FROM bi.${model}${ofLocation})`
    const own = location === undefined ? [] : [`location_id = ${literal(location)}`]
    const rowsSql: RowsSql = ({ model, where }, ...conditions) =>
      `FROM bi.${model}\nWHERE ${[...own, ...where, ...conditions].join("\n  AND ") || "true"}`
    const tile: Context["tile"] = (of, value, note, ...conditions) => ({
      title: of.label,
      value,
      note,
      rows: rowsSql(of, ...conditions)
    })
    const metric = (name: string) => metrics.of(name)
    const common = { months, since: month(itemAt(months, 0)), lastMonth, metric, from, rowsSql, tile }
    const context = { ...common, group: location ? undefined : group }
    const unreadOf = yield* unreadResources(ofLocation)
    const make = Effect.fnUntraced(function* (topic: Topic) {
      const { models: needed, resources, unknown } = topic
      const unknowns = unknown
        ? yield* query(
            { currency, n: Number, amount: Number },
            `SELECT ${unknown.amount === undefined ? "NULL AS currency" : "currency"}, count(*) AS n,
               coalesce(sum(${unknown.amount ?? "NULL::DOUBLE"}), 0) AS amount
             FROM (FROM ${unknown.rows(from)}) GROUP BY ALL ORDER BY n DESC, currency`
          )
        : []
      const missing = {
        unread: unreadOf(resources),
        rows: sumOf(unknowns, ({ n }) => n),
        worth: unknowns.filter(({ amount }) => amount !== 0)
      }
      const leftOut = leftOutText(topic, missing)
      const { isEmpty, lead, content, figures, rows } = yield* topic.find({ ...context, leftOut })
      const shown = isEmpty
        ? leadOf(noneText(topic, missing))
        : html`${leadOf(lead)}
            <div${rows === undefined ? undefined : html` data-base="${rows}"`}>${content}</div>`
      const stale = needed.flatMap((model) => staleSince.get(model) ?? [])
      if (stale.length === 0)
        return {
          figures,
          content: shown,
          clause: topic.week && (yield* clauseOf(topic.week, week, missing, context))
        }
      // The model could not be built since, so the figures are old.
      const at = Math.min(...stale)
      const note = html`<p class="note">These figures are as of ${moment(at)}: the model could not be built since.</p>`
      const dated = figures.map((figure) => ({ ...figure, note: `${figure.note}, as of ${day(at)}` }))
      return { figures: dated, content: html`${shown} ${note}`, clause: undefined }
    })
    const made = yield* Effect.forEach(topics, (topic) => {
      const { models: needed } = topic
      const without = (lead: string) => Effect.succeed({ figures: [], clause: undefined, content: leadOf(lead) })
      const absent = needed.filter((model) => !models.has(model))
      if (absent.length > 0) return without(`The release does not have the model ${absent.join(", ")}.`)
      return make(topic).pipe(
        Effect.catchIf(
          ({ reason }) => reason._tag === "StatementRejected",
          () => without(`The model ${needed.join(", ")} is of another version; ./sluice publish builds it again.`)
        )
      )
    })
    const clauses = made.flatMap(({ clause }) => clause ?? [])
    const figures = made.flatMap((one) => one.figures)
    return { figures, headline: headlineOf(week, clauses), topics: made.map(({ content }) => content) }
  })
  const all = yield* partOf()
  const each = yield* Effect.forEach(locations.length > 1 ? locations.slice(0, placesMax) : [], (location) =>
    Effect.map(partOf(location), (part) => ({ ...part, name: placeOf(location) }))
  )
  /** What is about all, and what is about each location, of which the page shows one. */
  const choice = (of: (part: Part) => Html | undefined, more?: Html) =>
    each.length === 0
      ? of(all)
      : html`<div class="place place-0">${of(all)}${more}</div>
          ${each.map((part, index) => html`<div class="place place-${index + 1}">${withIds(of(part), index + 1)}</div>`)}`
  const caption = `Figures of ${each.length < locations.length ? `${placesMax} of ${locations.length} locations` : "each location"}`
  return {
    places: each.map(({ name }) => name),
    months,
    headline: choice(({ headline }) => headline),
    content: html`${choice(({ figures }) => tiles(figures), compared(caption, all, each))}
      <div class="two-columns">
        ${topics.map(({ id, title }, index) => section({ id, title, content: choice((part) => part.topics[index]) }))}
      </div>`
  }
})

const releasedModels = Effect.fnUntraced(function* () {
  const found = yield* query(
    { name: String },
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'bi' AND table_catalog = current_database()"
  )
  return new Set(found.map(({ name }) => name))
})

/** The figures of each location, in a row. */
const compared = (caption: string, all: Part, each: ReadonlyArray<Part & { readonly name: string }>) => {
  const figure = ({ title }: Tile) =>
    number(title, ({ figures }: Part) => figures.find((one) => one.title === title)?.value ?? "–")
  return tableOf(each, {
    id: "places",
    caption,
    columns: [text("Location", ({ name }) => name), ...all.figures.map(figure)]
  })
}

/** Ids of a page are unique. In texts, quotation marks are escaped. */
const withIds = (content: Html | undefined, index: number) =>
  new Html(content?.text.replaceAll(/ (id|aria-labelledby)="/g, ` $1="place-${index}-`) ?? "")

const unreadResources = Effect.fnUntraced(function* (ofLocation: string) {
  const found = yield* query(
    { resource: String },
    `SELECT DISTINCT split_part(resource, '/', 1) AS resource FROM (FROM meta.watermarks${ofLocation}) WHERE complete_at IS NOT NULL`
  )
  const read = new Set(found.map(({ resource }) => resource))
  return (resources: ReadonlyArray<string>) => resources.filter((resource) => !read.has(resource))
})

/** Instead of the figures. */
export const withoutModels = (why: string): Business => ({
  places: [],
  headline: undefined,
  content: leadOf(`${why}, so there is nothing to show here.`)
})

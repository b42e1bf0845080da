/** The figures, each defined once: `models/marts/_metrics.yml`, in the language of dbt's semantic layer. */
import { TotalMap, present } from "../../../catalog/present.ts"
import { type SemanticModel, metricsFile } from "./files.ts"

export interface Metric {
  readonly name: string
  readonly label: string
  readonly description: string
  readonly model: string
  /** SQL: the aggregate of some rows, and that of those that meet all of `where`. */
  readonly value: string
  readonly sql: string
  /** SQL: which rows count; of a share, those of its part. Alone, and together. */
  readonly where: ReadonlyArray<string>
  readonly condition: string
  /** The day or the time by which it is counted. */
  readonly day: string
  /** `currency`: that of its rows; nothing for a number of them, and for a share. */
  readonly unit?: string | undefined
  /** A column over which it is not added. */
  readonly notOver?: string | undefined
}

export const figureText = ({ day, description, label, name, notOver, sql, unit }: Metric): string => {
  const of = unit === "currency" ? "the currency of its rows" : unit
  return `- Figure ${label} (\`${name}\`): ${description}; \`${sql}\`${of ? ` in ${of}` : ""}, by \`${day}\`${notOver ? ", over which it is not added" : ""}.`
}

/** A filter of the dbt project as SQL. */
export const conditionOf = (filter: string, { dimensions }: SemanticModel): string =>
  filter.replaceAll(
    /\{\{ Dimension\('\w+?__(\w+)'\) \}\}/g,
    (_, dimension: string) => dimensions.find(({ name }) => name === dimension)?.expr ?? dimension
  )

export const readMetrics = async (): Promise<TotalMap<string, Metric>> => {
  const { metrics, semantic_models: models } = await metricsFile()
  const made = new TotalMap<string, Metric>()
  for (const { config, description, filter = [], label, name, type_params: given } of metrics) {
    const about = { name, label, description, unit: config?.meta.unit }
    const model = models.find(({ measures = [] }) => measures.some((one) => one.name === given.measure))
    const measure = model?.measures?.find((one) => one.name === given.measure)
    if (!model || !measure) {
      const [part, whole] = [made.of(given.numerator ?? ""), made.of(given.denominator ?? "")]
      made.set(name, { ...part, ...about, sql: `${part.sql} / nullif(${whole.sql}, 0)` })
      continue
    }
    const where = filter.map((one) => conditionOf(one, model))
    const condition = where.join(" AND ") || "true"
    const value = `${measure.agg}(${measure.agg === "count" ? "*" : measure.expr})`
    made.set(name, {
      ...about,
      model: present(/'(\w+)'/.exec(model.model)?.[1], `model in ${model.model}`),
      value,
      sql: where.length === 0 ? value : `${value} FILTER (${condition})`,
      where,
      condition,
      notOver: measure.non_additive_dimension?.name,
      day: present(measure.agg_time_dimension ?? model.defaults?.agg_time_dimension, `day of ${name}`)
    })
  }
  return made
}

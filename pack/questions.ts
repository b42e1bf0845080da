/** The questions of `docs/models.md` that figures answer: the saved queries of the dbt project, in SQL. */
import { readFileSync } from "node:fs"
import { parse } from "yaml"
import { metricsFile } from "../src/stages/publish/models/files.ts"
import { type Metric, conditionOf, readMetrics } from "../src/stages/publish/models/metrics.ts"
import { wrapped } from "../src/values/text.ts"

interface SavedQueries {
  readonly saved_queries: ReadonlyArray<{
    readonly description: string
    readonly query_params: {
      readonly metrics: ReadonlyArray<string>
      readonly group_by: ReadonlyArray<string>
      readonly where?: ReadonlyArray<string>
      readonly order_by: ReadonlyArray<string>
    }
    readonly config: { readonly meta: { readonly chart: object } }
  }>
}
const file: SavedQueries = parse(readFileSync(new URL("../models/marts/_metrics.yml", import.meta.url), "utf8"))

export const questionsPart = async (): Promise<string> => {
  const [{ semantic_models: models }, metrics] = [await metricsFile(), await readMetrics()]
  return file.saved_queries
    .map(({ config, description, query_params: { group_by: by, metrics: names, order_by: order, where = [] } }) => {
      const figures = names.map((name) => metrics.get(name)!)
      const { model: table } = figures[0]!
      const model = models.find(({ model }) => model === `ref('${table}')`)!
      /** `TimeDimension('task__due_local_date', 'month')` is a column `month`, and others are named as they are. */
      const columnOf = (text: string) => {
        const [, name = "", unit] = /'(?:\w+?__)?(\w+)'(?:, '(\w+)')?/.exec(text)!
        const expression = model.dimensions.find((one) => one.name === name)?.expr
        return { name: unit ?? name, sql: unit ? `date_trunc('${unit}', ${name})::DATE` : (expression ?? name) }
      }
      const columns = by.map(columnOf).map(({ name, sql }) => (name === sql ? name : `${sql} AS ${name}`))
      const common = figures[0]!.where.filter((one) => figures.every((metric) => metric.where.includes(one)))
      const conditions = [...where.map((one) => conditionOf(one, model)), ...common]
      const filtered = ({ name, value, where: own }: Metric) => {
        const rest = own.filter((one) => !conditions.includes(one))
        return `${value}${rest.length === 0 ? "" : ` FILTER (${rest.join(" AND ")})`} AS ${name}`
      }
      return [
        ...wrapped(description, { width: 120 }),
        "",
        "```sql",
        `SELECT ${columns.join(", ")},`,
        ...figures.map((metric, index) => `  ${filtered(metric)}${index === figures.length - 1 ? "" : ","}`),
        `FROM bi.${table}`,
        ...(conditions.length === 0 ? [] : [`WHERE ${conditions.join(" AND ")}`]),
        "GROUP BY ALL",
        `ORDER BY ${order.map((one) => `${columnOf(one).name}${one.includes("descending") ? " DESC" : ""}`).join(", ")};`,
        `-- chart: ${JSON.stringify(config.meta.chart)}`,
        "```"
      ].join("\n")
    })
    .join("\n\n")
}

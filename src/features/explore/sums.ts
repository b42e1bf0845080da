/** Which sum of a chart says nothing, in one sentence, by the types of the columns of models. */
import type { ModelNumber } from "../../stages/publish/models/model.ts"
import type { ChartOrder } from "./chart-order.ts"
import type { ShownCatalog } from "./releases.ts"

export const wrongSum = async (
  { isMixed, named = [], sums = [] }: ChartOrder,
  shown: () => Promise<ShownCatalog["tables"]>
) => {
  if (isMixed)
    return "The chart would add amounts of several currencies: choose lines or bars side by side, or select one currency."
  if (sums.length === 0) return undefined
  const numbers = new Map<string, { readonly name: string; readonly number: ModelNumber }>(
    (await shown()).flatMap(({ columns, name: table, schema }) =>
      columns.flatMap(({ name, number }) => (number ? [[`${schema}.${table}.${name}`, { name, number }] as const] : []))
    )
  )
  for (const [path = "", ...by] of sums) {
    const found = numbers.get(path)
    if (found === undefined) continue
    const { name, number } = found
    const of = `${name} of ${path.slice(0, -name.length - 1)}`
    // A price adds up once it is multiplied by what does.
    if (number.sum === "non_additive" && by.every((one) => (numbers.get(one)?.number.sum ?? number.sum) === number.sum))
      return `${of} does not add up: choose its median, its average, or a number of rows.`
    const within = number.unit === "currency" ? [number.not_over, number.unit] : [number.not_over]
    const over = within.find((one) => one !== undefined && !named.includes(one))
    if (over !== undefined) return `${of} adds up within one ${over} only: name ${over} in the query.`
  }
  return undefined
}

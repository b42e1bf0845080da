/** Which sum of a chart says nothing, in one sentence, by the types of the columns of models. */
import type { Body } from "../../network/server.ts"
import type { ShownCatalog } from "./releases.ts"

const has = (all: unknown, one: string): boolean => Array.isArray(all) && all.includes(one)

/** `body`: the parts of a query, what the chart adds up besides, and whether it adds several currencies. */
export const wrongSum = async (body: Body, shown: () => Promise<ShownCatalog["tables"]>) => {
  const { isMixed, named, read, sums } = body
  if (isMixed === true)
    return "The chart would add amounts of several currencies: choose lines or bars side by side, or select one currency."
  if (!Array.isArray(sums) || sums.length === 0) return undefined
  for (const { columns, name: table, schema } of await shown())
    for (const { name, number } of has(read, `${schema}.${table}`) ? columns : []) {
      if (number === undefined || !has(sums, name)) continue
      const of = `${name} of ${schema}.${table}`
      if (number.sum === "non_additive")
        return `${of} does not add up: choose its median, its average, or a number of rows.`
      const within = [number.not_over, number.unit === "currency" ? number.unit : undefined]
      const over = within.find((one) => one !== undefined && !has(named, one))
      if (over !== undefined) return `${of} adds up within one ${over} only: name ${over} in the query.`
    }
  return undefined
}

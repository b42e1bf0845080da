/** How many records the service counts in a list: one small request for each partition. */
import { Effect } from "effect"
import { expectedOf, failureIn } from "../../catalog/answer.ts"
import { at } from "../../catalog/json.ts"
import { bind } from "../../catalog/request.ts"
import { type Resource, type Strategy, partitionsOf } from "../../catalog/resource.ts"
import type { OptionalSettings } from "../../catalog/optional-settings.ts"
import { Api } from "./api.ts"

/** Where the list is, and since which time its records count, in epoch milliseconds. */
export interface Counted {
  readonly location: string
  readonly company: string | undefined
  readonly optional: OptionalSettings
  readonly since?: number | undefined
}

/** The total over all partitions; `undefined` if the service sends none and the list is longer than a page. */
export const listTotal = Effect.fn("api.listTotal")(function* (
  resource: Resource,
  strategy: Strategy,
  { company, location, optional, since }: Counted
) {
  const period = { windowStart: Date.parse("2000-01-01"), windowEnd: Date.parse("2100-01-01") }
  let sum: number | undefined = 0
  for (const [name, { parameters = {} }] of partitionsOf(resource, optional)) {
    const request = { ...strategy.request, parameters: { ...strategy.request.parameters, ...parameters } }
    const values = {
      location,
      company,
      // Without a total, a whole page shows whether there are more. Some lists refuse a page of fewer than ten records.
      size: strategy.total === undefined ? strategy.pageSize : 10,
      since: since ?? period.windowStart,
      partition: name,
      ...period,
      ...(since && { windowStart: since })
    }
    const { body } = yield* (yield* Api).send({
      request: bind(request, values),
      pathTemplate: request.path,
      priority: 1,
      resource: resource.table,
      failureIn: failureIn(expectedOf(resource, strategy, name))
    })
    const total = strategy.total === undefined ? recordsOf(body, strategy) : Number(at(body, strategy.total))
    sum = sum === undefined || total === undefined || !Number.isFinite(total) ? undefined : sum + total
  }
  return sum
})

/** The number of records of a list that is not longer than this page. */
const recordsOf = (body: unknown, { paging, records, pageSize }: Strategy): number | undefined => {
  const found = records === "" ? body : at(body, records)
  const count = Array.isArray(found) ? found.length : found === undefined || found === null ? 0 : 1
  return paging.kind === "once" || count < pageSize ? count : undefined
}

/** What a plan expects of a list whose total the service reports, and how the sync after a plan expects the same. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { dayMs } from "../../catalog/timestamps.ts"
import { type Strategy, partitionsOf } from "../../catalog/resource.ts"
import type { OptionalSettings } from "../../catalog/optional-settings.ts"
import { between, exactly } from "../../values/range.ts"
import type { Step } from "../../values/step.ts"
import { plannedTotals } from "../../stores/warehouse/meta/planned-totals.ts"
import { type ExpectedStep, pagesOfFullRead, requestsForTotal, plannedOf } from "./expect.ts"
import type { Plan } from "./plan.ts"

/** A total tells more about a list that was never read, or that the service filters by the time of the last change. */
export const strategyToAsk = ({ step: { resource, mode }, list }: ExpectedStep): Strategy | undefined => {
  if (!list) return undefined
  if (mode !== "incremental") return list.basis === "unknown" ? resource.full?.[0] : undefined
  const strategy = resource.changes?.strategies[0]
  return strategy?.total !== undefined && strategy.verifyField !== undefined ? strategy : undefined
}

/** The step with the requests that follow from the total of its list. */
export const withTotal = (
  expected: ExpectedStep,
  strategy: Strategy,
  total: number,
  optional: OptionalSettings
): ExpectedStep => {
  const { step } = expected
  const pages = pagesOfFullRead({ ...strategy, ...sizeOf(step, strategy) }, total) ?? 1
  const known = { basis: "total of the API", records: total } as const
  if (step.mode === "incremental") {
    // The lists of changed and of added records overlap.
    const lists = 1 + (step.resource.changes?.added ? 1 : 0)
    const forTotal = requestsForTotal(step.resource, optional)
    const least = step.resource.changes?.newest ? pages : pages + forTotal
    const requests = between(least, pages * lists + lists - 1 + forTotal)
    return { ...expected, list: { ...known, requests, changed: between(0, total) } }
  }
  const more = partitionsOf(step.resource, optional).length - 1
  const requests = between(pages, pages + more + (strategy.paging.kind === "offset" ? Math.ceil(pages / 50) : 0))
  // Most records of a list that was read before are known, and have their children.
  const changed = (expected.list?.rows ?? 0) > 0 ? between(0, total) : exactly(total)
  return { ...expected, list: { ...known, requests, changed } }
}

const sizeOf = ({ capabilities }: Step, { pageSize }: Strategy) => ({ pageSize: capabilities.sizes["all"] ?? pageSize })

/** The plan of a sync with the totals that `sluice plan` asked for within the last day, which cost it no request. */
export const withPlannedTotals = Effect.fnUntraced(function* (
  plan: Plan,
  { location, optional }: { readonly location: string; readonly optional: OptionalSettings }
) {
  const totals = yield* plannedTotals(location, (yield* Clock.currentTimeMillis) - dayMs)
  const expected = plan.expected.map((one) => {
    const { resource, since } = one.step
    const known = totals.find((total) => total.resource === resource.table && total.since === since)
    const strategy = known && strategyToAsk(one)
    return strategy ? withTotal(one, strategy, known.total, optional) : one
  })
  return { ...plan, expected, requests: plannedOf(expected) }
})

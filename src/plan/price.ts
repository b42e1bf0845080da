/** Prices a plan: what earlier runs know, and for lists never read the total on one page each. */
import { Effect } from "effect"
import { Api } from "../api/api.ts"
import type { Limits } from "../api/budget.ts"
import { at } from "../catalog/body.ts"
import { fill } from "../catalog/request.ts"
import { type Plan, type Step, fullRequests } from "./plan.ts"

export interface Priced {
  readonly resource: string
  readonly mode: Step["mode"]
  readonly records: number | undefined
  readonly requests: number | undefined
  readonly from: "earlier runs" | "the service's total" | "one request" | "its parents" | "nothing yet"
}

export const price = Effect.fn("plan.price")(function* (
  { steps }: Plan,
  account: { readonly location: string; readonly company: string | undefined },
  limits: Limits
) {
  const api = yield* Api
  const lists = yield* Effect.forEach(
    steps.filter(({ mode }) => mode !== "each"),
    (step) => priceList(step, account),
    { concurrency: 8 }
  )
  const recordsByTable = new Map(lists.map(({ resource, records }) => [resource, records]))
  const fanOuts = steps
    .filter(({ mode }) => mode === "each")
    .map(({ resource, mode, requests }): Priced => {
      const parents = requests ?? recordsByTable.get(resource.each!.table)
      return {
        resource: resource.table,
        mode,
        records: undefined,
        requests: parents,
        from: requests === undefined ? "its parents" : "earlier runs"
      }
    })
  const priced = [...lists, ...fanOuts]
  const requests = priced.reduce((sum, step) => sum + (step.requests ?? 0), 0)
  const { burst, dailyRemaining } = api.usage()
  return { priced, requests, dailyRemaining, elapsedMs: (Math.max(0, requests - burst) / burst) * limits.windowMs }
})

const priceList = Effect.fnUntraced(function* (
  { resource, mode, since, requests }: Step,
  account: { readonly location: string; readonly company: string | undefined }
) {
  const common = { resource: resource.table, mode }
  if (requests !== undefined) return { ...common, records: undefined, requests, from: "earlier runs" } satisfies Priced
  const way = resource.full[0]!
  if (way.paging.kind === "once")
    return { ...common, records: undefined, requests: 1, from: "one request" } satisfies Priced
  if (way.total === undefined)
    return { ...common, records: undefined, requests: undefined, from: "nothing yet" } satisfies Priced
  const totals = yield* Effect.forEach(Object.values(resource.passes ?? { all: {} }), (parameters) => {
    const request = fill(
      { ...way.request, parameters: { ...way.request.parameters, ...parameters } },
      { ...account, size: 10, since, windowStart: Date.parse("2000-01-01"), windowEnd: Date.parse("2100-01-01") }
    )
    return yieldTotal(request, resource.table, way.total!)
  })
  const total = totals.every((value) => value !== undefined)
    ? totals.reduce<number>((sum, value) => sum + value!, 0)
    : undefined
  return {
    ...common,
    records: total,
    requests: fullRequests(resource, total),
    from: "the service's total"
  } satisfies Priced
})

/** A list that cannot be read is no reason not to price the others; the sync will say why. */
const yieldTotal = Effect.fnUntraced(function* (request: ReturnType<typeof fill>, resource: string, path: string) {
  const answer = yield* (yield* Api).send({ request, priority: 1, resource }).pipe(
    Effect.catchTags({
      NotPermitted: () => Effect.succeed(undefined),
      Refused: () => Effect.succeed(undefined),
      Gone: () => Effect.succeed(undefined)
    })
  )
  const total = Number(at(answer?.body, path))
  return Number.isFinite(total) ? total : undefined
})

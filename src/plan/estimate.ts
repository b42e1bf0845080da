/** Estimates the requests of a plan: from earlier runs or, for lists never read, from the total on one page. */
import { Effect } from "effect"
import { Api } from "../api/api.ts"
import type { Limits } from "../api/rate-limiter.ts"
import type { Partition } from "../catalog/resource.ts"
import { at } from "../catalog/json.ts"
import { type BoundRequest, bind, get } from "../catalog/request.ts"
import type { Step } from "../values/step.ts"
import { type Plan, pagesOfFullRead } from "./plan.ts"

export interface Estimate {
  readonly resource: string
  readonly mode: Step["mode"]
  readonly records: number | undefined
  readonly requests: number | undefined
  readonly from:
    | "earlier runs"
    | "the service's total"
    | "one request"
    | "its parents"
    | "at least one request"
    | "nothing yet"
}

interface Account {
  readonly location: string
  readonly company: string | undefined
}

export const estimate = Effect.fn("plan.estimate")(function* ({ steps }: Plan, account: Account, limits: Limits) {
  const api = yield* Api
  const withCompany = { ...account, company: account.company ?? (yield* companyOf(account.location)) }
  const lists = yield* Effect.forEach(
    steps.filter(({ mode }) => mode !== "children"),
    (step) => estimateList(step, withCompany),
    { concurrency: 8 }
  )
  const recordsByTable = new Map(lists.map(({ resource, records }) => [resource, records]))
  const children = steps.filter(({ mode }) => mode === "children").map((step) => estimateChildren(step, recordsByTable))
  const estimated = [...lists, ...children]
  const requests = estimated.reduce((sum, step) => sum + (step.requests ?? 0), 0)
  const { burst, dailyRemaining } = api.usage()
  return { estimated, requests, dailyRemaining, elapsedMs: (Math.max(0, requests - burst) / burst) * limits.windowMs }
})

const estimateChildren = (
  { resource, mode, requests }: Step,
  recordsByTable: ReadonlyMap<string, number | undefined>
): Estimate => {
  const { table, where, ids } = resource.childOf!
  // Only the parent rows show how many of them the condition or the list of ids selects.
  const isFiltered = where !== undefined || ids !== undefined
  const parents = isFiltered ? undefined : recordsByTable.get(table)
  const from = requests !== undefined ? "earlier runs" : parents === undefined ? "nothing yet" : "its parents"
  return { resource: resource.table, mode, records: undefined, requests: requests ?? parents, from }
}

const estimateList = Effect.fnUntraced(function* ({ resource, mode, since, requests }: Step, account: Account) {
  const strategy = resource.full![0]!
  const estimated = (from: Estimate["from"], cost = requests, records?: number): Estimate => ({
    resource: resource.table,
    mode,
    records,
    requests: cost,
    from
  })
  const partitions: ReadonlyArray<Partition> =
    typeof resource.partitions === "object" ? Object.values(resource.partitions) : [{}]
  if (strategy.paging.kind === "once") return estimated("one request", partitions.length)
  if (requests !== undefined) return estimated("earlier runs")
  if (strategy.total === undefined) return estimated("at least one request", 1)
  const totals = yield* Effect.forEach(partitions, ({ parameters = {} }) =>
    totalOf(
      bind(
        { ...strategy.request, parameters: { ...strategy.request.parameters, ...parameters } },
        { ...account, size: 10, since, windowStart: Date.parse("2000-01-01"), windowEnd: Date.parse("2100-01-01") }
      ),
      resource.table,
      strategy.total!
    )
  )
  const total = totals.every((value) => value !== undefined)
    ? totals.reduce<number>((sum, value) => sum + value!, 0)
    : undefined
  const pages = pagesOfFullRead(strategy, total)
  const details = resource.detail && total !== undefined ? total : 0
  return estimated("the service's total", pages === undefined ? undefined : pages + details, total)
})

/** `undefined` if the list cannot be read: the others are still estimated, and the sync will report the reason. */
const totalOf = Effect.fnUntraced(function* (request: BoundRequest, resource: string, path: string) {
  const body = yield* bodyOf(request, resource)
  const total = Number(at(body, path))
  return Number.isFinite(total) ? total : undefined
})

const companyOf = Effect.fnUntraced(function* (location: string) {
  const body = yield* bodyOf(bind(get("/locations/{locationId}"), { location }), "locations")
  const company = at(body, "location.companyId")
  return typeof company === "string" ? company : undefined
})

const bodyOf = Effect.fnUntraced(
  function* (request: BoundRequest, resource: string) {
    return (yield* (yield* Api).send({ request, priority: 1, resource })).body
  },
  Effect.catchTags({
    Forbidden: () => Effect.succeed(undefined),
    RequestRejected: () => Effect.succeed(undefined),
    NotFound: () => Effect.succeed(undefined)
  })
)

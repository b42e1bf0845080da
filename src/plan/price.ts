/** Prices a plan: what earlier runs know, and for lists never read the total on one page each. */
import { Effect } from "effect"
import { Api } from "../api/api.ts"
import type { Limits } from "../api/budget.ts"
import type { Pass } from "../catalog/resource.ts"
import { at } from "../catalog/body.ts"
import { type FilledRequest, fill, get } from "../catalog/request.ts"
import { type Plan, type Step, fullRequests } from "./plan.ts"

export interface Priced {
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

export const price = Effect.fn("plan.price")(function* ({ steps }: Plan, account: Account, limits: Limits) {
  const api = yield* Api
  const known = { ...account, company: account.company ?? (yield* companyOf(account.location)) }
  const lists = yield* Effect.forEach(
    steps.filter(({ mode }) => mode !== "each"),
    (step) => priceList(step, known),
    { concurrency: 8 }
  )
  const recordsByTable = new Map(lists.map(({ resource, records }) => [resource, records]))
  const fanOuts = steps.filter(({ mode }) => mode === "each").map((step) => priceFanOut(step, recordsByTable))
  const priced = [...lists, ...fanOuts]
  const requests = priced.reduce((sum, step) => sum + (step.requests ?? 0), 0)
  const { burst, dailyRemaining } = api.usage()
  return { priced, requests, dailyRemaining, elapsedMs: (Math.max(0, requests - burst) / burst) * limits.windowMs }
})

const priceFanOut = (
  { resource, mode, requests }: Step,
  recordsByTable: ReadonlyMap<string, number | undefined>
): Priced => {
  const { table, where, ids } = resource.each!
  // Which of the rows count can only be told from the rows.
  const some = where !== undefined || ids !== undefined
  const parents = some ? undefined : recordsByTable.get(table)
  const from = requests !== undefined ? "earlier runs" : parents === undefined ? "nothing yet" : "its parents"
  return { resource: resource.table, mode, records: undefined, requests: requests ?? parents, from }
}

const priceList = Effect.fnUntraced(function* ({ resource, mode, since, requests }: Step, account: Account) {
  const way = resource.full[0]!
  const priced = (from: Priced["from"], cost = requests, records?: number): Priced => ({
    resource: resource.table,
    mode,
    records,
    requests: cost,
    from
  })
  const passes: ReadonlyArray<Pass> = typeof resource.passes === "object" ? Object.values(resource.passes) : [{}]
  if (way.paging.kind === "once") return priced("one request", passes.length)
  if (requests !== undefined) return priced("earlier runs")
  if (way.total === undefined) return priced("at least one request", 1)
  const totals = yield* Effect.forEach(passes, ({ parameters = {} }) =>
    totalOf(
      fill(
        { ...way.request, parameters: { ...way.request.parameters, ...parameters } },
        { ...account, size: 10, since, windowStart: Date.parse("2000-01-01"), windowEnd: Date.parse("2100-01-01") }
      ),
      resource.table,
      way.total!
    )
  )
  const total = totals.every((value) => value !== undefined)
    ? totals.reduce<number>((sum, value) => sum + value!, 0)
    : undefined
  const pages = fullRequests(resource, total)
  const details = resource.detail && total !== undefined ? total : 0
  return priced("the service's total", pages === undefined ? undefined : pages + details, total)
})

/** A list that cannot be read is no reason not to price the others; the sync will say why. */
const totalOf = Effect.fnUntraced(function* (request: FilledRequest, resource: string, path: string) {
  const body = yield* bodyOf(request, resource)
  const total = Number(at(body, path))
  return Number.isFinite(total) ? total : undefined
})

const companyOf = Effect.fnUntraced(function* (location: string) {
  const body = yield* bodyOf(fill(get("/locations/{location}"), { location }), "locations")
  const company = at(body, "location.companyId")
  return typeof company === "string" ? company : undefined
})

const bodyOf = Effect.fnUntraced(
  function* (request: FilledRequest, resource: string) {
    return (yield* (yield* Api).send({ request, priority: 1, resource })).body
  },
  Effect.catchTags({
    NotPermitted: () => Effect.succeed(undefined),
    Refused: () => Effect.succeed(undefined),
    Gone: () => Effect.succeed(undefined)
  })
)

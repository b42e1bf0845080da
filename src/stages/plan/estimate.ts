/** Narrows what a plan is expected to take by asking the service: one small request for each list whose total tells more. */
import { Effect } from "effect"
import { Api, type Call } from "../api/api.ts"
import { expectedOf, failureIn } from "../../catalog/answer.ts"
import { at } from "../../catalog/json.ts"
import { type BoundRequest, bind, get } from "../../catalog/request.ts"
import { type Strategy, partitionsOf } from "../../catalog/resource.ts"
import type { Account } from "../../settings/settings.ts"
import { exactly } from "../../values/range.ts"
import type { Step } from "../../values/step.ts"
import { type ExpectedRequests, type ExpectedStep, requestsOf } from "./expect.ts"
import { strategyToAsk, withTotal } from "./totals.ts"

export interface Refusal {
  /** `forbidden`: the token lacks the scope. */
  readonly kind: "forbidden" | "notFound" | "rejected"
  readonly message: string
}

export interface Estimate extends ExpectedRequests {
  /** Why the service does not answer the request of the list. */
  readonly refused?: Refusal
}

export const estimate = Effect.fn("plan.estimate")(function* (expected: ReadonlyArray<ExpectedStep>, account: Account) {
  const withCompany = { ...account, company: account.company ?? (yield* companyOf(account.location)) }
  const refused = new Map<string, Refusal>()
  const narrowed = yield* Effect.forEach(
    expected,
    (one) =>
      Effect.map(narrow(one, withCompany), (result) => {
        if (!("refused" in result)) return result
        refused.set(one.step.resource.table, result.refused)
        return { ...one, list: { ...one.list!, requests: exactly(1), changed: exactly(0) } }
      }),
    { concurrency: 8 }
  )
  return requestsOf(narrowed).map((one) => {
    const refusal = refused.get(one.label)
    return refusal ? { ...one, refused: refusal } : one
  })
})

const narrow = Effect.fnUntraced(function* (expected: ExpectedStep, account: Account) {
  const strategy = strategyToAsk(expected)
  if (!strategy) return expected
  const answer = yield* totalOf(expected.step, strategy, account)
  if (answer === undefined) return expected
  if ("refused" in answer) return answer
  return answer.total === undefined ? expected : withTotal(expected, strategy, answer.total, account.optional)
})

/** The total over all partitions; `undefined` if the service sends none and the list is longer than a page. */
const totalOf = Effect.fnUntraced(function* ({ resource, since }: Step, strategy: Strategy, account: Account) {
  const period = { windowStart: Date.parse("2000-01-01"), windowEnd: Date.parse("2100-01-01") }
  let sum: number | undefined = 0
  for (const [name, { parameters = {} }] of partitionsOf(resource, account.optional)) {
    const request = { ...strategy.request, parameters: { ...strategy.request.parameters, ...parameters } }
    const from = since ?? period.windowStart
    // Without a total, a whole page shows whether there are more.
    const size = strategy.total === undefined ? strategy.pageSize : 10
    const answer = yield* bodyOf(
      bind(request, {
        ...account,
        size,
        since: from,
        partition: name,
        ...period,
        ...(since && { windowStart: since })
      }),
      resource.table,
      failureIn(expectedOf(resource, strategy, name))
    )
    if ("refused" in answer) return answer
    const total =
      strategy.total === undefined ? recordsOf(answer.body, strategy) : Number(at(answer.body, strategy.total))
    sum = sum === undefined || total === undefined || !Number.isFinite(total) ? undefined : sum + total
  }
  return { total: sum }
})

/** The number of records of a list that is not longer than this page. */
const recordsOf = (body: unknown, { paging, records, pageSize }: Strategy): number | undefined => {
  const found = records === "" ? body : at(body, records)
  const count = Array.isArray(found) ? found.length : found === undefined || found === null ? 0 : 1
  return paging.kind === "once" || count < pageSize ? count : undefined
}

const companyOf = Effect.fnUntraced(function* (location: string) {
  const answer = yield* bodyOf(bind(get("/locations/{locationId}"), { location }), "locations")
  const company = "body" in answer ? at(answer.body, "location.companyId") : undefined
  return typeof company === "string" ? company : undefined
})

const bodyOf = Effect.fnUntraced(
  function* (request: BoundRequest, resource: string, failureIn: Call["failureIn"] = () => undefined) {
    const { body } = yield* (yield* Api).send({ request, priority: 1, resource, failureIn })
    return { body } as { readonly body: unknown } | { readonly refused: Refusal }
  },
  Effect.catchTags({
    Forbidden: ({ message }) => refusal("forbidden", message),
    RequestRejected: ({ message, status }) => refusal(status === 404 ? "notFound" : "rejected", message),
    NotFound: ({ message }) => refusal("notFound", message)
  })
)

const refusal = (kind: Refusal["kind"], message: string) => Effect.succeed({ refused: { kind, message } })

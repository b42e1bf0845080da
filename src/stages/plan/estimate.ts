/** Narrows what a plan is expected to take by asking the service: one small request for each list whose total tells more. */
import { Effect } from "effect"
import { Api } from "../api/api.ts"
import type { ApiError } from "../api/errors.ts"
import { listTotal } from "../api/list-total.ts"
import { at } from "../../catalog/json.ts"
import { bind, get } from "../../catalog/request.ts"
import type { Account } from "../../settings/settings.ts"
import type { Failure } from "../../values/failure.ts"
import { exactly } from "../../values/range.ts"
import { type ExpectedRequests, type ExpectedStep, requestsOf } from "./expect.ts"
import { strategyToAsk, withTotal } from "./totals.ts"

export interface Refusal {
  /** `forbidden`: the token lacks the scope. `unanswered`: no attempt had a usable response, and others had. */
  readonly kind: "forbidden" | "notFound" | "rejected" | "unanswered"
  readonly message: string
}

export interface Estimate extends ExpectedRequests {
  /** Why the service does not answer the request of the list. */
  readonly refused?: Refusal
}

export const estimate = Effect.fn("plan.estimate")(function* (expected: ReadonlyArray<ExpectedStep>, account: Account) {
  const owner = account.company === undefined ? yield* ownerOf(account.location) : undefined
  const withCompany = { ...account, company: account.company ?? owner?.company }
  const refused = new Map<string, Refusal>()
  const narrowed = yield* Effect.forEach(
    expected,
    (one) =>
      Effect.map(narrow(one, withCompany), (result) => {
        if (!("refused" in result)) return result
        if (!one.step.resource.isTrial) refused.set(one.step.resource.table, result.refused)
        if (result.refused.kind === "unanswered") return one
        return one.list ? { ...one, list: { ...one.list, requests: exactly(1), changed: exactly(0) } } : one
      }),
    { concurrency: 8 }
  )
  const estimated = requestsOf(narrowed).map((one): Estimate => {
    const refusal = refused.get(one.label)
    return refusal ? { ...one, refused: refusal } : one
  })
  return { estimated, name: owner?.name }
})

const narrow = Effect.fnUntraced(function* (expected: ExpectedStep, account: Account) {
  const strategy = strategyToAsk(expected)
  if (!strategy) return expected
  const { resource, since } = expected.step
  const total = yield* refusable(listTotal(resource, strategy, { ...account, company: account.company, since }))
  if (typeof total === "object") return total
  return total === undefined ? expected : withTotal(expected, strategy, total, account.optional)
})

/** The company of a location, and its name, which no table has before the first sync. */
const ownerOf = Effect.fnUntraced(function* (location: string) {
  const request = bind(get("/locations/{locationId}"), { location })
  const answer = yield* refusable((yield* Api).send({ request, priority: 1, resource: "locations" }))
  const textAt = (path: string) => {
    const text = "body" in answer ? at(answer.body, path) : undefined
    return typeof text === "string" && text !== "" ? text : undefined
  }
  return { company: textAt("location.companyId"), name: textAt("location.name") }
})

const refusable = <A>(request: Effect.Effect<A, ApiError | Failure, Api>) =>
  request.pipe(
    Effect.catchTags({
      Forbidden: ({ message }) => refusal("forbidden", message),
      RequestRejected: ({ message, status }) => refusal(status === 404 ? "notFound" : "rejected", message),
      Unavailable: (error) => (error.later ? Effect.fail(error) : refusal("unanswered", error.message))
    })
  )

const refusal = (kind: Refusal["kind"], message: string) => Effect.succeed({ refused: { kind, message } })

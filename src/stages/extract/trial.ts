/** Readings of what no account has shown yet: whatever is no list there means that this account does not have it. */
import { Effect } from "effect"
import { Api } from "../api/api.ts"
import { type ApiError, detailOf } from "../api/errors.ts"
import type { Resource } from "../../catalog/resource.ts"
import { type Capabilities, noCapabilities } from "../../values/capabilities.ts"
import type { Failure } from "../../values/failure.ts"
import type { Detail } from "../../values/reason.ts"
import type { Outcome } from "../../stores/vault/entry.ts"
import type { RunContext } from "./run-context.ts"

/** A reading on trial that ended without a record: a refusal, a rejection and another form end it, and no error of the service. */
export const onTrial = <R>(
  resource: Resource,
  label: string,
  reading: Effect.Effect<Outcome, ApiError | Failure, R>,
  { counts }: RunContext
) => {
  if (!resource.isTrial) return reading
  const none = Effect.fnUntraced(function* (detail: Detail) {
    yield* Effect.annotateLogs(Effect.logInfo("not offered by this account"), { resource: label })
    return {
      mode: "full",
      shortfalls: [],
      warnings: [{ _tag: "NotOffered", detail }],
      requests: (yield* Api).requestsByResource.get(label) ?? 0,
      capabilities: { ...noCapabilities, notOffered: detail }
    } satisfies Outcome as Outcome
  })
  const isEmpty = () => (counts.get(label)?.records ?? 0) === 0
  return reading.pipe(
    Effect.flatMap((outcome) => {
      const details = outcome.shortfalls.flatMap((one) => (one._tag === "RequestsFailed" ? [one.detail] : []))
      const [first] = details
      const isRefused = details.every(({ answered = 0 }) => answered < 500)
      return first && isRefused && isEmpty() ? none(first) : Effect.succeed(outcome)
    }),
    Effect.catchIf(
      (error) => (error._tag === "Forbidden" || (error._tag === "RequestRejected" && !error.unsent)) && isEmpty(),
      (error) => none(detailOf(error as Detail))
    )
  )
}

/** What the account did not have lately is not requested. */
export const resting = (since: number, { notOffered }: Capabilities) =>
  Effect.succeed<Outcome>({
    mode: "children",
    fetchedAt: since,
    shortfalls: [],
    warnings: notOffered ? [{ _tag: "NotOffered", detail: notOffered }] : [],
    requests: 0
  })

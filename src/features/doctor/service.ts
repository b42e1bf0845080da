/** Checks the token, its scopes, the clock and the rate limits against the service. */
import { Clock, Effect } from "effect"
import { Api } from "../../stages/api/api.ts"
import type { ApiError, BadCredentials, BudgetExhausted, Unavailable, WrongLocation } from "../../stages/api/errors.ts"
import { at } from "../../catalog/json.ts"
import type { Catalogue } from "../../catalog/discover.ts"
import { bind, get } from "../../catalog/request.ts"
import type { Explanation, Failure } from "../../values/failure.ts"
import type { AccountSettings } from "../../settings/settings.ts"
import { ok, warning } from "../../values/finding.ts"
import { type DoctorFinding, problem } from "./finding.ts"
import { checkScopes } from "./scopes.ts"

export interface ServiceOptions {
  readonly catalogue: Catalogue
  readonly account: AccountSettings
  readonly explained: (refusal: BadCredentials | WrongLocation | BudgetExhausted | Unavailable | Failure) => Explanation
}

export const service = Effect.fn("doctor.service")(function* ({ catalogue, account, explained }: ServiceOptions) {
  const api = yield* Api
  const { location } = account
  const sentAt = yield* Clock.currentTimeMillis
  const request = bind(get("/locations/{locationId}"), { location })
  const answer = yield* api
    .send({ request, priority: 1, resource: "doctor" })
    .pipe(Effect.catch((error: ApiError | Failure) => Effect.succeed(error)))
  if ("_tag" in answer) {
    switch (answer._tag) {
      case "Forbidden":
      case "RequestRejected":
        // The service accepts the token: the scope or the location is missing.
        return [
          problem("token", {
            ends: "credentials",
            message: `location ${location} cannot be read: ${answer.message}`,
            next: `Check the location id, and that ${account.tokenName} has the scope locations.readonly.`
          })
        ]
      case "BudgetExhausted":
        return [problem("budget", explained(answer))]
      default:
        return [problem("token", explained(answer))]
    }
  }
  const name = at(answer.body, "location.name")
  const company = account.company ?? at(answer.body, "location.companyId")
  const lines = [
    ok("token", `accepted for location ${location}${typeof name === "string" ? `, ${name}` : ""}`),
    clock(answer.serviceTime, (sentAt + answer.at) / 2)
  ]
  const scopes = yield* checkScopes(catalogue, {
    location,
    optional: account.optional,
    company: typeof company === "string" ? company : undefined
  }).pipe(
    Effect.catchTag("BudgetExhausted", ({ message, resumeAt }) =>
      Effect.succeed([
        warning(
          "scopes",
          `not checked: ${message}`,
          `./sluice doctor${resumeAt === undefined ? "" : `, after ${new Date(resumeAt).toISOString()}`}`
        )
      ])
    ),
    Effect.catch((error) => Effect.succeed([problem("scopes", explained(error))]))
  )
  return [...lines, ...scopes, budget(api.usage(), account.api.limits.reservePerDay)]
})

/** The service sends times by its own clock, and sluice compares cursors, tokens and watermarks with the local clock. */
const driftMsMax = 60_000

const clock = (theirs: number | undefined, ours: number): DoctorFinding => {
  if (theirs === undefined) return warning("clock", "the service sends no time", "Check this machine's clock.")
  // The service sends whole seconds.
  const seconds = Math.round((theirs + 500 - ours) / 1000)
  return Math.abs(theirs + 500 - ours) <= driftMsMax
    ? ok("clock", `within ${Math.max(1, Math.abs(seconds))} s of the service's`)
    : warning(
        "clock",
        `this machine is ${Math.abs(seconds).toLocaleString("en-US")} s ${seconds > 0 ? "behind" : "ahead of"} the service`,
        "Set the clock, for example with NTP: a sync requests changes since a point in time."
      )
}

const budget = ({ burst, windowMs, dailyRemaining }: ReturnType<Api["Service"]["usage"]>, reserve: number) => {
  const limits = `${burst} requests in ${windowMs / 1000} s`
  const reserved = `${reserve.toLocaleString("en-US")} reserved for other programs`
  if (dailyRemaining === undefined)
    return warning(
      "budget",
      `${limits}; the service does not report how many are left today`,
      "Nothing to do: a sync stops when the service refuses requests."
    )
  const what = `${limits}, ${dailyRemaining.toLocaleString("en-US")} left today, ${reserved}`
  return dailyRemaining > reserve
    ? ok("budget", what)
    : problem("budget", {
        ends: "later",
        message: what,
        next: "Run ./sluice sync when the service's day is over, or lower budget.reserve_per_day."
      })
}

/** What the requests of one token and location share: the slots of the budget, the token, and the reasons to try again. */
import { Clock, Effect, Exit, Option, Random } from "effect"
import type { Failure } from "../../values/failure.ts"
import type { Retry } from "./classify.ts"
import type { Credentials } from "./credentials.ts"
import {
  type ApiError,
  BadCredentials,
  BudgetExhausted,
  type RequestRejected,
  type TransportError,
  Unavailable,
  detailOf
} from "./errors.ts"
import type { Received } from "./exchange.ts"
import { rateHeaders } from "./http.ts"
import type { Budget, Priority } from "./rate-limiter.ts"
import type { RateLimitSnapshot } from "./sliding-window.ts"
import { spellings } from "./response-body.ts"

/** Other clients may use the budget for minutes. If the service throttles a request for longer, waiting does not help. */
const throttledMsMax = 15 * 60_000

export type Attempts = ReturnType<typeof makeAttempts>

export const makeAttempts = (
  budget: Budget,
  credentials: Credentials,
  { hasResponded, kind }: { readonly hasResponded: () => boolean; readonly kind: BadCredentials["kind"] }
) => {
  /** Requests sent so far, retries included, by resource. */
  const byResource = new Map<string, number>()

  /** Repeats attempts while there is a reason to. */
  const repeated = Effect.fnUntraced(function* <A extends object>(
    attempt: (wasRenewed: boolean) => Effect.Effect<A | Retry, ApiError | Failure>,
    attemptsMax: number,
    pathTemplate: string | undefined
  ) {
    let last: Retry = { retry: "soon", message: "" }
    let isRenewed = false
    let throttledAt: number | undefined
    for (let tries = 0; tries < attemptsMax;) {
      const result = yield* attempt(isRenewed)
      if (!("retry" in result)) return result
      last = result
      // A throttled request waits in the budget, as all others do. This is not counted as a failed attempt.
      if (last.retry === "after the window") {
        const now = yield* Clock.currentTimeMillis
        throttledAt ??= now
        if (now - throttledAt < throttledMsMax) {
          yield* logRetry(pathTemplate, last, 0)
          continue
        }
        const message = `the service refused a request for ${throttledMsMax / 60_000} minutes (${last.message})`
        return yield* new BudgetExhausted({ message, resumeAt: now + throttledMsMax })
      }
      tries++
      if (last.retry === "with a fresh token") {
        if (isRenewed) return yield* new BadCredentials({ kind: kind, ...detailOf(last) })
        isRenewed = true
      }
      if (tries === attemptsMax) break
      const waitMs = last.retry === "soon" ? yield* backoffMs(tries) : 0
      yield* logRetry(pathTemplate, last, waitMs)
      if (waitMs > 0) yield* Effect.sleep(waitMs)
    }
    return yield* new Unavailable({
      ...detailOf(last),
      message: `${last.message} (after ${attemptsMax} attempts)`,
      later: !hasResponded()
    })
  })

  return {
    byResource: byResource as ReadonlyMap<string, number>,
    counted: (resource: string) => byResource.set(resource, (byResource.get(resource) ?? 0) + 1),
    /** Counts the requests of one resource for another one. */
    recounted: (from: string, to: string) => {
      byResource.set(to, (byResource.get(to) ?? 0) + (byResource.get(from) ?? 0))
      byResource.delete(from)
    },
    token: credentials.token,
    secrets: credentials.secrets,
    /** How the secrets may be written in what a request returns. */
    forbidden: () => [...credentials.secrets].flatMap(spellings),
    inSlot: slotsOf(budget),
    renewed: renewedBy(credentials),
    repeated
  }
}

/** Renews the token that was rejected. `wasRenewed`: an earlier attempt did. */
const renewedBy = (credentials: Credentials) =>
  Effect.fnUntraced(function* (rejection: Retry, token: string, wasRenewed: boolean) {
    // If the service refuses the newest token too, it would refuse the next one.
    if (wasRenewed && token === (yield* credentials.token)) return rejection
    const isNew = yield* credentials.renew(token, rejection.message)
    // If another request has renewed the token meanwhile, only the old token was rejected.
    return isNew ? rejection : ({ ...rejection, retry: "with the newest token" } satisfies Retry)
  })

/** A request releases its slot exactly once, however it ends: a lost slot would reduce the budget permanently. */
const slotsOf =
  (budget: Budget) =>
  <A, E>(priority: Priority, request: Effect.Effect<A, E>, limitIn: (exit: Exit.Exit<A, E>) => RateLimitSnapshot) =>
    Effect.uninterruptibleMask((restore) =>
      restore(budget.acquire(priority)).pipe(
        Effect.flatMap((slot) => Effect.onExit(restore(request), (exit) => slot.release(limitIn(exit))))
      )
    )

/** The reason is the status, if there is one: the message of a response may contain personal data. */
const logRetry = (pathTemplate: string | undefined, { answered, message }: Retry, waitMs: number) =>
  Effect.annotateLogs(Effect.logInfo("request is retried"), {
    path: pathTemplate,
    reason: answered === undefined ? message : String(answered),
    wait_ms: Math.round(waitMs)
  })

/** Doubles from 0.25 s to 8 s, times a random factor from 0.5 to 1, so that retries of many requests are spread. */
const backoffMs = (tries: number) =>
  Random.nextBetween(0.5, 1).pipe(Effect.map((factor) => Math.min(125 * 2 ** tries, 8000) * factor))

/** What the end of a request shows of the rate limit. If a connection existed, the service may have counted the request. */
export const rateLimitIn = (
  exit: Exit.Exit<Pick<Received, "status" | "headers">, TransportError | RequestRejected | Failure>
): RateLimitSnapshot =>
  Exit.isSuccess(exit)
    ? rateHeaders(exit.value.headers, exit.value.status)
    : { unsent: Option.exists(Exit.findErrorOption(exit), (error) => "unsent" in error && error.unsent === true) }

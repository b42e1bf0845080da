/** What the requests of one token and location share: the slots of the budget, the token, and the reasons to try again. */
import type { Limit } from "../../values/limits.ts"
import { Clock, Effect, Exit, Option, Random } from "effect"
import type { Failure } from "../../values/failure.ts"
import { type Control, type Retry, conclusion } from "./classify.ts"
import type { Credentials, Renewal } from "./credentials.ts"
import {
  type ApiError,
  type BadCredentials,
  BudgetExhausted,
  Forbidden,
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

export type Attempts = ReturnType<typeof makeAttempts>

/** What a request was refused with, and its token. */
export interface Refused extends Retry {
  readonly token: string
}

interface Options {
  readonly hasResponded: () => boolean
  readonly kind: BadCredentials["kind"]
  readonly throttledMs: Limit
}

export const makeAttempts = (budget: Budget, credentials: Credentials, options: Options) => {
  const { hasResponded, kind, throttledMs } = options
  /** The token of the last answer with data. */
  let accepted: string | undefined
  /** Routes that the service has refused to a token while it answered others, by path: one more answer of this kind is enough. */
  const refusedRoutes = new Map<string, string>()
  /** Requests sent so far, retries included, by resource. */
  const byResource = new Map<string, number>()

  /** While the token endpoint cannot be reached, the request is asked again as if another one had renewed the token. */
  const renewal = (token: string) =>
    Effect.catchTag(credentials.renew(token), "TransportError", () => Effect.succeed<Renewal>("known"))

  /** Whether another request has renewed the token meanwhile. */
  const newer = (token: string) =>
    credentials.token.pipe(
      Effect.map((current): Renewal => (current === token ? "none" : "known")),
      Effect.catchTag("TransportError", () => Effect.succeed<Renewal>("known"))
    )

  /** Repeats attempts while there is a reason to. */
  const repeated = Effect.fnUntraced(function* <A extends object>(
    attempt: Effect.Effect<A | Retry | Refused, ApiError | TransportError | Failure>,
    attempts: Limit,
    pathTemplate: string | undefined,
    /** Asked once the service has refused the request so often. */
    control: (status: 401 | 403) => Effect.Effect<Control, ApiError | TransportError | Failure>,
    refusalsMax = 2
  ) {
    let last: Retry | Refused = { retry: "soon", message: "" }
    let refusals = 0
    let isRenewed = false
    let throttledAt: number | undefined
    for (let tries = 0; ;) {
      const result = yield* attempt.pipe(
        Effect.catchTag("TransportError", ({ message }) => Effect.succeed<Retry>({ retry: "soon", message }))
      )
      if (!("retry" in result)) {
        refusedRoutes.delete(pathTemplate ?? "")
        return result
      }
      last = result
      // A throttled request waits in the budget, as all others do. This is not counted as a failed attempt.
      if (last.retry === "after the window") {
        const now = yield* Clock.currentTimeMillis
        throttledAt ??= now
        if (!throttledMs.isReachedBy(now - throttledAt)) {
          yield* logRetry(pathTemplate, last, 0)
          continue
        }
        const message = `the service refused a request for ${throttledMs.value / 60_000} minutes (${last.message})`
        return yield* new BudgetExhausted({ message, resumeAt: now + throttledMs.value })
      }
      tries++
      if ("token" in last) {
        // One answer is no proof against a token that was accepted; to read a private one again costs nothing.
        const mayRenew: boolean = last.answered === 401 && !isRenewed
        const { token } = last
        const refusal = `${last.answered} ${token}`
        if (refusedRoutes.get(pathTemplate ?? "") === refusal) return yield* new Forbidden(detailOf(last))
        const isFirst: boolean = mayRenew && refusals === 0 && (kind === "private" || accepted !== token)
        const renewed: Renewal = isFirst ? yield* renewal(token) : yield* newer(token)
        if (renewed === "none" && ++refusals >= refusalsMax) {
          const said = yield* control(last.answered === 401 ? 401 : 403).pipe(
            Effect.catchTag("TransportError", () => Effect.succeed("nothing" as const))
          )
          const isDead: boolean = said === 401 && mayRenew && kind === "oauth"
          // The control may have been asked with a newer token: then nothing is known of this one.
          const again: Renewal = isDead ? yield* renewal(token) : yield* newer(token)
          const error = again === "none" ? conclusion(said, kind, detailOf(last)) : undefined
          if (said === "data" && error && pathTemplate !== undefined) refusedRoutes.set(pathTemplate, refusal)
          if (error !== undefined) return yield* error
          isRenewed ||= again === "renewed"
          refusals = 0
        }
        isRenewed ||= renewed === "renewed"
      }
      if (attempts.isReachedBy(tries)) break
      const waitMs = yield* backoffMs(tries)
      yield* logRetry(pathTemplate, last, waitMs)
      if (waitMs > 0) yield* Effect.sleep(waitMs)
    }
    return yield* new Unavailable({
      ...detailOf(last),
      message: `${last.message} (after ${attempts.value} attempts)`,
      later: !hasResponded(),
      ...(last.isBetween && { isBetween: true })
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
    accept: (token: string) => void (accepted = token),
    renewal,
    repeated
  }
}

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

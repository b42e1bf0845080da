/** The Account Platform API as one function: a request with its budget, headers, time-outs and retries. */
import { Clock, Context, Effect, Exit, Layer, Option, Random, type Scope } from "effect"
import { holdsLongNumbers, parseExact } from "../catalog/json.ts"
import type { BoundRequest } from "../catalog/request.ts"
import type { Failure } from "../failure.ts"
import { type Budget, type Limits, type Priority, type RateLimitSnapshot, makeBudget } from "./rate-limiter.ts"
import { type Retry, classify } from "./response-errors.ts"
import { type CredentialSettings, type SendForm, makeCredentials } from "./credentials.ts"
import {
  type ApiError,
  BadCredentials,
  BudgetExhausted,
  type TransportError,
  RequestRejected,
  Unavailable
} from "./errors.ts"
import { type ExchangeSettings, type Received, Transport, makeExchange } from "./exchange.ts"
import type { FileTarget } from "./downloads.ts"
import { makeLinked } from "./linked-texts.ts"
import { bodyBytesMax, withoutSecrets } from "./response-body.ts"
import { commonHeaders, headersOf, rateHeaders, timeOf, http } from "./http.ts"

export interface Call {
  readonly request: BoundRequest
  readonly priority: Priority
  /** Whose requests they are counted as. */
  readonly resource: string
  /** The answer is a file and goes here; the body is then what is said of it (files.ts). */
  readonly file?: FileTarget
}
export interface Answer {
  /** As received, decompressed. */
  readonly text: string
  readonly body: unknown
  /** It holds numbers that a double would change. */
  readonly hasBigNumbers: boolean
  /** When it came, epoch milliseconds. */
  readonly at: number
  /** What the service's clock showed, epoch milliseconds, to the second. */
  readonly serviceTime: number | undefined
}

export class Api extends Context.Service<
  Api,
  {
    readonly send: (call: Call) => Effect.Effect<Answer, ApiError | Failure>
    /** A text on another host that an answer links to, fetched without the token; nothing where it does not come. */
    readonly linked: (url: string) => Effect.Effect<string | undefined>
    /** Requests sent so far, retries included, by resource. */
    readonly requestsByResource: ReadonlyMap<string, number>
    readonly usage: Budget["usage"]
  }
>()("sluice/api/Api") {
  static readonly layer = (settings: ApiSettings) => Layer.effect(Api, makeApi(settings))
}

export interface ApiSettings extends ExchangeSettings {
  readonly credentials: CredentialSettings
  readonly limits: Limits
}

const attemptsMax = 7
/** Each may take ten minutes of one of few places. */
const fileAttemptsMax = 3
/** Others may be busy for minutes; who is refused for so long is not waiting for a window. */
const throttledMsMax = 15 * 60_000

const makeApi = Effect.fn("api.make")(function* (
  settings: ApiSettings
): Effect.fn.Return<Api["Service"], never, Scope.Scope> {
  const exchange = yield* makeExchange(settings)
  const budget = yield* makeBudget(settings.limits)
  const requestsByResource = new Map<string, number>()

  const sendForm: SendForm = (path, form) =>
    exchange
      .send({
        method: "POST",
        path,
        headers: { ...commonHeaders, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams(form).toString()
      })
      .pipe(Effect.map(({ status, text }) => ({ status, body: text })))
  const credentials = yield* makeCredentials(settings.credentials, sendForm)

  /** One attempt: the answer, or why another may do better. */
  const attempt = Effect.fnUntraced(
    function* ({ request, priority, resource, file }: Call) {
      const token = yield* credentials.token
      const send = Effect.suspend(() => {
        requestsByResource.set(resource, (requestsByResource.get(resource) ?? 0) + 1)
        return exchange.send(
          { ...http(request), headers: headersOf(request, token) },
          file && { target: file, secrets: credentials.secrets }
        )
      })
      // However it ends, a request gives its slot back once: a slot that stayed taken would narrow the budget for good.
      const {
        status,
        text: sent,
        headers
      } = yield* Effect.uninterruptibleMask((restore) =>
        restore(budget.acquire(priority)).pipe(
          Effect.flatMap((slot) => Effect.onExit(restore(send), (exit) => slot.release(seenIn(exit))))
        )
      )
      const text = sent === undefined ? undefined : withoutSecrets(sent, credentials.secrets)
      const classified = classify(status, text)
      if (classified === "ok") {
        if (text === undefined)
          return yield* new RequestRejected({
            status,
            message: `the answer is over our limit of ${bodyBytesMax >> 20} MB`
          })
        const hasBigNumbers = holdsLongNumbers(text)
        const body = parsed(text, hasBigNumbers)
        if (body === tooDeep) return yield* new RequestRejected({ status, message: "the answer is nested too deeply" })
        if (body === undefined) return { retry: "soon", message: "the answer is not JSON" } satisfies Retry
        const serviceTime = timeOf(headers)
        return { text, body, hasBigNumbers, at: yield* Clock.currentTimeMillis, serviceTime } satisfies Answer
      }
      if (!("retry" in classified)) return yield* classified
      if (classified.retry !== "with a fresh token") return classified
      const renewed = yield* credentials.renew(token, classified.message)
      // An old token was refused, which says nothing of the one that another request has brought meanwhile.
      return renewed ? classified : ({ ...classified, retry: "with the newest token" } satisfies Retry)
    },
    Effect.catchTag("TransportError", ({ message }) => Effect.succeed<Retry>({ retry: "soon", message }))
  )

  const send = Effect.fn("api.send")(function* (call: Call) {
    // On its way such a path becomes another one, whatever the spelling.
    if (/\/\.{1,2}(?=\/|$)/.test(call.request.path))
      return yield* new RequestRejected({ status: 400, message: "an empty id, . and .. cannot be asked for" })
    let last: Retry = { retry: "soon", message: "" }
    let renewed = false
    let throttledAt: number | undefined
    const triesMax = call.file === undefined ? attemptsMax : fileAttemptsMax
    for (let tries = 0; tries < triesMax;) {
      const result = yield* attempt(call)
      if ("body" in result) return result
      last = result
      // A throttled request waits in the budget, where every other request waits with it. That says nothing of it.
      if (result.retry === "after the window") {
        const now = yield* Clock.currentTimeMillis
        throttledAt ??= now
        if (now - throttledAt < throttledMsMax) continue
        const message = `the service refused a request for ${throttledMsMax / 60_000} minutes (${result.message})`
        return yield* new BudgetExhausted({ message, resumeAt: now + throttledMsMax })
      }
      tries++
      if (result.retry === "with a fresh token") {
        if (renewed) return yield* new BadCredentials({ kind: settings.credentials.kind, message: result.message })
        renewed = true
      }
      if (result.retry === "soon" && tries < triesMax) yield* Effect.sleep(yield* backoffMs(tries))
    }
    return yield* new Unavailable({
      message: `${last.message} (after ${triesMax} attempts)`,
      later: !exchange.answered()
    })
  })

  const fetchLinked = yield* makeLinked(settings.baseUrl, yield* Transport)
  const linked = (url: string) =>
    Effect.map(fetchLinked(url), (text) => text && withoutSecrets(text, credentials.secrets))

  return Api.of({ send, linked, requestsByResource, usage: budget.usage })
})

/** 0.25 s doubling to 8 s, each halved at random so that retries of many requests spread. */
const backoffMs = (tries: number) =>
  Random.nextBetween(0.5, 1).pipe(Effect.map((share) => Math.min(125 * 2 ** tries, 8000) * share))

const parsed = (text: string, hasBigNumbers: boolean): unknown => {
  try {
    return parseExact(text, hasBigNumbers)
  } catch (error) {
    return error instanceof RangeError ? tooDeep : undefined
  }
}
const tooDeep = Symbol("nested too deeply")

/** What a request that ended tells of the budget. Where a connection stood, the service may have counted it. */
const seenIn = (exit: Exit.Exit<Received, TransportError | RequestRejected | Failure>): RateLimitSnapshot =>
  Exit.isSuccess(exit)
    ? rateHeaders(exit.value.headers, exit.value.status)
    : { unsent: Option.exists(Exit.findErrorOption(exit), (error) => error._tag === "TransportError" && error.unsent) }

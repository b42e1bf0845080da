/** The client of the Account Platform API: sends requests within the budget, with credentials, time-outs and retries. */
import { Clock, Context, Effect, Exit, Layer, Option, Random, type Scope } from "effect"
import { type SentPage, parsePage } from "../../catalog/sent-page.ts"
import type { BoundRequest } from "../../catalog/request.ts"
import { type Failure, fileFailure } from "../../values/failure.ts"
import type { ApiSettings } from "../../settings/account.ts"
import { type Budget, type Priority, type RateLimitSnapshot, makeBudget } from "./rate-limiter.ts"
import { type SendForm, makeCredentials } from "./credentials.ts"
import {
  type ApiError,
  BadCredentials,
  BudgetExhausted,
  type TransportError,
  RequestRejected,
  Unavailable,
  detailOf,
  NotFound,
  Forbidden,
  WrongLocation
} from "./errors.ts"
import { type Received, Transport, makeExchange } from "./exchange.ts"
import { type Fetched, type FileRequest, fetchFile } from "./fetch-file.ts"
import { linkedText, makeLinks } from "./links.ts"
import { bodyBytesMax, bytesWithoutSecrets, spellings, withoutSecrets } from "./response-body.ts"
import { type Named, namesRecord, ownMessage, saysNotFound } from "./record-errors.ts"
import { commonHeaders, headersOf, rateHeaders, timeOf, httpRequest } from "./http.ts"
import { isRedirect, redirectIn } from "./redirect.ts"
import type { Detail } from "../../values/reason.ts"

export interface Call {
  readonly request: BoundRequest
  readonly priority: Priority
  /** The resource, or label of children, for which the request is counted. */
  readonly resource: string
  /** The path of the request with the names of its parameters, which the log shows: ids may be personal data. */
  readonly pathTemplate?: string
  /** Why a body that arrives with the status of a success is no answer. It is then requested again, as after an error. */
  readonly failureIn?: (body: unknown) => string | undefined
  /** Where the list of records is expected in the body. */
  readonly records?: string
  /** For a response that is a file: the output folder. The body then describes what was stored. */
  readonly file?: string
  /** Evaluated at each attempt, after all waits, just before the request is sent: whether it is still to be sent. */
  readonly isDue?: Effect.Effect<boolean>
}

export type Download = Pick<FileRequest, "url" | "folder" | "accepts" | "stored" | "said">

export interface ApiResponse {
  /** The body as received, decompressed and without secrets, as UTF-8. */
  readonly bytes: Buffer
  readonly body: unknown
  /** Whether the body has numbers that a double cannot represent. */
  readonly hasBigNumbers: boolean
  /** When the response was received, epoch milliseconds. */
  readonly at: number
  /** The time of the response by the service's clock, epoch milliseconds with a resolution of 1 s. */
  readonly serviceTime: number | undefined
}

export class Api extends Context.Service<
  Api,
  {
    /** Sends a request, with retries. */
    readonly send: (call: Call) => Effect.Effect<ApiResponse, ApiError | Failure>
    /** Fetches a text on another host to which a response links, without the token; `undefined` if it cannot be fetched. */
    readonly linked: (url: string) => Effect.Effect<string | undefined>
    /** Fetches a file to which a record links. Only the service itself gets the token, and then it costs a request. */
    readonly download: (request: Download, resource: string) => Effect.Effect<Fetched, ApiError | Failure>
    /** Requests sent so far, retries included, by resource. */
    readonly requestsByResource: ReadonlyMap<string, number>
    /** Milliseconds from sending to the response of all requests so far, added up: no wait for the rate limit. */
    readonly responseMs: () => number
    readonly usage: Budget["usage"]
    readonly recent: Budget["recent"]
  }
>()("sluice/api/Api") {
  static readonly layer = (settings: ApiSettings) => Layer.effect(Api, makeApi(settings))
}

const attemptsMax = 7
/** An attempt to download a file may take ten minutes, and only few run at once. */
const fileAttemptsMax = 3
/** Other clients may use the budget for minutes. If the service throttles a request for longer, waiting does not help. */
const throttledMsMax = 15 * 60_000

const makeApi = Effect.fn("api.make")(function* (
  settings: ApiSettings
): Effect.fn.Return<Api["Service"], never, Scope.Scope> {
  const exchange = yield* makeExchange(settings)
  const budget = yield* makeBudget(settings.limits, settings.location)
  const requestsByResource = new Map<string, number>()
  let responseMs = 0
  const { hostname } = new URL(settings.baseUrl)
  /** Named as the semantic conventions for HTTP clients say. Ids are not in it: they may be personal data. */
  const spanOf = (method: string, template: string | undefined) => ({
    kind: "client" as const,
    attributes: {
      "http.request.method": method,
      "server.address": hostname,
      ...(template !== undefined && { "url.template": template })
    }
  })

  const sendForm: SendForm = (path, form) =>
    exchange
      .send({
        method: "POST",
        path,
        headers: { ...commonHeaders, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams(form).toString()
      })
      .pipe(Effect.map(({ status, bytes }) => ({ status, body: bytes?.toString("utf8") })))
  const credentials = yield* makeCredentials(settings.credentials, sendForm)
  const forbidden = () => [...credentials.secrets].flatMap(spellings)

  /** A request releases its slot exactly once, however it ends: a lost slot would reduce the budget permanently. */
  const inSlot = <A, E>(
    priority: Priority,
    request: Effect.Effect<A, E>,
    limitIn: (exit: Exit.Exit<A, E>) => RateLimitSnapshot
  ) =>
    Effect.uninterruptibleMask((restore) =>
      restore(budget.acquire(priority)).pipe(
        Effect.flatMap((slot) => Effect.onExit(restore(request), (exit) => slot.release(limitIn(exit))))
      )
    )

  /** Renews the token that was rejected. `wasRenewed`: an earlier attempt did. */
  const renewed = Effect.fnUntraced(function* (rejection: Retry, token: string, wasRenewed: boolean) {
    // If the service refuses the newest token too, it would refuse the next one.
    if (wasRenewed && token === (yield* credentials.token)) return rejection
    const isNew = yield* credentials.renew(token, rejection.message)
    // If another request has renewed the token meanwhile, only the old token was rejected.
    return isNew ? rejection : ({ ...rejection, retry: "with the newest token" } satisfies Retry)
  })

  /** Sends a request once. Returns the response, or why to retry. `wasRenewed`: an earlier attempt renewed the token. */
  const attempt = Effect.fnUntraced(
    function* (call: Call, wasRenewed: boolean) {
      const { request, pathTemplate, priority, resource, failureIn, file, records, isDue } = call
      const token = yield* credentials.token
      let sentAt = 0
      const send = Effect.gen(function* () {
        if (isDue && !(yield* isDue))
          return yield* new RequestRejected({ status: 0, message: "the wait was too long", unsent: true })
        sentAt = yield* Clock.currentTimeMillis
        requestsByResource.set(resource, (requestsByResource.get(resource) ?? 0) + 1)
        return yield* exchange.send(
          { ...httpRequest(request), headers: headersOf(request, token) },
          file === undefined ? undefined : { folder: file, forbidden: forbidden() }
        )
      }).pipe(
        Effect.tap(({ status }) => Effect.annotateCurrentSpan("http.response.status_code", status)),
        Effect.withSpan(`${request.method} ${pathTemplate ?? ""}`.trimEnd(), spanOf(request.method, pathTemplate))
      )
      const { status, bytes: sent, headers } = yield* inSlot(priority, send, rateLimitIn)
      const durationMs = (yield* Clock.currentTimeMillis) - sentAt
      responseMs += durationMs
      yield* Effect.annotateLogs(Effect.logDebug("request"), {
        method: request.method,
        path: pathTemplate,
        status,
        duration_ms: durationMs
      })
      const bytes = sent && bytesWithoutSecrets(sent, credentials.secrets)
      const redirect = isRedirect(status) ? redirectIn(headers, settings.baseUrl, request.path) : undefined
      if (redirect)
        return yield* new RequestRejected({
          status,
          message: withoutSecrets(`${status} redirect to ${redirect.to}`, credentials.secrets),
          answered: status
        })
      const classified = classify(status, bytes, { request, template: pathTemplate })
      if (classified === "ok") {
        if (bytes === undefined)
          return yield* new RequestRejected({
            status,
            message: `the response is over our limit of ${bodyBytesMax >> 20} MB`,
            isTooLarge: true
          })
        const page = parsed(bytes, records)
        if (page === tooDeep)
          return yield* new RequestRejected({ status, message: "the response is nested too deeply" })
        if (page === undefined) return { retry: "soon", message: "the response is not JSON" } satisfies Retry
        const failure = failureIn?.(page.body)
        if (failure !== undefined)
          return {
            retry: "soon",
            message: `${failure} (${status} ${messageIn(bytes)})`,
            answered: status
          } satisfies Retry
        const serviceTime = timeOf(headers)
        return { bytes, ...page, at: yield* Clock.currentTimeMillis, serviceTime } satisfies ApiResponse
      }
      if (!("retry" in classified)) return yield* classified
      return classified.retry === "with a fresh token" ? yield* renewed(classified, token, wasRenewed) : classified
    },
    Effect.catchTag("TransportError", ({ message }) => Effect.succeed<Retry>({ retry: "soon", message }))
  )

  const send = Effect.fn("api.send")(function* (call: Call) {
    // Such a path is normalised to another one on its way to the service, so it would request something else.
    if (/\/\.{1,2}(?=\/|$)/.test(call.request.path))
      return yield* new RequestRejected({ status: 400, message: "an id that is empty, . or .. cannot be requested" })
    return yield* repeated(
      (wasRenewed) => attempt(call, wasRenewed),
      call.file === undefined ? attemptsMax : fileAttemptsMax,
      call.pathTemplate
    )
  })

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
        if (isRenewed) return yield* new BadCredentials({ kind: settings.credentials.kind, ...detailOf(last) })
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
      later: !exchange.hasResponded()
    })
  })

  const links = yield* makeLinks(settings.baseUrl, yield* Transport)
  const fetchText = linkedText(links)
  const linked = (url: string) =>
    Effect.map(fetchText(url), (text) => text && withoutSecrets(text, credentials.secrets))

  const { origin } = new URL(settings.baseUrl)
  const fetched = (request: Download, own: Partial<FileRequest>) =>
    Effect.tryPromise({
      try: (signal) => fetchFile(links, { ...request, bytesMax: settings.fileBytesMax, ...own, signal }),
      catch: (cause) => fileFailure(request.folder, "written", cause)
    })
  /** The newest token with which the service refused a file. */
  let refusedToken: string | undefined
  const download = Effect.fnUntraced(function* (request: Download, resource: string) {
    if ((yield* Clock.currentTimeMillis) >= (settings.limits.deadline ?? Infinity))
      return yield* new BudgetExhausted({ message: "the deadline has passed" })
    if (URL.parse(request.url)?.origin !== origin) return yield* fetched(request, {})
    let found: Fetched = { status: "failed", reason: "the service could not be asked", isUnanswered: true }
    const attemptFile = Effect.fnUntraced(
      function* (wasRenewed: boolean) {
        const token = yield* credentials.token
        let own: Pick<Received, "status" | "headers"> = { status: 0, headers: {} }
        const fetch = Effect.suspend(() => {
          requestsByResource.set(resource, (requestsByResource.get(resource) ?? 0) + 1)
          const headers = { authorization: `Bearer ${token}`, version: commonHeaders.version }
          return fetched(request, {
            headersFor: (url): Readonly<Record<string, string>> => (url.origin === origin ? headers : {}),
            heard: (url, answer) => {
              if (url.origin === origin) own = answer
            },
            forbidden: forbidden(),
            attemptsMax: 1
          }).pipe(Effect.map((result) => ({ result, ...own })))
        })
        const { result, status } = yield* inSlot(2, fetch, rateLimitIn)
        found = result
        const answer = { message: "reason" in result ? result.reason : "", ...(status > 0 && { answered: status }) }
        if (status === 429) return { retry: "after the window", ...answer } satisfies Retry
        // A token that could not be renewed for one file is not renewed for the next one.
        if (status === 401 && (token !== refusedToken || token !== (yield* credentials.token))) {
          refusedToken = token
          return yield* renewed({ retry: "with a fresh token", ...answer }, token, wasRenewed)
        }
        return result.status === "failed" ? ({ retry: "soon", ...answer } satisfies Retry) : result
      },
      Effect.catchTag("TransportError", ({ message }) => Effect.succeed<Retry>({ retry: "soon", message }))
    )
    return yield* repeated(attemptFile, fileAttemptsMax, undefined).pipe(
      // One file is no proof that the token is invalid: the next request for records is.
      Effect.catchTags({ BadCredentials: () => Effect.succeed(found), Unavailable: () => Effect.succeed(found) })
    )
  })

  return Api.of({
    send,
    linked,
    download,
    requestsByResource,
    responseMs: () => responseMs,
    usage: budget.usage,
    recent: budget.recent
  })
})

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

const parsed = (bytes: Buffer, records: string | undefined): SentPage | typeof tooDeep | undefined => {
  try {
    return parsePage(bytes, records)
  } catch (error) {
    return error instanceof RangeError ? tooDeep : undefined
  }
}

const tooDeep = Symbol("nested too deeply")

/** What the end of a request shows of the rate limit. If a connection existed, the service may have counted the request. */
const rateLimitIn = (
  exit: Exit.Exit<Pick<Received, "status" | "headers">, TransportError | RequestRejected | Failure>
): RateLimitSnapshot =>
  Exit.isSuccess(exit)
    ? rateHeaders(exit.value.headers, exit.value.status)
    : { unsent: Option.exists(Exit.findErrorOption(exit), (error) => "unsent" in error && error.unsent === true) }

/** A response after which a retry may succeed. */
interface Retry extends Detail {
  readonly retry: "soon" | "after the window" | "with a fresh token" | "with the newest token"
}
type Status = "ok" | Retry | BadCredentials | WrongLocation | Forbidden | NotFound | RequestRejected

/** `body`: `undefined` if it cannot be read. */
const classify = (status: number, body: Buffer | undefined, named: Named): Status => {
  // The client never requests a range.
  if (status === 206) return { retry: "soon", message: "206 partial response", answered: 206 }
  if (status >= 200 && status < 300) return "ok"
  const message = `${status} ${body === undefined ? "with a body that cannot be read" : messageIn(body)}`
  const answer = { message, answered: status }
  if (status === 429) return { retry: "after the window", ...answer }
  if (status >= 500 || status === 408) return { retry: "soon", ...answer }
  // These statuses are classified by their message.
  if (body === undefined && [400, 401, 403].includes(status)) return { retry: "soon", ...answer }
  if (status === 401) return unauthorised(answer)
  const own = body && ownMessage(status, body)
  if (status === 403) {
    if (!/access to this location/i.test(message)) return new Forbidden(answer)
    // A record may have moved to another location, which says nothing about the lists of this one.
    return namesRecord(named) ? new RequestRejected({ status, ...answer }) : new WrongLocation(answer)
  }
  // For an unknown id, the documents say 404, but the service also sends 400.
  if ([400, 404].includes(status) && own !== undefined && saysNotFound(own, named)) return new NotFound(answer)
  return new RequestRejected({ status, ...answer, isOwn: own !== undefined })
}

/** Not every 401 means that the token is invalid. */
const unauthorised = (answer: Detail): Status => {
  const { message } = answer
  if (/timed out/i.test(message)) return { retry: "soon", ...answer }
  if (/not authorized for this scope|not yet supported by the IAM/i.test(message)) return new Forbidden(answer)
  if (/version header/i.test(message)) return new RequestRejected({ status: 401, ...answer })
  return { retry: "with a fresh token", ...answer }
}

/** The message in the body of an error, in any of its formats, shortened. */
const messageIn = (body: Buffer): string => {
  const text = body.toString("utf8")
  const message =
    /"message"\s*:\s*("(?:[^"\\]|\\.)*"|\[[^\]]*\])/.exec(text)?.[1] ??
    /"error"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text)?.[1]
  return (message ?? text).replaceAll(/["[\]]/g, "").slice(0, 300)
}

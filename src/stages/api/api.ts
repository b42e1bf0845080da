/** The client of the Account Platform API: sends requests within the budget, with credentials, time-outs and retries. */
import { type Limit, Limits } from "../../values/limits.ts"
import { Clock, Context, Effect, Layer, Result, type Scope } from "effect"
import type { BoundRequest } from "../../catalog/request.ts"
import { type SentPage, parsePage } from "../../catalog/sent-page.ts"
import type { ApiSettings } from "../../settings/account.ts"
import type { Failure } from "../../values/failure.ts"
import { type Attempts, type Refused, makeAttempts, rateLimitIn } from "./attempts.ts"
import { type Retry, classify, messageIn } from "./classify.ts"
import { makeControl } from "./control.ts"
import { type SendForm, makeCredentials } from "./credentials.ts"
import { type Download, makeDownload } from "./download.ts"
import { type ApiError, RequestRejected, type TransportError } from "./errors.ts"
import { type Exchange, Transport, makeExchange } from "./exchange.ts"
import type { Fetched } from "./fetch-file.ts"
import { commonHeaders, headersOf, httpRequest, otherVersion, timeOf } from "./http.ts"
import { linkedText, makeLinks } from "./links.ts"
import { type Budget, type Priority, makeBudget } from "./rate-limiter.ts"
import { isRedirect, redirectIn } from "./redirect.ts"
import { withRequestsAhead } from "./requests-ahead.ts"
import { ServiceClock, timeOfMachine } from "./service-clock.ts"
import { bytesWithoutSecrets, withoutSecrets } from "./response-body.ts"

export interface Call {
  readonly request: BoundRequest
  readonly priority: Priority
  /** The resource, or label of children, for which the request is counted. */
  readonly resource: string
  /** The path of the request with the names of its parameters, which the log shows: ids may be personal data. */
  readonly pathTemplate?: string
  /** Why a body that arrives with the status of a success is no answer. It is then requested again, as after an error. */
  readonly failureIn?: (body: unknown, status: number) => string | undefined
  /** Where the list of records is expected in the body. */
  readonly records?: string
  /** Nothing follows from a refusal but that the account does not have it: one is enough, if the control is answered. */
  readonly isTrial?: boolean
  /** Fewer attempts than usual. */
  readonly attempts?: Limit
  /** For a response that is a file: the output folder. The body then describes what was stored. */
  readonly file?: string
  /** Evaluated at each attempt, after all waits, just before the request is sent: whether it is still to be sent. */
  readonly isDue?: Effect.Effect<boolean>
}

export interface ApiResponse {
  /** 200, unless it is said. */
  readonly status?: number
  /** The body as received, decompressed and without secrets, as UTF-8. */
  readonly bytes: Buffer
  readonly body: unknown
  /** Whether the body has numbers that a double cannot represent. */
  readonly hasBigNumbers: boolean
  /** When the response was received, epoch milliseconds, by the clock of the caller. */
  readonly at: number
  /**
   * The time of the response by the service's clock, epoch milliseconds with a resolution of 1 s; `undefined` if other answers
   * contradict it.
   */
  readonly serviceTime: number | undefined
}

export class Api extends Context.Service<
  Api,
  {
    /** Sends a request, with retries. */
    readonly send: (call: Call) => Effect.Effect<ApiResponse, ApiError | Failure>
    /** Sends a request before the reading that it is of: the next `send` of the same request gets its result, and counts it. */
    readonly sendAhead: (call: Call) => Effect.Effect<void>
    /** What the answers so far say of the machine's clock. */
    readonly serviceClock: ServiceClock
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

const makeApi = Effect.fn("api.make")(function* (
  settings: ApiSettings
): Effect.fn.Return<Api["Service"], never, Scope.Scope> {
  const exchange = yield* makeExchange(settings)
  const budget = yield* makeBudget(settings.limits, settings.location)
  const { api: limits } = yield* Limits
  const serviceClock = new ServiceClock(limits.clockSeconds)
  /** Of the machine, also for callers that have another one: a deadline, a token and a wait are its own. */
  const machine = yield* Clock.Clock
  const onMachine = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provideService(effect, Clock.Clock, machine)
  const { origin } = new URL(settings.baseUrl)

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
  const { kind } = settings.credentials
  const attempts = makeAttempts(budget, credentials, { ...exchange, kind, throttledMs: limits.throttledMs })

  const versions = makeVersions(settings.version)
  const timed = makeTimed(exchange, attempts, machine, settings.baseUrl, versions.of)
  const sendOnMachine = makeSender(timed.received, attempts, serviceClock, { ...settings, limits }, versions)

  const sendNow = Effect.fnUntraced(function* (call: Call) {
    const clock = yield* Clock.Clock
    const isDue = call.isDue && { isDue: Effect.provideService(call.isDue, Clock.Clock, clock) }
    const answer = yield* onMachine(sendOnMachine({ ...call, ...isDue }))
    return { ...answer, at: clock.currentTimeMillisUnsafe() } satisfies ApiResponse
  })

  const { send, sendAhead } = withRequestsAhead(sendNow, attempts.recounted)

  const links = yield* makeLinks(settings.baseUrl, yield* Transport)
  const fetchText = linkedText(links, limits.bodyBytes)
  const linked = (url: string) =>
    Effect.map(fetchText(url), (text) => text && withoutSecrets(text, credentials.secrets))

  const download = makeDownload({
    attempts,
    links,
    limits,
    origin,
    bytesMax: settings.fileBytesMax,
    deadline: settings.limits.deadline ?? Infinity
  })

  return Api.of({
    send,
    sendAhead,
    serviceClock,
    linked,
    download: (request, resource) => onMachine(download(request, resource)),
    requestsByResource: attempts.byResource,
    responseMs: timed.responseMs,
    usage: budget.usage,
    recent: budget.recent
  })
})

/** Sends requests in slots, with a token, and adds up the time until they are answered. */
const makeTimed = (
  exchange: Exchange,
  attempts: Attempts,
  machine: Clock.Clock,
  baseUrl: string,
  versionOf: (path: string) => string
) => {
  let responseMs = 0
  const { hostname } = new URL(baseUrl)
  /** Named as the semantic conventions for HTTP clients say. Ids are not in it: they may be personal data. */
  const spanOf = (method: string, template: string | undefined) => ({
    kind: "client" as const,
    attributes: {
      "http.request.method": method,
      "server.address": hostname,
      ...(template !== undefined && { "url.template": template })
    }
  })

  const received = Effect.fnUntraced(function* (call: Call, token: string) {
    const { request, pathTemplate, priority, resource, file, isDue } = call
    let sentAt = timeOfMachine(machine)
    const send = Effect.gen(function* () {
      if (isDue && !(yield* isDue))
        return yield* new RequestRejected({ status: 0, message: "the wait was too long", unsent: true })
      sentAt = timeOfMachine(machine)
      attempts.counted(resource)
      return yield* exchange.send(
        { ...httpRequest(request), headers: headersOf(request, token, versionOf(request.path)) },
        file === undefined ? undefined : { folder: file, forbidden: attempts.forbidden() }
      )
    }).pipe(
      Effect.tap(({ status }) => Effect.annotateCurrentSpan("http.response.status_code", status)),
      Effect.withSpan(`${request.method} ${pathTemplate ?? ""}`.trimEnd(), spanOf(request.method, pathTemplate))
    )
    const answer = yield* attempts.inSlot(priority, send, rateLimitIn)
    const receivedAt = timeOfMachine(machine)
    const durationMs = receivedAt.monotonic - sentAt.monotonic
    responseMs += durationMs
    yield* Effect.annotateLogs(Effect.logDebug("request"), {
      method: request.method,
      path: pathTemplate,
      status: answer.status,
      duration_ms: durationMs
    })
    return { ...answer, sentAt, receivedAt }
  })

  return { received, responseMs: () => responseMs }
}

/** Sends calls, with retries. */
const makeSender = (
  received: ReturnType<typeof makeTimed>["received"],
  attempts: Attempts,
  serviceClock: ServiceClock,
  { baseUrl, limits, location }: Pick<ApiSettings, "baseUrl" | "location"> & { readonly limits: Limits["api"] },
  versions: ReturnType<typeof makeVersions>
) => {
  const control = makeControl(location, (request, resource) =>
    Effect.flatMap(attempts.token, (token) => received({ request, priority: 0, resource }, token))
  )

  /** Sends a request once. Returns the response, or why to retry. */
  const attempt = Effect.fnUntraced(function* (
    call: Call
  ): Effect.fn.Return<ApiResponse | Retry | Refused, ApiError | TransportError | Failure> {
    const { request } = call
    const token = yield* attempts.token
    const { status, bytes: sent, headers, sentAt, receivedAt } = yield* received(call, token)
    const bytes = sent && bytesWithoutSecrets(sent, attempts.secrets)
    const redirect = isRedirect(status) ? redirectIn(headers, baseUrl, request.path) : undefined
    if (redirect)
      return yield* new RequestRejected({
        status,
        message: withoutSecrets(`${status} redirect to ${redirect.to}`, attempts.secrets),
        answered: status
      })
    const classified = classify(status, bytes, headers)
    if (classified === "ok") {
      const page = yield* pageIn(call, status, bytes)
      if ("retry" in page) return page
      attempts.accept(token)
      control.succeeded(request)
      versions.accepted(request.path)
      const serviceTime = serviceClock.heard(timeOf(headers), headers["age"] !== undefined, sentAt, receivedAt)
      return { ...page, at: receivedAt.wallClock, serviceTime }
    }
    if (!("retry" in classified)) return yield* classified
    return classified.retry === "refused" ? { ...classified, token } : classified
  })

  return Effect.fn("api.send")(function* (call: Call) {
    // Such a path is normalised to another one on its way to the service, so it would request something else.
    if (/\/\.{1,2}(?=\/|$)/.test(call.request.path))
      return yield* new RequestRejected({ status: 400, message: "an id that is empty, . or .. cannot be requested" })
    const { file, pathTemplate, request, resource } = call
    return yield* attempts
      .repeated(
        attempt(call),
        call.attempts ?? (file === undefined ? limits.attempts : limits.fileAttempts),
        pathTemplate,
        (status) => control.after(request, status, resource),
        call.isTrial ? 1 : 2
      )
      .pipe(
        Effect.catchIf(
          (error) => error._tag === "Forbidden" || (error._tag === "RequestRejected" && error.status === 400),
          Effect.fnUntraced(function* (error) {
            if (call.isTrial || !versions.tryOther(request.path)) return yield* Effect.fail(error)
            const again = yield* Effect.result(attempt(call))
            if (Result.isSuccess(again) && !("retry" in again.success)) {
              const { path, version } = { path: pathTemplate, version: versions.of(request.path) }
              yield* Effect.annotateLogs(
                Effect.logWarning("the service refuses the version of the API, and accepts another one"),
                { path, version }
              )
              return again.success
            }
            versions.giveUpOther(request.path)
            return yield* Effect.fail(error)
          })
        )
      )
  })
}

/** The version that each family of routes is requested with: another one, where the usual one was refused and that one works. */
const makeVersions = (usual = "v3") => {
  const [accepted, tried, others] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const familyOf = (path: string) => path.split("/")[1]!
  return {
    of: (path: string) => (others.has(familyOf(path)) ? otherVersion(usual) : usual),
    accepted: (path: string) => void accepted.add(familyOf(path)),
    /** Whether to try the other one: once for a family of which nothing was answered. */
    tryOther: (path: string): boolean => {
      const family = familyOf(path)
      if (accepted.has(family) || tried.has(family)) return false
      tried.add(family)
      others.add(family)
      return true
    },
    giveUpOther: (path: string) => void others.delete(familyOf(path))
  }
}

/** What an answer with the status of a success contains, or why it is none. `bytes`: absent if they are too many. */
const pageIn = Effect.fnUntraced(function* (
  { failureIn, records }: Call,
  status: number,
  bytes: Buffer | undefined
): Effect.fn.Return<Omit<ApiResponse, "at" | "serviceTime"> | Retry, RequestRejected> {
  if (bytes === undefined)
    return yield* new RequestRejected({
      status,
      message: `the response is over our limit of ${(yield* Limits).api.bodyBytes.value / 2 ** 20} MB`,
      isTooLarge: true
    })
  const page = parsed(bytes, records)
  if (page === tooDeep) return yield* new RequestRejected({ status, message: "the response is nested too deeply" })
  if (page === undefined) return { retry: "soon", message: "the response is not JSON" } satisfies Retry
  const failure = failureIn?.(page.body, status)
  return failure === undefined
    ? { bytes, ...page, status }
    : ({ retry: "soon", message: `${failure} (${status} ${messageIn(bytes)})`, answered: status } satisfies Retry)
})

const parsed = (bytes: Buffer, records: string | undefined): SentPage | typeof tooDeep | undefined => {
  try {
    return parsePage(bytes, records)
  } catch (error) {
    return error instanceof RangeError ? tooDeep : undefined
  }
}

const tooDeep = Symbol("nested too deeply")

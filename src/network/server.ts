/** The one HTTP server: a table of routes, each with who may use it, how much of a body it reads, and what it costs. */
import * as NodeHttpPlatform from "@effect/platform-node/NodeHttpPlatform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { toIncomingMessage } from "@effect/platform-node/NodeHttpServerRequest"
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import { HttpPlatform } from "effect/http/HttpPlatform"
import * as HttpRouter from "effect/http/HttpRouter"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { randomBytes } from "node:crypto"
import { type IncomingMessage, createServer } from "node:http"
import { extname } from "node:path"
import { portOf } from "../values/port.ts"
import { messageOf } from "../values/thrown.ts"

/** Why a request is refused, as the page reads it. */
export class HttpError extends Error {
  readonly status: number
  readonly code: string
  /** Of a form: what is wrong. */
  readonly field: string | undefined
  constructor(status: number, code: string, message: string, field?: string) {
    super(message)
    this.status = status
    this.code = code
    this.field = field
  }
}

type Response = HttpServerResponse.HttpServerResponse

/** `reader`: sees everything, and starts nothing. */
export type Role = "owner" | "reader"

export interface Visit {
  readonly request: HttpServerRequest
  /** As it was sent: nothing of it is corrected. */
  readonly sent: IncomingMessage
  readonly url: URL
}

export interface Call<Who> extends Visit {
  /** Of a POST. */
  readonly body: Body
  readonly who: Who
}

const Body = Schema.Record(Schema.String, Schema.Unknown)
export type Body = typeof Body.Type
const bodyIn = Schema.decodeUnknownOption(Schema.fromJsonString(Body))

/** What is sent as JSON, or the whole response. */
type Answer<E = unknown> = Effect.Effect<object, E, Scope.Scope | HttpPlatform>

/** What bounds how much of the same work is done at once. */
type Cost = <A>(signal: AbortSignal, run: () => Promise<A>) => Promise<A>

export interface Guarded<Who> {
  /** The owner by default. */
  readonly right?: Role
  /** The most bytes of a body; 0 for a route that reads none. */
  readonly bytes?: number
  readonly cost?: Cost
  readonly answer: (call: Call<Who>) => Answer
}

/** For `anyone`; or for whoever sends it from a page of this site, before it is known who that is. It reads its own body. */
export interface Open {
  readonly right: "anyone" | "visitor"
  readonly answer: (visit: Visit) => Answer
}

/** By method and path: `GET /api/runs`. */
export type Routes<Who> = Readonly<Record<string, Guarded<Who> | Open>>

export interface Rules<Who> {
  /** Throws an HttpError for a request of another site, or to another name of this machine. */
  readonly checkOrigin: (sent: IncomingMessage) => void
  /** Throws an HttpError for whoever may not use the server. */
  readonly whoSends: (sent: IncomingMessage) => Who
  /** Throws an HttpError for a route that nobody may use now. */
  readonly checkState?: (route: string) => void
}

interface Place {
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  readonly connections?: number
}

/** Of a form that is filled in. */
const usualBytes = 100_000
const connectionsMax = 1000
/** Whoever sends nothing, or one letter at a time, holds a connection so long. Node looks every 30 seconds otherwise. */
const timeouts = { headersTimeout: 8_000, requestTimeout: 30_000, connectionsCheckingInterval: 2_000 }

/** Serves until the scope ends, and then ends each connection. Fails with the error of the system if the port is in use. */
export const serveRoutes = Effect.fnUntraced(function* <Who extends { readonly role: Role }>(
  routes: Routes<Who>,
  rules: Rules<Who> | undefined,
  { connections = connectionsMax, host, port }: Place
) {
  const platform = yield* HttpPlatform
  const guarded = (name: string, { answer, bytes = usualBytes, cost, right }: Guarded<Who>) =>
    Effect.fnUntraced(function* (visit: Visit) {
      const who = yield* attempt(() => {
        rules?.checkOrigin(visit.sent)
        return rules?.whoSends(visit.sent)
      })
      if (who === undefined) return yield* Effect.fail(nothingHere())
      yield* attempt(() => rules?.checkState?.(name))
      if (who.role !== "owner" && right !== "reader")
        return yield* Effect.fail(new HttpError(403, "reader", "This password shows everything and starts nothing."))
      const body = visit.request.method === "POST" && bytes > 0 ? yield* jsonOf(visit, bytes) : {}
      const context = yield* Effect.context<Scope.Scope | HttpPlatform>()
      const work = Effect.provideContext(answer({ ...visit, body, who }), context)
      return yield* cost ? attemptToEnd((signal) => cost(signal, () => Effect.runPromise(work, { signal }))) : work
    })
  const open = ({ answer, right }: Open) =>
    Effect.fnUntraced(function* (visit: Visit) {
      if (right === "visitor") yield* attempt(() => rules?.checkOrigin(visit.sent))
      return yield* answer(visit)
    })
  const handled = (answer: (visit: Visit) => Answer) =>
    Effect.flatMap(HttpServerRequest, (request) => {
      const sent = toIncomingMessage(request) as IncomingMessage
      const url = URL.parse(request.url, "http://127.0.0.1")
      const answered = (url ? answer({ request, sent, url }) : Effect.fail(unreadable())).pipe(
        Effect.provideService(HttpPlatform, platform),
        Effect.catch(refused),
        Effect.catchDefect(refused)
      )
      return Effect.map(answered, (result) => {
        const response = HttpServerResponse.isHttpServerResponse(result) ? result : jsonResponse(result)
        return HttpServerResponse.setHeaders(response, { ...safety, ...response.headers })
      })
    })
  /** What is no route is none for whoever may use the others; the others hear that they may not. */
  const missing = guarded("", {
    right: "reader",
    bytes: 0,
    answer: ({ url }) => Effect.fail(isReadable(url.pathname) ? nothingHere() : unreadable())
  })

  const router = yield* Effect.provideService(HttpRouter.make, HttpRouter.RouterConfig, {
    caseSensitive: true,
    ignoreDuplicateSlashes: false,
    ignoreTrailingSlash: false
  })
  for (const [name, route] of Object.entries(routes)) {
    const [method, path] = name.split(" ") as ["*" | "GET" | "POST", HttpRouter.PathInput]
    const isOpen = route.right === "anyone" || route.right === "visitor"
    const answer = isOpen ? open(route as Open) : guarded(name, route as Guarded<Who>)
    // The router also takes other spellings of an address, by which a rule of a proxy would be passed by.
    const isExact = ({ url }: Visit) => path.endsWith("*") || url.pathname === path
    yield* router.add(
      method,
      path,
      handled((visit) => (isExact(visit) ? answer(visit) : missing(visit)))
    )
  }
  const server = createServer(timeouts)
  server.maxConnections = connections
  const { serve } = yield* NodeHttpServer.make(() => server, { host, port, disablePreemptiveShutdown: true })
  yield* serve(Effect.catch(router.asHttpEffect(), () => handled(missing)))
  // Before the handlers are taken away: a request that comes later would never be answered, nor its connection end.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
  )
  return { port: portOf(server) }
}, Effect.provide(NodeHttpPlatform.layer))

/** Runs what works with promises; `signal` is aborted when the browser goes away. Fails with what was thrown. */
export const attempt = <A>(run: (signal: AbortSignal) => A | Promise<A>): Effect.Effect<A, unknown> =>
  Effect.tryPromise({ try: async (signal) => run(signal), catch: (cause) => cause })

/** As `attempt`; what is aborted is waited for, such as the end of a query. */
export const attemptToEnd = <A>(run: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, unknown> =>
  Effect.callback((resume, signal) => {
    const ended = run(signal).then(
      (value) => resume(Effect.succeed(value)),
      (cause: unknown) => resume(Effect.fail(cause))
    )
    return Effect.promise(() => ended)
  })

/** An error that is not expected is a defect: only its message is sent, and of a file its name without the folder. */
const refused = (cause: unknown) => {
  const { code, field, message, status } =
    cause instanceof HttpError
      ? cause
      : { status: 500, code: "failed", message: withoutFolders(messageOf(cause)), field: undefined }
  return Effect.succeed(jsonResponse({ error: { code, message, ...(field !== undefined && { field }) } }, status))
}

const withoutFolders = (message: string): string =>
  message.replaceAll(/(?<![\w:/.])(?:\/[^/'"\s]+)+\/(?=[^/'"\s])/g, "")

export const nothingHere = () => new HttpError(404, "not found", "There is nothing at this address.")
export const unreadable = () => new HttpError(400, "request", "The address cannot be read.")

const isReadable = (pathname: string): boolean => {
  try {
    return decodeURIComponent(pathname) !== ""
  } catch {
    return false
  }
}

/** The body of a request, of at most so many bytes. */
export const bytesOf = ({ request }: Visit, bytesMax: number): Effect.Effect<Buffer, HttpError> =>
  request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(bytesMax)),
    Effect.mapBoth({
      onSuccess: (body) => Buffer.from(body),
      onFailure: () =>
        new HttpError(413, "too large", `The request has more than ${bytesMax.toLocaleString("en-US")} bytes.`)
    })
  )

const jsonOf = (visit: Visit, bytesMax: number) =>
  Effect.flatMap(bytesOf(visit, bytesMax), (bytes) =>
    Option.match(bodyIn(bytes.toString()), {
      onNone: () => Effect.fail(new HttpError(400, "request", "The body of the request is not a JSON object.")),
      onSome: Effect.succeed
    })
  )

/** For a route whose body has a schema; whoever sends another one hears what it should have been. */
export const withBody = <A, Who>(
  schema: Schema.Codec<A, unknown>,
  answer: (body: A, call: Call<Who>) => Answer
): Guarded<Who>["answer"] => {
  const decode = Schema.decodeUnknownResult(schema)
  return (call) =>
    Result.match(decode(call.body), {
      onFailure: ({ message }) => {
        const [what = "", field] = message.split(/\n *at \["|"\]/)
        return Effect.fail(new HttpError(400, "request", what, field))
      },
      onSuccess: (body) => answer(body, call)
    })
}

const jsonResponse = (value: unknown, status = 200): Response =>
  HttpServerResponse.text(JSON.stringify(value), { status, contentType: "application/json; charset=utf-8" })

/** For a person, who has opened another address than the printed one. */
export const textResponse = (status: number, text: string): Response =>
  HttpServerResponse.text(`${text}\n`, { status, contentType: "text/plain; charset=utf-8" })

export const movedTo = (location: string, headers: Readonly<Record<string, string>> = {}): Response =>
  HttpServerResponse.empty({ status: 303, headers: { location, ...headers } })

/** `nonce`: permits what is no file. */
export const pageResponse = (
  page: (nonce: string) => string | Promise<string>,
  status = 200,
  formAction: "'none'" | "'self'" = "'none'"
) =>
  attempt(async () => {
    const nonce = randomBytes(16).toString("base64")
    const policy = [
      "default-src 'none'",
      `script-src 'self' 'nonce-${nonce}'`,
      // The editor adds rules of its own, and places its hints by style attributes.
      `style-src 'self' 'nonce-${nonce}'`,
      "style-src-attr 'unsafe-inline'",
      "connect-src 'self'",
      "img-src 'self' blob: data:",
      "base-uri 'none'",
      `form-action ${formAction}`,
      "frame-ancestors 'none'"
    ].join("; ")
    return HttpServerResponse.text(await page(nonce), {
      status,
      contentType: "text/html; charset=utf-8",
      headers: {
        "content-security-policy": policy,
        // Without a referrer, a browser sends a form with `Origin: null`, as if it came from elsewhere.
        ...(formAction !== "'none'" && { "referrer-policy": "same-origin" })
      }
    })
  })

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".csv": "text/csv; charset=utf-8",
  ".parquet": "application/vnd.apache.parquet",
  ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
}

/** Fails if there is no such file. `saveAs`: the name under which a browser stores it. */
export const fileResponse = (path: string, saveAs?: string) =>
  HttpServerResponse.file(path, {
    contentType: types[extname(path)] ?? "application/octet-stream",
    ...(saveAs !== undefined && { headers: { "content-disposition": `attachment; filename="${saveAs}"` } })
  })

const safety = {
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

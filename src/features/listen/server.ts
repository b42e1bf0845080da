/** Receives the events: checks the secret, marks the tables as due, and acknowledges (A 6.4, 6.5). */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { type Routes, type Visit, bytesOf, serveRoutes } from "../../network/server.ts"
import { isEqual } from "../../network/sessions.ts"
import { type Due, type WordsByTable, eventOf } from "./due.ts"

interface EventsOptions {
  /** In the header `x-sluice-secret`, or in the query as `secret`. */
  readonly secret: string
  readonly locations: ReadonlySet<string>
  readonly tables: WordsByTable
  readonly due: Due
}

export interface ListenOptions extends EventsOptions {
  readonly host: string
  /** 0: a free one. */
  readonly port: number
}

const bodyBytesMax = 1024 * 1024

/** Listens until the scope ends. Fails with the error of the system if the port is in use. */
export const startListener = Effect.fnUntraced(function* ({ host, port, ...options }: ListenOptions) {
  const refused = { count: 0 }
  const routes: Routes<never> = {
    "GET /health": { right: "anyone", answer: () => Effect.succeed(HttpServerResponse.empty({ status: 200 })) },
    "* *": {
      right: "anyone",
      answer: (visit) =>
        Effect.map(statusOf(visit, options), (status) => {
          if (status >= 400) refused.count++
          return HttpServerResponse.empty({ status, headers: status >= 400 ? { connection: "close" } : {} })
        })
    }
  }
  return { ...(yield* serveRoutes(routes, undefined, { host, port })), refused }
})

/** The status of the response. A sender repeats an event unless it gets a 2xx, so only an event that may be lost has none. */
const statusOf = Effect.fnUntraced(function* (visit: Visit, { due, locations, secret, tables }: EventsOptions) {
  const { sent, url } = visit
  const given = sent.headers["x-sluice-secret"] ?? url.searchParams.get("secret")
  if (typeof given !== "string" || !isEqual(given, secret)) return 401
  if (sent.method !== "POST") return 405
  const body = yield* Effect.option(bytesOf(visit, bodyBytesMax))
  if (body._tag === "None") return 413
  const event = eventOf(body.value, tables)
  if (event === undefined) return 422
  // Events of other locations are none of ours, and to repeat them would not help.
  if (!locations.has(event.location)) return 202
  const now = yield* Clock.currentTimeMillis
  return yield* Effect.match(
    Effect.tryPromise(() => due.mark(event, now)),
    { onFailure: () => 500, onSuccess: () => 202 }
  )
})

import { deletedAppointment, liveShape } from "./live.ts"
import { randomUUID } from "node:crypto"
import { churn } from "../control/churn.ts"
import { checkLocation, checkVersion, readJson } from "./request-checks.ts"
import { HttpError, notFound } from "./errors.ts"
import { oauthError } from "./tokens.ts"
import { documentRoute } from "../files/documents.ts"
import { showLinks } from "../files/files.ts"
import { emailContent, storagePath } from "../families/emails/content.ts"
import { routes } from "../routes.ts"
import { queryValues, withoutNulls, cutPages } from "./request-values.ts"
import { type Answer, Download, type Route } from "./route.ts"
import type { Service } from "../service.ts"
import { checkBody, checkQuery } from "./shape-checks.ts"

export interface ParsedRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly text: string
}

/** The content of a response. */
export interface Content {
  readonly status: number
  readonly body: string | Uint8Array
  readonly contentType: string
  readonly fileName?: string | undefined
}

/**
 * Checks a request in the documented order (version, token, limits, scope, location, parameters), and runs its operation.
 * Throws an `HttpError` for an error response. `interrupt` throws to apply a fault before the operation takes effect.
 */
export const answer = (request: ParsedRequest, service: Service, interrupt: () => void): Content => {
  const { headers, method, text, url } = request
  if (method === "GET" && url.pathname.startsWith(storagePath)) {
    return { status: 200, ...contentOf(emailContent(url.pathname, headers["authorization"], service)) }
  }
  const isTokenRequest = method === "POST" && url.pathname === "/oauth/token"
  const found = isTokenRequest ? undefined : match(method, url.pathname, service)
  service.statistics.count(isTokenRequest ? "POST /oauth/token" : ((found && operation(found.route)) ?? "unknown"))
  if (isTokenRequest) return exchangeToken(request, service, interrupt)
  if (found === undefined) throw notFound(`Cannot ${method} ${url.pathname}`)

  const { params, route } = found
  const isDated = checkVersion(header(headers["version"]), service)
  if (isDated && route.isNew) throw notFound(`Cannot ${method} ${url.pathname}`)
  const integration = service.tokens.authorize(header(headers["authorization"]))
  service.statistics.arrive(service.clock.now(), integration)
  if (!service.limiter.tryAcquire(integration)) {
    service.statistics.refused429++
    throw new HttpError(429, "Too Many Requests")
  }
  interrupt()
  churn(service)
  if (route.scope !== undefined) service.tokens.requireScope(route.scope)
  const body = readJson(route, header(headers["content-type"]), text)
  checkLocation(route, { params, query: url.searchParams, body, isDated }, service)
  const query = route.query ?? {}
  checkQuery(query, url.searchParams)
  const members = route.body === undefined ? body : checkBody(route.body, body)
  const kept = route.ignoresNull ? withoutNulls(route.body ?? {}, members) : members
  const { pageCut } = service.settings.variants
  const deleted =
    service.settings.world === "live" && operation(route) === "GET /calendars/events/appointments/:eventId"
      ? deletedAppointment(params["eventId"]!, service)
      : undefined
  if (deleted !== undefined) return { status: 200, body: deleted, contentType: "application/json" }
  const answered = route.handle(
    {
      params,
      query: cutPages(queryValues(query, url.searchParams), pageCut),
      body: cutPages(kept, pageCut),
      isDated,
      get traceId() {
        return randomUUID()
      }
    },
    service
  )
  const documented = contentOf(answered)
  const content =
    service.settings.world === "live" && typeof documented.body === "string"
      ? { ...documented, ...liveShape(operation(route), documented.body) }
      : documented
  const isSingle = isParameter(route.path.split("/").at(-1)!)
  const shown = typeof content.body === "string" ? showLinks(content.body, isSingle, service.files) : content.body
  return { status: route.status ?? 200, ...content, body: shown }
}

const contentOf = (answered: Answer): Omit<Content, "status"> =>
  answered instanceof Download
    ? answered
    : { body: typeof answered === "string" ? answered : JSON.stringify(answered), contentType: "application/json" }

/** The token endpoint requires a version, no token, and a form as its body (A 5.2). */
const exchangeToken = ({ headers, text }: ParsedRequest, service: Service, interrupt: () => void): Content => {
  checkVersion(header(headers["version"]), service)
  interrupt()
  if (!/^application\/x-www-form-urlencoded\b/i.test(header(headers["content-type"]) ?? "")) {
    throw oauthError(400, "invalid_request", "The request must be application/x-www-form-urlencoded")
  }
  const scopes = new Set(routes.map((route) => route.scope).filter((scope) => scope !== undefined))
  return { status: 200, ...contentOf(service.tokens.exchange(new URLSearchParams(text), scopes)) }
}

const operation = (route: Route): string => `${route.method} ${route.path}`

const header = (value: string | ReadonlyArray<string> | undefined): string | undefined =>
  typeof value === "object" ? value[0] : value

/** Finds the route. Case and trailing slashes matter (field-notes 1); a literal segment takes precedence over a parameter. */
const match = (
  method: string,
  path: string,
  { files }: Service
): { route: Route; params: Record<string, string> } | undefined => {
  const segments = path.split("/")
  for (const candidate of byShape.get(`${method} ${segments.length}`) ?? []) {
    const params: Record<string, string> = {}
    const fits = candidate.segments.every((expected, index) => {
      const segment = segments[index]!
      if (!expected.startsWith(":")) return expected === segment
      params[expected.slice(1)] = decodeURIComponent(segment)
      return segment !== ""
    })
    if (candidate.route === documentRoute && files === undefined) continue
    if (fits) return { route: candidate.route, params }
  }
  return undefined
}

const byShape = new Map<string, Array<{ route: Route; segments: Array<string> }>>()
for (const route of [...routes, documentRoute]) {
  const segments = route.path.split("/")
  const shape = `${route.method} ${segments.length}`
  const alike = byShape.get(shape) ?? []
  byShape.set(shape, alike)
  alike.push({ route, segments })
  alike.sort((a, b) => a.segments.filter(isParameter).length - b.segments.filter(isParameter).length)
}

function isParameter(segment: string): boolean {
  return segment.startsWith(":")
}

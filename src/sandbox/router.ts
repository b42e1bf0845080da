import { checkLocation, checkVersion, readForm, readJson } from "./checks.ts"
import { Refusal, notFound } from "./errors.ts"
import { oauthRefusal } from "./auth.ts"
import { emailContent, storagePath } from "./commerce/email-content.ts"
import { type Part, isMultipart } from "./multipart.ts"
import { routes } from "./routes.ts"
import type { Answer, Call, Route, Service } from "./route.ts"
import { checkBody, checkQuery } from "./shape-checks.ts"

export interface Arrived {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly text: string
  /** The parts of a well-formed `multipart/form-data` body. */
  readonly parts?: ReadonlyArray<Part> | undefined
}

/** Runs `arrived` through the checks in the documented order: version, token, limits, scope, location, parameters. */
export const answer = (arrived: Arrived, service: Service, interrupt: () => void): Answer => {
  const { headers, method, text, url } = arrived
  if (method === "GET" && url.pathname.startsWith(storagePath)) {
    return emailContent(url.pathname, headers["authorization"], service)
  }
  const isTokenRequest = method === "POST" && url.pathname === "/oauth/token"
  const found = isTokenRequest ? undefined : match(method, url.pathname)
  service.statistics.count(isTokenRequest ? "POST /oauth/token" : ((found && operation(found.route)) ?? "unknown"))
  if (isTokenRequest) return exchangeToken(arrived, service, interrupt)
  if (found === undefined) throw notFound(`Cannot ${method} ${url.pathname}`)

  const { params, route } = found
  const isDated = checkVersion(header(headers["version"]), service)
  if (isDated && route.isNew) throw notFound(`Cannot ${method} ${url.pathname}`)
  const integration = service.tokens.authorize(header(headers["authorization"]))
  service.statistics.arrive(service.clock.now(), integration)
  if (!service.limiter.arrive(integration)) {
    service.statistics.refused429++
    throw new Refusal(429, "Too Many Requests")
  }
  interrupt()
  service.schedule.run(service.clock.now())
  service.churn.run(service)
  if (route.scope !== undefined) service.tokens.requireScope(route.scope)
  const contentType = header(headers["content-type"])
  const parts = readForm(route, arrived.parts, isMultipart(contentType))
  const body = route.form === undefined ? readJson(route, contentType, text) : {}
  const call = { params, query: url.searchParams, body, parts, isDated }
  checkLocation(route, call, service)
  if (route.query !== undefined) checkQuery(route.query, call.query)
  const members = route.body === undefined ? body : checkBody(route.body, body)
  const described = route.isOpen ? body : members
  const { status } = route
  const asked = cutPages({ ...call, body: described }, service.settings.quirks.pageCut)
  return { ...(status !== undefined && { status }), ...route.handle(asked, service) }
}

/** Pages of lists are no longer than this, whatever was asked for; 0: as long as asked. */
const cutPages = (call: Call, length: number): Call => {
  if (length === 0) return call
  const query = new URLSearchParams(call.query)
  if (Number(query.get("limit")) > length) query.set("limit", String(length))
  const body = Object.fromEntries(
    Object.entries(call.body).map(([name, value]) => {
      const isLong = (name === "limit" || name === "pageLimit") && Number(value) > length
      return [name, isLong ? (typeof value === "string" ? String(length) : length) : value]
    })
  )
  return { ...call, query, body }
}

/** The token endpoint needs a version and no token, and takes a form only (A 5.2). */
const exchangeToken = ({ headers, text }: Arrived, service: Service, interrupt: () => void): Answer => {
  checkVersion(header(headers["version"]), service)
  interrupt()
  if (!/^application\/x-www-form-urlencoded\b/i.test(header(headers["content-type"]) ?? "")) {
    throw oauthRefusal(400, "invalid_request", "The request must be application/x-www-form-urlencoded")
  }
  const scopes = new Set(routes.map((route) => route.scope).filter((scope) => scope !== undefined))
  return { body: service.tokens.exchange(new URLSearchParams(text), scopes) }
}

const operation = (route: Route): string => `${route.method} ${route.path}`

const header = (value: string | ReadonlyArray<string> | undefined): string | undefined =>
  typeof value === "object" ? value[0] : value

/** Finds the operation. Case and trailing slashes count (field-notes 1); a literal segment wins over a parameter. */
const match = (method: string, path: string): { route: Route; params: Record<string, string> } | undefined => {
  const segments = path.split("/")
  for (const candidate of byShape.get(`${method} ${segments.length}`) ?? []) {
    const params: Record<string, string> = {}
    const fits = candidate.segments.every((expected, index) => {
      const segment = segments[index]!
      if (!expected.startsWith(":")) return expected === segment
      params[expected.slice(1)] = decodeURIComponent(segment)
      return segment !== ""
    })
    if (fits) return { route: candidate.route, params }
  }
  return undefined
}

const byShape = new Map<string, Array<{ route: Route; segments: Array<string> }>>()
for (const route of routes) {
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

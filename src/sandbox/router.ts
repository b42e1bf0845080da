import { checkLocation, checkVersion, readJson } from "./checks.ts"
import { Refusal, notFound } from "./errors.ts"
import { oauthRefusal } from "./auth.ts"
import { routes } from "./routes.ts"
import type { Answer, Route, Service } from "./route.ts"

export interface Arrived {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly text: string
}

/** Runs `arrived` through the checks in the documented order: version, token, limits, scope, location, parameters. */
export const answer = (arrived: Arrived, service: Service, interrupt: () => void): Answer => {
  const { headers, method, text, url } = arrived
  const isTokenRequest = method === "POST" && url.pathname === "/oauth/token"
  const found = isTokenRequest ? undefined : match(method, url.pathname)
  service.statistics.count(isTokenRequest ? "POST /oauth/token" : ((found && operation(found.route)) ?? "unknown"))
  if (isTokenRequest) return exchangeToken(arrived, service, interrupt)
  if (found === undefined) throw notFound(`Cannot ${method} ${url.pathname}`)

  const { params, route } = found
  const isDated = checkVersion(header(headers["version"]), service)
  service.tokens.authorize(header(headers["authorization"]))
  service.statistics.arrive(service.clock.now())
  if (!service.limiter.arrive()) {
    service.statistics.refused429++
    throw new Refusal(429, "Too Many Requests")
  }
  interrupt()
  service.tokens.requireScope(route.scope)
  const body = readJson(route, header(headers["content-type"]), text)
  const call = { params, query: url.searchParams, body, isDated }
  checkLocation(route, call, service)
  return route.handle(call, service)
}

/** The token endpoint needs a version and no token, and takes a form only (A 5.2). */
const exchangeToken = ({ headers, text }: Arrived, service: Service, interrupt: () => void): Answer => {
  checkVersion(header(headers["version"]), service)
  interrupt()
  if (!/^application\/x-www-form-urlencoded\b/i.test(header(headers["content-type"]) ?? "")) {
    throw oauthRefusal(400, "invalid_request", "The request must be application/x-www-form-urlencoded")
  }
  return { body: service.tokens.exchange(new URLSearchParams(text)) }
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

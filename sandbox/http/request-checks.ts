import { HttpError, invalid, malformed } from "./errors.ts"
import type { Route } from "./route.ts"
import type { Service } from "../service.ts"
import type { Data } from "../account/collection.ts"

/** Checks the Version header, which is the first check (A 5.5), with the messages of A 7. True for a date-based version. */
export const checkVersion = (version: string | undefined, service: Service): boolean => {
  if (version === undefined || version === "") throw new HttpError(401, "version header was not found.")
  if (version === "v3") return false
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(version) && !Number.isNaN(Date.parse(version))
  if (isDate && Date.parse(version) <= service.clock.now()) return true
  // A well-formed but unknown version, such as v2, is unsupported; any other, such as V3, is malformed (A 9.3).
  if (!isDate && !/^v\d+$/.test(version)) throw new HttpError(401, "version header is invalid")
  const error = `Unsupported API version: ${version}`
  const statusCode = service.settings.variants.unsupportedVersionStatus
  throw new HttpError(statusCode, error, { statusCode, message: error, error })
}

/** The body of a request, which is JSON. */
export const readJson = (route: Route, contentType: string | undefined, text: string): Data => {
  if (route.method === "GET" || (text === "" && (route.method === "DELETE" || route.body === undefined))) return {}
  if (!/^application\/json\b/i.test(contentType ?? "")) {
    throw new HttpError(415, `Unsupported content type: ${contentType ?? "none"}`)
  }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw malformed("Unexpected token in JSON")
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw malformed("The body must be an object")
  if (isDeeperThan(200, body)) throw malformed("The body is nested too deeply")
  return body as Data
}

/** `JSON.parse` can read any nesting, but `JSON.stringify` would overflow the stack. */
const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner)))

/** A request with its parameters as sent. */
interface SentCall {
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly body: Data
  readonly isDated: boolean
}

/** A token belongs to one location. A request that names another one is a 403 (A 5.3), a request that names none a 422. */
export const checkLocation = (route: Route, call: SentCall, { settings, world }: Service): void => {
  const { location } = route
  if (namesAnother(route, call, world.context.locationId)) throw wrongLocation()
  if (location === undefined) return
  const { name } = location
  const sent =
    location.in === "path" ? call.params[name] : location.in === "body" ? call.body[name] : queried(call, name)
  if (sent === undefined || sent === null || sent === "") {
    // The live service was also observed to respond with 403 (field-notes 1).
    throw settings.variants.missingLocationStatus === 403 ? wrongLocation() : invalid(`${name} should not be empty`)
  }
  if (typeof sent !== "string") throw malformed(`${name} must be a string`)
  if (sent !== world.context.locationId) throw wrongLocation()
}

const wrongLocation = () => new HttpError(403, "The token does not have access to this location")

/** Whether the request names a location other than that of the token, even if the operation requires none. */
const namesAnother = ({ body: shape }: Route, { body, query }: SentCall, own: string): boolean =>
  ["locationId", "altId"].some((name) =>
    [query.get(name), shape?.[name]?.forbidden ? undefined : body[name]].some(
      (sent) => typeof sent === "string" && sent !== "" && sent !== own
    )
  )

/** The location in the query. Date-based versions also accept the name `location_id` (field-notes 3). */
const queried = (call: SentCall, name: string): string | null =>
  call.query.get(name) ?? (call.isDated ? call.query.get("location_id") : null)

import { Refusal, invalid, malformed } from "./errors.ts"
import type { Call, Route, Service } from "./route.ts"
import type { Data } from "./world/collection.ts"

/** The Version header comes before everything else (A 5.5), with the words of A 7. True for a date-based version. */
export const checkVersion = (version: string | undefined, service: Service): boolean => {
  if (version === undefined || version === "") throw new Refusal(401, "version header was not found.")
  if (version === "v3") return false
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(version) && !Number.isNaN(Date.parse(version))
  if (isDate && Date.parse(version) <= service.clock.now()) return true
  // Well-formed but unknown, such as v2, is unsupported; anything else, such as V3, is malformed (A 9.3).
  if (!isDate && !/^v\d+$/.test(version)) throw new Refusal(401, "version header is invalid")
  const error = `Unsupported API version: ${version}`
  const statusCode = service.settings.quirks.unsupportedVersionStatus
  throw new Refusal(statusCode, error, { statusCode, message: error, error })
}

/** The body of an operation that takes JSON. */
export const readJson = (route: Route, contentType: string | undefined, text: string): Data => {
  if (route.method === "GET" || (text === "" && route.method === "DELETE")) return {}
  if (!/^application\/json\b/i.test(contentType ?? "")) {
    throw new Refusal(415, `Unsupported content type: ${contentType ?? "none"}`)
  }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw malformed("Unexpected token in JSON")
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw malformed("The body must be an object")
  return body as Data
}

/** A token is for one location; a request that names another is refused (A 5.3), one that names none is not valid. */
export const checkLocation = ({ location }: Route, call: Call, { settings, world }: Service): void => {
  if (location === undefined) return
  const { name } = location
  const sent =
    location.in === "path" ? call.params[name] : location.in === "body" ? call.body[name] : queried(call, name)
  const wrongLocation = () => new Refusal(403, "The token does not have access to this location")
  if (sent === undefined || sent === null || sent === "") {
    // The live service was seen to answer 403 here as well (field-notes 1).
    throw settings.quirks.missingLocationStatus === 403 ? wrongLocation() : invalid(`${name} should not be empty`)
  }
  if (typeof sent !== "string") throw malformed(`${name} must be a string`)
  if (sent !== world.setting.locationId) throw wrongLocation()
}

/** Date-based versions spell it `location_id` (field-notes 3). */
const queried = (call: Call, name: string): string | null =>
  call.query.get(name) ?? (call.isDated ? call.query.get("location_id") : null)

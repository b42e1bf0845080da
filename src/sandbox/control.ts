import { change } from "./change.ts"
import { malformed, notFound } from "./errors.ts"
import { type FaultRule, faultKinds, mixture } from "./faults.ts"
import type { Arrived } from "./router.ts"
import type { Service } from "./route.ts"
import type { Collection, Data, Entry } from "./world/collection.ts"
import type { CollectionName } from "./world/world.ts"

/** What tests steer the sandbox with: paths below /__sandbox/, outside limits, tokens and faults. */
export const control = ({ method, text, url }: Arrived, service: Service): string | Iterable<string> => {
  const operation = `${method} ${url.pathname.slice("/__sandbox/".length)}`
  const { clock, faults, statistics, tokens } = service
  const body = method === "POST" ? readBody(text) : {}
  const records = /^GET records\/(\w+)$/.exec(operation)?.[1]
  if (records !== undefined) return ndjson(records, url.searchParams, service)
  switch (operation) {
    case "GET stats":
      return JSON.stringify(statistics.report(url.searchParams.get("arrivals") === "1"))
    case "POST stats/reset":
      statistics.reset()
      return JSON.stringify(statistics.report(false))
    case "POST change":
      return JSON.stringify(change(body, service))
    case "POST clock":
      if (typeof body["advanceMs"] !== "number") throw malformed("advanceMs must be a number")
      clock.advance(body["advanceMs"])
      return JSON.stringify({ now: clock.now() })
    case "GET faults":
      return JSON.stringify({ rules: faults.rules })
    case "POST faults":
      faults.set(typeof body["rules"] === "number" ? mixture(body["rules"]) : readRules(body["rules"]))
      return JSON.stringify({ rules: faults.rules })
    case "POST token":
      if (body["revoke"] === true) tokens.revoke()
      if (body["restore"] === true) tokens.restore()
      if (typeof body["removeScope"] === "string") tokens.removeScope(body["removeScope"])
      if (typeof body["addScope"] === "string") tokens.addScope(body["addScope"])
      return JSON.stringify({ token: tokens.privateToken, refreshToken: tokens.refreshToken })
    default:
      throw notFound(`There is no ${operation} below /__sandbox/`)
  }
}

const readBody = (text: string): Data => {
  try {
    const body: unknown = JSON.parse(text === "" ? "{}" : text)
    if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as Data
  } catch {
    // Falls through to the refusal below.
  }
  throw malformed("The body must be a JSON object")
}

const readRules = (sent: unknown): ReadonlyArray<FaultRule> => {
  const rules = (sent ?? []) as ReadonlyArray<FaultRule>
  if (!Array.isArray(sent ?? [])) throw malformed("rules must be an array")
  const unknown = rules.find((rule) => !faultKinds.includes(rule.kind))
  if (unknown !== undefined) throw malformed(`kind must be one of: ${faultKinds.join(", ")}`)
  return rules
}

/**
 * Every live record in the form a read of it alone shows, one per line. `?form=list` shows the list form, with the
 * notes, tasks and events of opportunities; `?strays=1` what only lists show: records without an id, stale copies.
 */
const ndjson = (name: string, query: URLSearchParams, { world }: Service): Iterable<string> => {
  if (!(name in world) || name === "setting") throw notFound(`There is no collection ${name}`)
  const collection: Collection = world[name as CollectionName]
  const isList = query.get("form") === "list"
  const text = (row: Entry): string => {
    if (!isList) return collection.full(row)
    return name === "opportunities" ? JSON.stringify(collection.data(row)) : collection.list(row)
  }
  // Taken whole before the first line is sent; the lines are sent one by one, because together they can be too long.
  const rows = [...(query.get("strays") === "1" ? collection.strays() : collection.live())]
  return rows.values().map((row) => `${text(row)}\n`)
}

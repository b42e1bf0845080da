import { change } from "./change.ts"
import { changeLink, filesOf, linkLines } from "../files/truth.ts"
import { addCopy, addInvalidCopies, edit, ndjson, remove } from "./records.ts"
import { setWorkflow } from "./workflows.ts"
import { malformed, notFound } from "../http/errors.ts"
import { type FaultRule, mixture, readRules } from "../http/faults.ts"
import type { ParsedRequest } from "../http/router.ts"
import type { Service } from "../service.ts"
import type { Data } from "../account/collection.ts"

/** The endpoints under /__sandbox/, which control the sandbox. They need no token, and limits and faults do not apply. */
export const control = ({ method, text, url }: ParsedRequest, service: Service): string | Iterable<string> => {
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
      service.files?.statistics.reset()
      return JSON.stringify(statistics.report(false))
    case "GET files":
      filesOf(service)
      return linkLines(service)
    case "GET files/stats":
      return JSON.stringify(filesOf(service).statistics.report())
    case "POST files":
      return JSON.stringify(changeLink(body, service))
    case "GET locations":
      return JSON.stringify(service.locations())
    case "POST change":
      return JSON.stringify(change(body, service))
    case "POST clock":
      if (typeof body["advanceMs"] !== "number" || body["advanceMs"] > hundredYearsMs) {
        throw malformed("advanceMs must be a number, at most that of a hundred years")
      }
      clock.advance(body["advanceMs"])
      return JSON.stringify({ now: clock.now() })
    case "GET faults":
      return JSON.stringify({ rules: faults.rules })
    case "POST faults":
      faults.set(typeof body["rules"] === "number" ? mixture(body["rules"]) : rulesOf(body["rules"] ?? []))
      return JSON.stringify({ rules: faults.rules })
    case "POST churn":
      service.churn.start(readRate(body), service.settings.seed, clock.now())
      return JSON.stringify({ ...service.churn.rate, changes: service.churn.changes })
    case "POST poison":
      return JSON.stringify(addInvalidCopies(body, service))
    case "POST plant":
      return JSON.stringify(addCopy(body, service))
    case "POST edit":
      return JSON.stringify(edit(body, service))
    case "POST remove":
      return JSON.stringify(remove(body, service))
    case "POST workflows":
      return JSON.stringify(setWorkflow(body, service))
    case "GET deliveries":
      return JSON.stringify(service.deliveries.counts)
    case "POST token":
      if (typeof body["expireInMs"] === "number") tokens.expire(body["expireInMs"])
      if (body["revoke"] === true) tokens.revoke()
      if (body["rotate"] === true) tokens.rotate()
      if (body["restore"] === true) tokens.restore()
      if (typeof body["removeScope"] === "string") tokens.removeScope(body["removeScope"])
      if (typeof body["addScope"] === "string") tokens.addScope(body["addScope"])
      return JSON.stringify({ token: tokens.privateToken, refreshToken: tokens.refreshToken })
    default:
      throw notFound(`There is no ${operation} below /__sandbox/`)
  }
}

const hundredYearsMs = 3_155_760_000_000

const readBody = (text: string): Data => {
  try {
    const body: unknown = JSON.parse(text === "" ? "{}" : text)
    if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as Data
  } catch {
    // The error below covers invalid JSON too.
  }
  throw malformed("The body must be a JSON object")
}

const readRate = (body: Data): Data => {
  for (const name of ["perSecond", "perRequest", "deletes", "removes"]) {
    const sent = body[name] ?? 0
    if (typeof sent !== "number" || !(sent >= 0)) throw malformed(`${name} must be a number that is not negative`)
  }
  return body
}

const rulesOf = (sent: unknown): ReadonlyArray<FaultRule> => {
  try {
    return readRules(sent)
  } catch (error) {
    throw malformed((error as Error).message)
  }
}

/**
 * Who speaks in an answer. A proxy, a firewall and another program answer with the same statuses as the service, so a status
 * means something only in the form of the service's own errors. What their words say decides nothing.
 */
import { hash } from "node:crypto"
import { membersOf } from "../../catalog/json.ts"

/** `between`: something between sluice and the service. `unknown`: there is nothing to read. */
export type Author = "service" | "between" | "unknown"

export const authorOf = (status: number, body: Buffer | undefined, type: string | undefined): Author => {
  if (body === undefined || body.length === 0) return "unknown"
  const error = (type ?? "json").includes("json") ? parsed(body) : undefined
  return isOwn(status, error) || isOwn(status, error?.["error"]) || isOfFilter(status, error) ? "service" : "between"
}

/** The documented form: its status, and a message or a list of messages. */
const isOwn = (status: number, error: unknown): boolean => {
  const { message, ...members } = membersOf(error)
  const isMessage = message !== undefined && [message].flat().every((part) => typeof part === "string")
  return isMessage && Number(members["statusCode"] ?? members["status"]) === status
}
/** The documented form of an error in a filter has no status. */
const isOfFilter = (status: number, error: unknown): boolean =>
  status === 422 && ["error", "field"].every((name) => typeof membersOf(error)[name] === "string")

/** What is compared of an error: its status, its type, and its members. */
export const refusalIn = (status: number, body: Buffer | undefined, type: string | undefined): string =>
  JSON.stringify([status, type, (body && parsed(body)) ?? body?.toString("utf8")])

export const statusIn = (refusal: string): number => Number(JSON.parse(refusal)[0])

/** How the service refuses a request with these ids. */
export interface Refusal {
  readonly refusal: string
  readonly ids: ReadonlyArray<string>
}

/** Whether two refusals are the same but for the ids, and for what each answer has of its own: a number of its request, a time. */
export const isSame = (one: Refusal, other: Refusal | "answered" | undefined): boolean =>
  typeof other === "object" && isLike(withoutIds(one), withoutIds(other))

const withoutIds = ({ ids, refusal }: Refusal): unknown =>
  JSON.parse(refusal, (_, value: unknown) =>
    typeof value === "string" ? ids.reduce((text, id) => text.replaceAll(id, "\0"), value) : value
  )

const isLike = (one: unknown, other: unknown): boolean => {
  if (one === other) return true
  if (typeof one === "number" && typeof other === "number") return Math.min(one, other) >= 1e9
  if (typeof one === "string" && typeof other === "string")
    return one.length === other.length && isToken.test(one) && isToken.test(other) && /\d/.test(one + other)
  const [mine, theirs] = [membersOf(one), membersOf(other)]
  const names = Object.keys(mine)
  return (
    typeof one === typeof other &&
    one !== null &&
    names.length > 0 &&
    names.length === Object.keys(theirs).length &&
    names.every((name) => Object.hasOwn(theirs, name) && isLike(mine[name], theirs[name]))
  )
}
/** One word of a form that no sentence has. */
const isToken = /^[\w:.+-]{16,}$/

/** An id of the same form that no record has ever had; always the same one. */
export const neverIssued = (id: string): string => {
  const numbers = hash("sha512", `never issued: ${id}`, "buffer")
  const isHex = /^[\da-f-]+$/.test(id)
  return id.replaceAll(/[\da-zA-Z]/g, (one, place: number) => {
    const among = /\d/.test(one) ? "0123456789" : isHex ? "abcdef" : one === one.toLowerCase() ? lower : upper
    return among[numbers[place % numbers.length]! % among.length]!
  })
}
const lower = "abcdefghijklmnopqrstuvwxyz"
const upper = lower.toUpperCase()

/** The kind of an id: its separators, whether its parts are numbers, and how long the long ones are. */
export const kindOfId = (id: string): string =>
  id.replaceAll(/[\da-zA-Z]+/g, (part) => (part.length < 12 ? (/^\d+$/.test(part) ? "0" : "a") : String(part.length)))

const parsed = (body: Buffer): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"))
    return typeof value === "object" && value !== null && !Array.isArray(value) ? membersOf(value) : undefined
  } catch {
    return undefined
  }
}

/** What answered in place of the service, as messages name it; a page is not quoted. */
export const nameOfBetween = (status: number, body: Buffer, message: string, type?: string, server?: string): string =>
  `${status} from something else than the service, such as a firewall or a proxy (${[type ?? "no type", server].filter(Boolean).join(", ").slice(0, 100)})${parsed(body) ? `: ${message}` : ""}`

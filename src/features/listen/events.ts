/**
 * The events that workflows of the service send (A 6). Nothing of an event is stored: it says only that records of some tables
 * have changed, and the next sync reads these from the service.
 */
import { hash } from "node:crypto"

export interface Event {
  readonly location: string
  readonly type: string
  /** Tables with the changed records; empty for a type that says nothing about a table. */
  readonly tables: ReadonlyArray<string>
  /** Equal for a delivery that is repeated. */
  readonly fingerprint: string
}

/** Tables by a word in the type of an event; the types are not documented completely. */
const tablesByWord: ReadonlyArray<readonly [word: RegExp, tables: ReadonlyArray<string>]> = [
  [/contact|enrollment/, ["contacts"]],
  [/message|conversation|call/, ["conversations", "messages"]],
  [/opportunity/, ["opportunities"]],
  [/form/, ["form_submissions"]],
  [/survey/, ["survey_submissions"]],
  [/payment|transaction/, ["transactions"]],
  [/appointment/, ["appointments"]],
  [/order/, ["orders"]],
  [/invoice/, ["invoices"]]
]

/** `undefined` for a body that is no event. */
export const eventOf = (body: Buffer): Event | undefined => {
  const event = objectIn(body)
  const { eventId, locationId: location, type } = event ?? {}
  if (typeof location !== "string" || typeof type !== "string") return undefined
  const words = type.toLowerCase()
  return {
    location,
    type,
    tables: [...new Set(tablesByWord.flatMap(([word, tables]) => (word.test(words) ? tables : [])))],
    // A hash, because 100,000 are remembered, and an id may be as long as a body.
    fingerprint: hash(
      "sha256",
      typeof eventId === "string" && eventId !== "" ? `${location} ${eventId}` : body,
      "base64"
    )
  }
}

const objectIn = (body: Buffer): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"))
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

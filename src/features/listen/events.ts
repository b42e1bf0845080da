/**
 * The events that workflows of the service send (A 6). Nothing of an event is stored: it says only that records of some tables
 * have changed, and the next sync reads these from the service.
 */
import { hash } from "node:crypto"
import type { Resource } from "../../catalog/resource.ts"

export interface Event {
  readonly location: string
  readonly type: string
  /** Tables with the changed records; empty for a type that says nothing about a table that can be read at once. */
  readonly tables: ReadonlyArray<string>
  /** Equal for a delivery that is repeated. */
  readonly fingerprint: string
}

/** The words in the types of the events that mark a table as due, by table. */
export type WordsByTable = ReadonlyMap<string, ReadonlyArray<string>>

/** A list that the service cannot filter is read in full, which a single event is not worth. */
export const wordsByTable = (resources: ReadonlyArray<Resource>): WordsByTable =>
  new Map(resources.flatMap(({ changes, table }) => (changes?.events ? [[table, changes.events]] : [])))

/** `undefined` for a body that is no event. */
export const eventOf = (body: Buffer, tables: WordsByTable): Event | undefined => {
  const event = objectIn(body)
  const { eventId, locationId: location, type } = event ?? {}
  if (typeof location !== "string" || typeof type !== "string") return undefined
  const lower = type.toLowerCase()
  return {
    location,
    type,
    tables: [...tables].flatMap(([table, words]) => (words.some((word) => lower.includes(word)) ? [table] : [])),
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

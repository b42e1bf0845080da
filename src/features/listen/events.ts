/**
 * The events that workflows of the service send (A 6). Nothing of an event is stored: it says only that records of some tables
 * have changed, and the next sync reads these from the service.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { hash } from "node:crypto"
import type { Resource } from "../../catalog/resource.ts"

const decode = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({ locationId: Schema.String, type: Schema.String, eventId: Schema.optionalKey(Schema.Unknown) })
  )
)

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
  const event = Option.getOrUndefined(decode(body.toString("utf8")))
  if (event === undefined) return undefined
  const { eventId, locationId: location, type } = event
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

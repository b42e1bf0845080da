/**
 * The tables that events have marked as due, in a file, so that a restart forgets none that was acknowledged. An event that
 * arrives while its table is being read marks it again, because the reading may have passed the record.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readFile } from "node:fs/promises"
import { ifMissing, writeAtomically } from "../../output/files.ts"
import { some } from "../../values/text.ts"
import { hash } from "node:crypto"
import type { Resource } from "../../catalog/resource.ts"

const decodeEvent = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({ locationId: Schema.String, type: Schema.String, eventId: Schema.optionalKey(Schema.Unknown) })
  )
)

/** The words in the types of the events that mark a table as due, by table. */
export type WordsByTable = ReadonlyMap<string, ReadonlyArray<string>>

/** A list that the service cannot filter is read in full, which a single event is not worth. */
export const wordsByTable = (resources: ReadonlyArray<Resource>): WordsByTable =>
  new Map(resources.flatMap(({ changes, table }) => (changes?.events ? [[table, changes.events]] : [])))

/**
 * One of the events that workflows of the service send (A 6); `undefined` for a body that is none. Nothing of an event is
 * stored: it says only that records of some tables have changed, and the next sync reads these from the service.
 */
export const eventOf = (body: Buffer, tables: WordsByTable) => {
  const event = Option.getOrUndefined(decodeEvent(body.toString("utf8")))
  if (event === undefined) return undefined
  const { eventId, locationId: location, type } = event
  const lower = type.toLowerCase()
  return {
    location,
    type,
    /** Tables with the changed records; empty for a type that says nothing about a table that can be read at once. */
    tables: [...tables].flatMap(([table, words]) => (words.some((word) => lower.includes(word)) ? [table] : [])),
    // Equal for a delivery that is repeated. A hash, because 100,000 are remembered, and an id may be as long as a body.
    fingerprint: hash(
      "sha256",
      typeof eventId === "string" && eventId !== "" ? `${location} ${eventId}` : body,
      "base64"
    )
  }
}

/** Deliveries repeat within minutes, so this is far more than needed. */
const rememberedMax = 100_000

export class Due {
  readonly counts = { accepted: 0, repeated: 0, others: 0 }
  readonly #path: string
  /** When an event first marked each table, epoch milliseconds. */
  #tables: Map<string, number>
  /** Those of them that are being read. A process that is killed meanwhile has not read them. */
  #taken = new Map<string, number>()
  readonly #fingerprints = new Set<string>()
  #written: Promise<void> = Promise.resolve()

  /** What of the file was not taken over, in words. */
  readonly problem: string | undefined

  /** `known`: the tables that can be read at once. Without a file that can be read, any of them may be due: all are. */
  static async open(path: string, known: ReadonlySet<string>, now: number): Promise<Due> {
    const text = await readFile(path, "utf8").catch(ifMissing("{}"))
    const stored = decode(text)
    if (Option.isNone(stored))
      return new Due(
        path,
        new Map([...known].map((table) => [table, now])),
        `${path} cannot be read: all tables are read once`
      )
    const all = Object.entries(stored.value)
    const others = all.map(([table]) => table).filter((table) => !known.has(table))
    return new Due(
      path,
      new Map(all.filter(([table]) => known.has(table))),
      others.length === 0 ? undefined : `${path} names what is no table to read: ${some(others)}`
    )
  }

  private constructor(path: string, tables: Map<string, number>, problem: string | undefined) {
    this.#path = path
    this.#tables = tables
    this.problem = problem
  }

  /** Resolves once the marks are stored. */
  async mark({ fingerprint, tables }: NonNullable<ReturnType<typeof eventOf>>, now: number): Promise<void> {
    if (this.#fingerprints.has(fingerprint)) {
      this.counts.repeated++
      return this.#written
    }
    this.#fingerprints.add(fingerprint)
    const [oldest = ""] = this.#fingerprints
    if (this.#fingerprints.size > rememberedMax) this.#fingerprints.delete(oldest)
    if (tables.length === 0) this.counts.others++
    else this.counts.accepted++
    const fresh = tables.filter((table) => !this.#tables.has(table))
    for (const table of fresh) this.#tables.set(table, now)
    if (fresh.length > 0) this.#write()
    return this.#written
  }

  /** The tables to read. Call `settle` when they were read, or could not be. */
  take(): ReadonlyMap<string, number> {
    this.#taken = this.#tables
    this.#tables = new Map()
    return this.#taken
  }

  async settle(isRead: boolean): Promise<void> {
    if (!isRead) this.#tables = new Map([...this.#tables, ...this.#taken])
    this.#taken = new Map()
    this.#write()
    return this.#written
  }

  get size(): number {
    return this.#tables.size
  }

  #write(): void {
    const write = () =>
      writeAtomically(this.#path, `${JSON.stringify(Object.fromEntries([...this.#tables, ...this.#taken]))}\n`)
    this.#written = this.#written.then(write, write)
  }
}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Finite)))

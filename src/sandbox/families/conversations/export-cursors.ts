import { randomUUID } from "node:crypto"
import type { Clock } from "../../account/clock.ts"
import type { Entry } from "../../account/collection.ts"

/** One export under way: the messages as they were when it began. */
export interface Export {
  readonly rows: ReadonlyArray<Entry>
  readonly from: number
  readonly to: number
  readonly descending: boolean
  lastUsed: number
}

/** Export cursors (A 4.9): a position in a point in time, dead 2 minutes after the export was last read from. */
export class ExportCursors {
  readonly #clock: Clock
  readonly #exports = new Map<string, Export>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  begin(fields: Omit<Export, "lastUsed">): { id: string; export: Export } {
    for (const [id, old] of this.#exports) if (this.#isDead(old)) this.#exports.delete(id)
    const id = randomUUID()
    const begun = { ...fields, lastUsed: this.#clock.now() }
    this.#exports.set(id, begun)
    return { id, export: begun }
  }

  /** The export a cursor continues and where; undefined when the cursor is unknown or has died. */
  find(cursor: string): { id: string; export: Export; position: number } | undefined {
    const [, id, position] = /^([0-9a-f-]{36})\.([0-9a-z]+)$/.exec(Buffer.from(cursor, "base64url").toString()) ?? []
    const found = id === undefined ? undefined : this.#exports.get(id)
    if (id === undefined || position === undefined || found === undefined || this.#isDead(found)) return undefined
    found.lastUsed = this.#clock.now()
    return { id, export: found, position: Number.parseInt(position, 36) }
  }

  write(id: string, position: number): string {
    return Buffer.from(`${id}.${position.toString(36)}`).toString("base64url")
  }

  #isDead(found: Export): boolean {
    return this.#clock.now() - found.lastUsed > lifetimeMs
  }
}

const lifetimeMs = 120_000

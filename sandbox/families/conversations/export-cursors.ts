import { randomUUID } from "node:crypto"
import type { Clock } from "../../account/clock.ts"
import type { Entry } from "../../account/collection.ts"

/** One export: a snapshot of the messages at its start. */
export interface Export {
  readonly rows: ReadonlyArray<Entry>
  readonly from: number
  readonly to: number
  readonly descending: boolean
  lastUsed: number
}

/** The cursors of exports (A 4.9): positions in a snapshot, which expires 2 minutes after the last request for it. */
export class ExportCursors {
  readonly #clock: Clock
  readonly #exports = new Map<string, Export>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  begin(fields: Omit<Export, "lastUsed">): { id: string; export: Export } {
    for (const [id, old] of this.#exports) if (this.#isExpired(old)) this.#exports.delete(id)
    const id = randomUUID()
    const begun = { ...fields, lastUsed: this.#clock.now() }
    this.#exports.set(id, begun)
    return { id, export: begun }
  }

  /** The export and the position of a cursor; undefined if the cursor is unknown or expired. */
  find(cursor: string): { id: string; export: Export; position: number } | undefined {
    const [, id, position] = /^([0-9a-f-]{36})\.([0-9a-z]+)$/.exec(Buffer.from(cursor, "base64url").toString()) ?? []
    const found = id === undefined ? undefined : this.#exports.get(id)
    if (id === undefined || position === undefined || found === undefined || this.#isExpired(found)) return undefined
    found.lastUsed = this.#clock.now()
    return { id, export: found, position: Number.parseInt(position, 36) }
  }

  write(id: string, position: number): string {
    return Buffer.from(`${id}.${position.toString(36)}`).toString("base64url")
  }

  #isExpired(found: Export): boolean {
    return this.#clock.now() - found.lastUsed > lifetimeMs
  }
}

const lifetimeMs = 120_000

/** The parents whose children or detail a batch has read: their new state, and the keys that were returned for them. */
import { join } from "node:path"
import type { PageEntry, Parent } from "../../stores/vault/entry.ts"
import { NdjsonFile, readNdjson } from "./ndjson-file.ts"
import { wellFormed } from "../../catalog/convert.ts"
import { type Reading, isOneOf } from "../../stores/warehouse/meta/reading.ts"

interface Staged {
  readonly entry: PageEntry
  readonly parent: Parent
  readonly content: string | undefined
  /** When all children were read, epoch milliseconds; `undefined` if they were not. */
  readonly fullAt: number | undefined
  readonly keys: ReadonlyArray<string>
}

export class StagedParents {
  private readonly states = new Map<string, Staged>()
  private readonly lines: NdjsonFile
  private readonly listed: NdjsonFile

  constructor(folder: string) {
    this.lines = new NdjsonFile(join(folder, "parents.ndjson"))
    this.listed = new NdjsonFile(join(folder, "listed.ndjson"))
  }

  get files(): ReadonlyArray<NdjsonFile> {
    return [this.lines, this.listed]
  }

  /** Adds a page. `keys`: those of its children. */
  add(
    entry: PageEntry,
    parent: Parent,
    /** False if the service answered that it has nothing, which does not prove that the stored rows are deleted. */
    isAnswered: boolean,
    content: string | undefined,
    keys: ReadonlyArray<string>
  ): void {
    const id = JSON.stringify([entry.location, entry.partition, parent.id])
    const isFull = parent.done && parent.full && isAnswered
    const before = this.states.get(id)?.keys ?? []
    this.states.set(id, {
      entry,
      parent,
      content,
      fullAt: isFull ? entry.at : undefined,
      keys: before.length > 0 ? [...before, ...keys] : keys
    })
  }

  /** Call this once, after all pages. The keys of parents with further pages are `seen`. */
  finish(seen: NdjsonFile): void {
    for (const { entry, parent, content, fullAt, keys } of this.states.values()) {
      const reading = { location_id: entry.location, resource: entry.partition }
      this.lines.push(
        JSON.stringify({
          ...reading,
          parent_id: parent.id,
          parent_version: parent.done ? parent.version : null,
          content_hash: content ?? null,
          fetched_ms: entry.at,
          full_ms: fullAt ?? null,
          checkpoint: parent.done || entry.checkpoint === undefined ? null : wellFormed(entry.checkpoint)
        })
      )
      if (keys.length === 0) continue
      const line = wellFormed({ ...reading, keys })
      this.listed.push(line)
      if (!parent.done) seen.push(line)
    }
    this.states.clear()
  }

  /** FROM clause of the states; `undefined` if there are none. */
  get statesSql(): string | undefined {
    return this.lines.length === 0
      ? undefined
      : readNdjson(
          this.lines,
          "location_id: 'VARCHAR', resource: 'VARCHAR', parent_id: 'VARCHAR', parent_version: 'VARCHAR', content_hash: 'VARCHAR', fetched_ms: 'BIGINT', full_ms: 'BIGINT', checkpoint: 'VARCHAR'"
        )
  }

  /** SELECT of the keys that a reading has returned for its parents. */
  listedSql({ location, label }: Reading): string {
    return this.listed.length === 0
      ? "SELECT NULL::VARCHAR AS key WHERE false"
      : `SELECT unnest(keys) AS key FROM ${readNdjson(this.listed, "location_id: 'VARCHAR', resource: 'VARCHAR', keys: 'VARCHAR[]'")} WHERE ${isOneOf([{ location, label }])}`
  }
}

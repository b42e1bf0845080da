/**
 * Compacts the vault: removes records that repeat what was read before, so that loading them changes nothing. A list that is
 * read in full every night fills the vault with such records. A rebuild from the compacted vault makes the same rows, the same
 * history and the same counts.
 */
import { at as valueAt, parseExact } from "../../catalog/json.ts"
import { type Resource, transformed } from "../../catalog/resource.ts"
import { startsOver } from "../../stages/load/checkpoints.ts"
import { type Target, targetsIn } from "../../stages/load/normalise/normalise.ts"
import { givenBy } from "../../stages/load/normalised-page.ts"
import { type Entry, type PageEntry, isPage, withoutDigest } from "../../stores/vault/entry.ts"
import type { Frame } from "../../stores/vault/frame.ts"
import { RowStates, fingerprintOf } from "./row-states.ts"

/** `before`: only pages received before this time are changed; epoch milliseconds. */
export const compactor = (resources: ReadonlyArray<Resource>, before: number) => {
  const targetsOf = targetsIn(resources)
  const pageOf = (frame: Frame, entry: PageEntry): Page | undefined => {
    const targets = targetsOf(entry.resource).filter(({ resource }) => !entry.parent || !resource.embeddedIn)
    if (targets.length === 0) return undefined
    const body = String(frame.body)
    return body === "" ? undefined : new Page(entry, body, targets)
  }

  /** The number of frames up to the last end of each list. */
  const ends = new Map<string, number>()
  /** Which version a run stores of a row that it read in several versions depends on all of them: such a row is ambiguous. */
  const states = new RowStates()
  let looked = 0
  const look = (frame: Frame): void => {
    const { entry } = frame
    looked++
    // A reading that has not ended needs the keys on its pages, to find what was deleted meanwhile.
    if (entry.kind === "end" && startsOver(entry)) ends.set(listOf(entry), looked)
    if (entry.kind !== "page" || entry.parent) return
    for (const { fingerprint, rows } of pageOf(frame, entry)?.listed() ?? [])
      for (const { table, row } of rows) states.see(table, row, entry.run, fingerprint)
  }

  let [compacted, removed] = [0, 0]
  const compactPage = (frame: Frame, entry: PageEntry, isEnded: boolean): Frame => {
    const page = pageOf(frame, entry)
    if (page === undefined) return frame
    for (const { table, row } of page.otherRows()) states.forget(table, row)
    const needed = new Set<unknown>()
    const listed = page.listed()
    for (const { fingerprint, isPlain, record, rows } of listed) {
      const repeated = rows.filter(({ table, row }) => states.isRepeated(table, row, fingerprint))
      const isRepeated = rows.length > 0 && repeated.length === rows.length
      if (!isRepeated || !isPlain) needed.add(record)
    }
    if (needed.size === listed.length || !isEnded || entry.at >= before) return frame
    removed += listed.length - needed.size
    return {
      // The digest is that of the whole page.
      entry: { ...withoutDigest(entry), compacted: (entry.compacted ?? 0) + listed.length - needed.size },
      body: page.bodyOf(needed)
    }
  }
  const compact = (frame: Frame): Frame => {
    const { entry } = frame
    // What follows is compared with what was read before it, not with what was counted.
    if (compacted === 0) states.forgetVersions()
    const isEnded = compacted++ < (ends.get(listOf(entry)) ?? 0)
    if (isPage(entry)) return compactPage(frame, entry, isEnded)
    // Deleted rows, and rows that are deleted with them, are stored again by the next page that has them.
    if (entry.kind === "deleted")
      states.forgetTables(new Set([entry.resource, ...dependants(resources, entry.resource)]))
    return frame
  }
  return {
    /** Takes each frame first, in order. */
    look,
    /** Takes each frame again, and returns it without the records that change nothing. */
    compact,
    removed: () => removed
  }
}

class Page {
  readonly #entry: PageEntry
  readonly #body: unknown
  readonly #targets: ReadonlyArray<Target>

  constructor(entry: PageEntry, body: string, targets: ReadonlyArray<Target>) {
    this.#entry = entry
    this.#body = parseExact(body, entry.hasBigNumbers)
    this.#targets = targets
  }

  /** The records of a list; empty for details, and for the records of a parent, which are complete only together. */
  listed() {
    const entry = this.#entry
    const list = this.#isList() ? valueAt(this.#body, entry.records) : undefined
    if (!Array.isArray(list)) return []
    const targets = this.#targets.filter((target) => this.#pathOf(target) === entry.records)
    return list.map((record) => {
      const stored = targets.map((target) => this.#rowsOf(target, record))
      return {
        record,
        fingerprint: fingerprintOf(JSON.stringify([entry.partition, record])),
        /** The rows that it is stored in. */
        rows: stored.flatMap(({ rows }) => rows),
        /** Loading it stores rows, and rejects nothing. */
        isPlain: stored.every(({ isPlain }) => isPlain)
      }
    })
  }

  /** Rows of records outside of the list. */
  otherRows() {
    return this.#targets
      .filter((target) => !this.#isList() || this.#pathOf(target) !== this.#entry.records)
      .flatMap((target) => {
        const found = valueAt(this.#body, this.#pathOf(target))
        const records = Array.isArray(found) ? found : found === undefined || found === null ? [] : [found]
        return records.flatMap((record) => this.#rowsOf(target, record).rows)
      })
  }

  bodyOf(records: ReadonlySet<unknown>): string {
    const list = valueAt(this.#body, this.#entry.records) as Array<unknown>
    list.splice(0, list.length, ...list.filter((record) => records.has(record)))
    return JSON.stringify(this.#body)
  }

  #isList(): boolean {
    return this.#entry.kind === "page" && !this.#entry.parent
  }

  #pathOf({ resource }: Target): string {
    return resource.embeddedIn?.records ?? this.#entry.records
  }

  #rowsOf({ normalise, resource }: Target, record: unknown) {
    const entry = this.#entry
    const origin = { location: entry.location, given: givenBy(resource, entry) }
    const results = transformed(resource, record).map((one) => normalise(one, origin))
    return {
      /** Each with its location and key, as JSON. */
      rows: results.map(({ key }) => ({ table: resource.table, row: JSON.stringify([entry.location, ...key]) })),
      isPlain: results.every(
        ({ rejectedRecords, rejectedValues, row }) =>
          row !== undefined && rejectedRecords.length + rejectedValues.length === 0
      )
    }
  }
}

const listOf = ({ location, resource }: Entry): string => JSON.stringify([location, resource])

/** Tables whose rows are deleted together with those of a table. */
const dependants = (resources: ReadonlyArray<Resource>, table: string): ReadonlyArray<string> =>
  resources
    .filter(({ cascadesFrom, childOf }) => cascadesFrom?.table === table || childOf?.table === table)
    .flatMap((resource) => [resource.table, ...dependants(resources, resource.table)])

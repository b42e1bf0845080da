/** Writes pages from the vault to the files that a transaction reads: normalised rows, rejects and parent state. */
import { appendFile } from "node:fs/promises"
import { join } from "node:path"
import { at as valueAt, parseExact } from "../../catalog/json.ts"
import type { SchemaPolicies } from "../../catalog/schema-policy.ts"
import { type Resource, childRequestOf, transformed } from "../../catalog/resource.ts"
import { keyOf, tablesOf } from "../../catalog/tables.ts"
import type { PageEntry } from "../../stores/vault/entry.ts"
import type { Frame } from "../../stores/vault/frame.ts"
import type { MetValue } from "../../stores/warehouse/meta/schema-changes.ts"
import { type Hashes, type KnownRows, unknown } from "./known-rows.ts"
import { wellFormed } from "../../catalog/convert.ts"
import { NdjsonFile } from "./ndjson-file.ts"
import type { RecordCache } from "./record-cache.ts"
import { type Drift, addDrift } from "./drift.ts"
import { PageOrder } from "./page-order.ts"
import { versionOf } from "./merge/staging-table.ts"
import { StagedParents } from "./staged-parents.ts"
import type { UnlistedValue } from "./normalise/enum-values.ts"
import { type Normalise, type Normalised, normaliserOf } from "./normalise/normalise.ts"
import { toJson } from "./normalise/map-record.ts"

/** The pages of one resource, location and run in a batch, as NDJSON files. */
export interface Group {
  readonly resource: Resource
  readonly location: string
  readonly run: string
  readonly kind: PageEntry["kind"]
  /** The name it is counted under. */
  readonly label: string
  /** The pages belong to a full sync, so rows missing from all of them may be deleted. */
  readonly isFull: boolean
  /** What the table had before; `undefined` if that is not in memory. */
  readonly known: Hashes | undefined
  /** The table had no rows before. */
  readonly wasEmpty: boolean
  /** No staged row has the key of an earlier row, and none must keep what a detail has written. */
  isNew: boolean
  /** Some rows have the same key, and the merge decides which of them stays. */
  hasCopies: boolean
  /** Keys of staged rows whose hash is not known: a list may return a record twice. */
  readonly staged: Set<string>
  /** Child tables for which no staged row has rows. */
  readonly empty: Set<string>
  /** Pages of parents are in the group. */
  hasParents: boolean
  /** See `Parent.notesMissing`: a frame of an earlier version ends the reading of a parent. */
  deletesMissing: boolean
  /** When the last page was received, epoch milliseconds. */
  at: number
  pages: number
  records: number
  /** Records that were rejected as a whole. */
  droppedCount: number
  /** Schema drift by table, field and kind. */
  readonly drift: Map<string, Drift>
  readonly rows: NdjsonFile
  readonly rejectedValues: NdjsonFile
  readonly rejectedRecords: NdjsonFile
  readonly roundedValues: NdjsonFile
}

/** Parts of a group; each has its own file. */
const parts = ["rows", "rejectedValues", "rejectedRecords", "roundedValues"] as const

/** Takes one or two milliseconds. */
const recordsPerYield = 50

/** Whether to load a record. */
export type RecordFilter = (resource: Resource, location: string, key: ReadonlyArray<unknown>) => boolean

/** What the loader loads. */
export interface Loaded {
  readonly resources: ReadonlyArray<Resource>
  readonly policies: SchemaPolicies
  readonly cache?: RecordCache | undefined
  /** Loads only some of the records. */
  readonly filter?: RecordFilter | undefined
}

export class StagingFiles {
  readonly groups = new Map<string, Group>()
  readonly parents: StagedParents
  /** Keys that full readings of lists have returned. */
  readonly seen: NdjsonFile
  private readonly metValues = new Map<string, MetValue & { readonly hasList: boolean }>()
  private readonly resources: ReadonlyArray<Resource>
  private readonly targetsByTable = new Map<string, ReadonlyArray<Target>>()
  /** Records added so far. */
  records = 0
  private readonly policies: SchemaPolicies
  private readonly folder: string

  private readonly filter: RecordFilter | undefined
  private readonly order = new PageOrder()
  private readonly known: KnownRows
  private readonly cache: RecordCache | undefined

  /** `folder`: an empty folder for the files. */
  constructor({ resources, policies, filter, cache }: Loaded, known: KnownRows, folder: string) {
    this.resources = resources
    this.known = known
    this.cache = cache
    this.seen = new NdjsonFile(join(folder, "seen.ndjson"))
    this.parents = new StagedParents(folder)
    this.policies = policies
    this.filter = filter
    this.folder = folder
  }

  /** Writes buffered lines if there are enough of them, or if these are the last. */
  async write(isLast = false): Promise<void> {
    if (isLast) this.parents.finish(this.seen)
    const files = [...this.groups.values()].flatMap((group) => parts.map((part) => group[part]))
    for (const file of [...files, this.seen, ...this.parents.files]) {
      const lines = file.take(isLast)
      if (lines.length > 0) await appendFile(file.path, lines, { mode: 0o600 })
    }
  }

  /** Values of enum columns that the definitions do not list. */
  unlisted(hasList: boolean): ReadonlyArray<MetValue> {
    return [...this.metValues.values()].filter((met) => met.hasList === hasList)
  }

  /** The tables that store records of the page. */
  resourcesOf(entry: PageEntry): ReadonlyArray<Resource> {
    return this.targetsOf(entry).map((target) => target.resource)
  }

  /**
   * Adds a page and yields every few records, so that responses being received do not wait for a whole page. Returns false
   * if the page belongs to the next batch. Pages of a resource that is no longer defined are skipped; they stay in the vault.
   */
  *add(
    entry: PageEntry,
    { body, parsed = valueOf(body, entry.hasBigNumbers) }: Pick<Frame, "body" | "parsed">
  ): Generator<void, boolean> {
    yield
    const pages: Array<NormalisedPage> = []
    for (const target of this.targetsOf(entry)) pages.push(yield* this.normalised(target, entry, parsed))
    if (!this.order.takes(entry, pages)) return false
    for (const page of pages) this.addPage(page, entry, parsed)
    return true
  }

  private *normalised(
    { resource, normalise, records: path }: Target,
    entry: PageEntry,
    body: unknown
  ): Generator<void, NormalisedPage> {
    const found = valueAt(body, path ?? entry.records)
    const { filter } = resource
    const listed = Array.isArray(found) ? found : found === undefined || found === null ? [] : [found]
    const all = listed.flatMap((record) => transformed(resource, record))
    // Only lists mix records of several resources; a detail is requested by id.
    const isMixed = filter !== undefined && entry.kind === "page"
    const records = isMixed ? all.filter((record) => valueAt(record, filter.field) === filter.is) : all
    const origin = { location: entry.location, given: givenBy(resource, entry) }
    // The state of a parent contains a hash of its records.
    const isList = entry.kind === "page" && entry.parent === undefined
    const hashes = isList && keyOf(resource).join() === "id" ? this.known.of(resource, entry.location) : undefined
    const cached = hashes && this.cache?.normaliserOf(normalise, origin, resource.table, hashes)
    const results: Array<Normalised> = []
    for (const [index, record] of records.entries()) {
      results.push((cached ?? normalise)(record, origin))
      if (index % recordsPerYield === recordsPerYield - 1) yield
    }
    // The rows of copies are needed to decide between them.
    const mayHaveCopies = cached && new Set(results.map(({ keyText }) => keyText)).size < results.length
    const kept = mayHaveCopies ? records.map((record) => normalise(record, origin)) : results
    return { resource, results: kept, hasCopies: false }
  }

  private addPage({ resource, results, hasCopies }: NormalisedPage, entry: PageEntry, body: unknown): void {
    const { location, parent, kind } = entry
    const group = this.groupOf(resource, entry)
    group.pages++
    group.records += results.length + (entry.compacted ?? 0)
    group.at = entry.at
    if (hasCopies) group.hasCopies = true
    const isListed = parent !== undefined && kind === "page"
    const keys: Array<string> = []
    for (const result of results)
      if (!this.filter || (result.row && this.filter(resource, location, result.key))) {
        const key = this.addRow(group, result, hasCopies)
        if (key !== undefined) keys.push(key)
      }
    if (group.isFull) {
      this.known.see(resource.table, location, keys, group.wasEmpty)
      if (keys.length > 0) this.seen.push(seenLine(location, group.label, keys))
    }
    if (parent === undefined) return
    this.records++
    group.hasParents = true
    group.deletesMissing ||= isListed && parent.done && parent.full && !parent.notesMissing
    this.parents.add(entry, parent, body, results[0]?.hash, keys)
    this.known.addParentState(location, group.label)
  }

  /** Adds a row unless it is unchanged. Returns the text of its key; `undefined` if the record is no row. */
  private addRow(group: Group, result: Normalised, isCopy: boolean): string | undefined {
    const { row, hash: fingerprint, unreadable, rejectedValues, rejectedRecords, roundedValues } = result
    const key = result.keyText
    for (const { table, field, value } of result.unknown)
      addDrift(group.drift, { table, field, kind: "new field", key }, () => toJson(value))
    for (const { table, column, value, stored } of rejectedValues)
      if (!stored) addDrift(group.drift, { table, field: column, kind: "different type", key }, () => value)
    for (const { table, column, members } of unreadable)
      addDrift(group.drift, { table, field: column, kind: "no known member", key }, () => toJson(members))
    for (const record of rejectedRecords) group.rejectedRecords.push(wellFormed(record))
    const n = this.records++
    if (row === undefined) {
      group.droppedCount++
      return undefined
    }
    for (const value of result.unlistedValues) this.addUnlisted(group, value)
    if (isUnchanged(group, result, isCopy)) return key
    for (const table of result.childTables) group.empty.delete(table)
    group.rows.push(`{"_n":${n},"_at":${group.at},"_row_hash":"${fingerprint}",`, row.slice(1))
    for (const { stored: _, ...value } of rejectedValues) group.rejectedValues.push(wellFormed({ ...value, _n: n }))
    for (const value of roundedValues) group.roundedValues.push(wellFormed({ ...value, _n: n }))
    return key
  }

  private addUnlisted({ run, location }: Group, { hasList, table, column, value }: UnlistedValue): void {
    const id = JSON.stringify([location, table, column, value])
    if (!this.metValues.has(id)) this.metValues.set(id, { run, location, hasList, table, column, value })
  }

  private groupOf(resource: Resource, entry: PageEntry): Group {
    const { location, run, kind, at } = entry
    const label = entry.parent ? entry.partition : resource.table
    const isFull = !entry.parent && entry.checkpoint?.mode === "full"
    const key = JSON.stringify([resource.table, location, run, label, isFull])
    const existing = this.groups.get(key)
    if (existing) return existing
    const known = this.known.of(resource, location)
    const group: Group = {
      known,
      wasEmpty: known?.size === 0,
      isNew: known !== undefined && kind === "page" && !this.mayHaveDetails(resource, location),
      staged: new Set(),
      hasCopies: false,
      empty: new Set(
        tablesOf(resource)
          .slice(1)
          .map(({ name }) => name)
      ),
      hasParents: false,
      deletesMissing: false,
      resource,
      location,
      run,
      kind,
      label,
      isFull,
      at,
      pages: 0,
      records: 0,
      droppedCount: 0,
      drift: new Map(),
      rows: this.fileOf("rows"),
      rejectedValues: this.fileOf("rejectedValues"),
      rejectedRecords: this.fileOf("rejectedRecords"),
      roundedValues: this.fileOf("roundedValues")
    }
    this.groups.set(key, group)
    return group
  }

  private mayHaveDetails(resource: Resource, location: string): boolean {
    return resource.detail !== undefined && this.known.hasParentState(location, childRequestOf(resource)!.label)
  }

  private fileOf(part: (typeof parts)[number]): NdjsonFile {
    return new NdjsonFile(join(this.folder, `${this.groups.size}-${part}.ndjson`))
  }

  /** Pages of parents have no embedded records. */
  private targetsOf({ resource, parent }: PageEntry): ReadonlyArray<Target> {
    const targets = this.targetsIn(resource)
    return parent ? targets.filter((target) => !target.resource.embeddedIn) : targets
  }

  private targetsIn(table: string): ReadonlyArray<Target> {
    const existing = this.targetsByTable.get(table)
    if (existing) return existing
    const targets = this.resources
      .filter((resource) => resource.table === table || resource.embeddedIn?.table === table)
      .map((resource) => ({
        resource,
        normalise: normaliserOf(resource, this.policies),
        records: resource.embeddedIn?.records
      }))
    this.targetsByTable.set(table, targets)
    return targets
  }
}

/**
 * Whether the row is in the table already, or staged before; else it counts as staged now. Whether a detail is unchanged
 * depends on the detail before, so only the merge finds out.
 */
const isUnchanged = (group: Group, { keyText: key, hashNumber: now }: Normalised, isCopy: boolean): boolean => {
  const { resource, kind, known, staged } = group
  if (isCopy) {
    group.isNew = false
    known?.set(key, unknown)
    return false
  }
  const before = known?.get(key)
  if (staged.has(key) || (kind === "page" && before === now)) return true
  if (before !== undefined) group.isNew = false
  // The merge ignores an older version of a row. A detail keeps the hash of the list, and may say that the row is deleted.
  const isCertain = kind === "page" && (before === undefined || versionOf(resource) === undefined)
  const isKept = kind === "detail" && before !== undefined && resource.tombstone === undefined
  known?.set(key, isCertain ? now : isKept ? before : unknown)
  // What is certain is known from now on.
  if (known === undefined || !isCertain) staged.add(key)
  return false
}

/** The records of a page that one resource stores. */
export interface NormalisedPage {
  readonly resource: Resource
  /** Whether the page says different things about one record. */
  hasCopies: boolean
  readonly results: ReadonlyArray<Normalised>
}

const valueOf = (body: string, hasBigNumbers: boolean): unknown =>
  body === "" ? undefined : parseExact(body, hasBigNumbers)

/** A resource that has records in a page. */
interface Target {
  readonly resource: Resource
  readonly normalise: Normalise
  /** Path of the records, if it differs from the request's. */
  readonly records: string | undefined
}

/** Columns that follow from where a record was read: its parent or its partition. */
export const givenBy = (
  { childOf, partitions }: Resource,
  { parent, partition }: PageEntry
): Readonly<Record<string, unknown>> => ({
  ...(childOf && parent && { [childOf.column]: parent.id }),
  ...(!parent && typeof partitions === "object" && partitions[partition]?.columns)
})

/** A line of the file of seen keys: those of a page. */
const seenLine = (location: string, label: string, keys: ReadonlyArray<string>): string =>
  wellFormed({ location_id: location, resource: label, keys })

/** Writes pages from the vault to the files that a transaction reads: normalised rows, rejects and parent state. */
import type { Limits } from "../../values/limits.ts"
import { appendFile } from "node:fs/promises"
import { join } from "node:path"
import type { SchemaPolicies } from "../../catalog/schema-policy.ts"
import { type Resource, childLabelOf } from "../../catalog/resource.ts"
import { idColumn } from "../../catalog/tables.ts"
import type { PageEntry } from "../../stores/vault/entry.ts"
import type { MetValue } from "../../stores/warehouse/meta/schema-changes.ts"
import { type Hashes, type KnownRows, isUnchanged, unknown } from "./known-rows.ts"
import { wellFormed } from "../../catalog/convert.ts"
import { type NormalisedPage, type PageTarget, normalisedPage } from "./normalised-page.ts"
import type { KnownPages } from "./known-pages.ts"
import { NdjsonFile } from "./ndjson-file.ts"
import { RowFiles } from "./row-files.ts"
import { type Drift, addDrift } from "./drift.ts"
import { PageOrder } from "./batch-order.ts"
import { versionOf } from "./merge/staging-table.ts"
import { StagedParents } from "./staged-parents.ts"
import type { UnlistedValue } from "./normalise/rows.ts"
import { type ReadRecord, type RecordFilter, pageReaderOf } from "./scan/scan-page.ts"
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
  /** Whether a row without an earlier version needs no merge, because no detail has written to it. */
  readonly takesNew: boolean
  /** Some rows have the same key, and the merge decides which of them stays. */
  hasCopies: boolean
  /** Keys of staged rows whose hash is not known: a list may return a record twice. */
  readonly staged: Set<string>
  /** Bytes of the staged rows that have unknown fields. */
  unknownBytes: number
  /** Pages of parents are in the group. */
  hasParents: boolean
  /** When the last page was received, epoch milliseconds. */
  at: number
  pages: number
  records: number
  /** Records that were rejected as a whole. */
  droppedCount: number
  /** Schema drift by table, field and kind. */
  readonly drift: Map<string, Drift>
  /** Rows of which the table has no earlier version: they need no merge. */
  readonly newRows: RowFiles
  /** Rows to be merged. */
  readonly stagedRows: RowFiles
  readonly rejectedValues: NdjsonFile
  readonly rejectedRecords: NdjsonFile
  readonly roundedValues: NdjsonFile
}

/** Parts of a group; each has its own file. */
const parts = ["rejectedValues", "rejectedRecords", "roundedValues"] as const

/** What the loader loads. */
export interface Loaded {
  readonly resources: ReadonlyArray<Resource>
  readonly policies: SchemaPolicies
  /** Loads only some of the records. */
  readonly filter?: RecordFilter | undefined
  /** What is known of pages; absent if only some records are loaded. */
  readonly pages?: KnownPages | undefined
}

export class StagingFiles {
  readonly groups = new Map<string, Group>()
  readonly parents: StagedParents
  /** Keys that full readings of lists have returned. */
  readonly seen: NdjsonFile
  private readonly metValues = new Map<string, MetValue & { readonly hasList: boolean }>()
  private readonly resources: ReadonlyArray<Resource>
  private readonly targetsByTable = new Map<string, ReadonlyArray<PageTarget>>()
  /** Records added so far. */
  records = 0
  /** Bytes of the rows to be merged so far. */
  stagedBytes = 0
  private readonly policies: SchemaPolicies
  private readonly folder: string

  private readonly filter: RecordFilter | undefined
  private readonly pages: KnownPages | undefined
  /** Pages that were not known, for later readings. */
  readonly noted: NdjsonFile
  /** Readings with a page whose keys are not known: every row may have been on it. */
  readonly unsure = new Map<string, { readonly resource: Resource; readonly location: string }>()
  private readonly order = new PageOrder()
  /** The groups of the pages since the last write. */
  private readonly grown = new Set<Group>()
  private readonly known: KnownRows
  private readonly limits: Limits["load"]

  /** `folder`: an empty folder for the files. */
  constructor(
    { resources, policies, filter, pages }: Loaded,
    known: KnownRows,
    folder: string,
    limits: Limits["load"]
  ) {
    this.limits = limits
    this.resources = resources
    this.known = known
    this.pages = pages
    this.noted = new NdjsonFile(join(folder, "pages.ndjson"))
    this.seen = new NdjsonFile(join(folder, "seen.ndjson"))
    this.parents = new StagedParents(folder)
    this.policies = policies
    this.filter = filter
    this.folder = folder
  }

  /** Writes buffered lines if there are enough of them, or if these are the last. */
  async write(isLast = false): Promise<void> {
    if (isLast) this.parents.finish(this.seen)
    const groups = isLast ? this.groups.values() : this.grown
    const files = [...groups].flatMap((group) => [
      ...parts.map((part) => group[part]),
      ...group.newRows.files,
      ...group.stagedRows.files
    ])
    this.grown.clear()
    for (const file of [...files, this.seen, this.noted, ...this.parents.files]) {
      const lines = file.take(isLast)
      if (lines.length > 0) await appendFile(file.path, lines, { mode: 0o600 })
    }
  }

  /** Values of enum columns that the definitions do not list. */
  unlisted(hasList: boolean): ReadonlyArray<MetValue> {
    return [...this.metValues.values()].filter((met) => met.hasList === hasList)
  }

  /** Reads the records of a page. Pages of a resource that is no longer defined are skipped; they stay in the vault. */
  *read(entry: PageEntry, body: Buffer): Generator<void, ReadonlyArray<NormalisedPage>> {
    const pages: Array<NormalisedPage> = []
    for (const target of this.targetsOf(entry)) pages.push(yield* normalisedPage(target, entry, body, this.filter))
    return pages
  }

  /** Whether a page belongs to the batch; if so, add it. */
  takes(entry: PageEntry, pages: ReadonlyArray<NormalisedPage>): boolean {
    return this.order.takes(entry, pages)
  }

  /**
   * Whether the batch decides about the rows of the page by the hashes by which it began. A table that has become too large for
   * memory has none from then on, and the merge looks up its rows in the next batch.
   */
  knows(entry: PageEntry, pages: ReadonlyArray<NormalisedPage>): boolean {
    return pages.every(({ resource }) => {
      const group = this.groups.get(groupKey(resource, entry))
      return group === undefined || group.known === this.known.of(resource, entry.location)
    })
  }

  add(entry: PageEntry, isAnswered: boolean, pages: ReadonlyArray<NormalisedPage>): void {
    for (const page of pages) this.addPage(page, entry, isAnswered)
  }

  private addPage({ resource, results, hasCopies }: NormalisedPage, entry: PageEntry, isAnswered: boolean): void {
    const { location, parent } = entry
    const group = this.groupOf(resource, entry)
    this.grown.add(group)
    group.pages++
    group.records += results.length + (entry.compacted ?? 0)
    group.at = entry.at
    if (hasCopies) group.hasCopies = true
    const keys: Array<string> = []
    for (const result of results)
      if (!this.filter || (result.row && this.filter(resource, location, result.key))) {
        const key = this.addRow(group, result, hasCopies)
        if (key !== undefined) keys.push(key)
      }
    if (group.isFull) {
      keys.push(...this.keysOfKnown(entry, results, resource))
      this.known.see(resource.table, location, keys, group.wasEmpty)
      if (keys.length > 0) this.seen.push(seenLine(location, group.label, keys))
    }
    if (parent === undefined) return
    this.records++
    group.hasParents = true
    this.parents.add(entry, parent, isAnswered, results[0]?.hash, keys)
    this.known.addParentState(location, group.label)
  }

  /** The keys of a page that is stored without its records. Notes any other one. */
  private keysOfKnown(entry: PageEntry, results: ReadonlyArray<ReadRecord>, resource: Resource): ReadonlyArray<string> {
    const { compacted, digest, location } = entry
    if (this.pages === undefined || digest === undefined) return []
    if (compacted === undefined) {
      const noted = this.pages.note(entry, results)
      if (noted !== undefined) this.noted.push(wellFormed(noted))
      return []
    }
    const keys = results.length === 0 ? this.pages.keysOf(entry) : undefined
    if (keys === undefined) this.unsure.set(`${location} ${resource.table}`, { resource, location })
    return keys ?? []
  }

  /** Adds a row unless it is unchanged. Returns the text of its key; `undefined` if the record is no row. */
  private addRow(group: Group, result: ReadRecord, isCopy: boolean): string | undefined {
    const { row, hash: fingerprint, unreadable, rejectedValues, rejectedRecords, roundedValues } = result
    const key = result.keyText
    const { drift: limit } = this.limits
    for (const unknown of result.unknown)
      addDrift(group.drift, limit, { ...unknown, kind: "new field", key }, () => toJson(unknown.value))
    for (const { table, column, value, stored } of rejectedValues)
      if (!stored) addDrift(group.drift, limit, { table, field: column, kind: "different type", key }, () => value)
    for (const { table, column, members } of unreadable)
      addDrift(group.drift, limit, { table, field: column, kind: "no known member", key }, () => toJson(members))
    for (const record of rejectedRecords) group.rejectedRecords.push(wellFormed(record))
    const n = this.records++
    if (row === undefined) {
      group.droppedCount++
      return undefined
    }
    for (const value of result.unlistedValues) this.addUnlisted(group, value)
    const state = stateOf(group, result, isCopy)
    if (state === "unchanged") return key
    const bytes = typeof row === "string" ? Buffer.from(row) : row
    const isNew = state === "new" && !mayBeDeleted(group.resource, bytes)
    const read = `"_at":${group.at},"_row_hash":"${fingerprint}",`
    if (isNew) {
      const child = `{"${idColumn(group.resource.table)}":${JSON.stringify(key)},"_at":${group.at},`
      group.newRows.push(`{${read}`, child, bytes, result.childLists)
    } else {
      this.stagedBytes += bytes.length
      if (result.unknown.length > 0) group.unknownBytes += bytes.length
      group.stagedRows.push(`{"_n":${n},${read}`, `{"_n":${n},`, bytes, result.childLists)
    }
    // The merge may drop a staged row, and with it what was rejected of it.
    const staged = isNew ? {} : { _n: n }
    for (const { stored: _, ...value } of rejectedValues) group.rejectedValues.push(wellFormed({ ...value, ...staged }))
    for (const value of roundedValues) group.roundedValues.push(wellFormed({ ...value, ...staged }))
    return key
  }

  private addUnlisted({ run, location }: Group, { hasList, table, column, value }: UnlistedValue): void {
    const id = JSON.stringify([location, table, column, value])
    if (!this.metValues.has(id)) this.metValues.set(id, { run, location, hasList, table, column, value })
  }

  private groupOf(resource: Resource, entry: PageEntry): Group {
    const { location, run, kind, at } = entry
    const label = labelOf(resource, entry)
    const isFull = isOfFullReading(entry)
    const key = groupKey(resource, entry)
    const existing = this.groups.get(key)
    if (existing) return existing
    const known = this.known.of(resource, location)
    const group: Group = {
      known,
      wasEmpty: this.known.isEmptyTable(resource, location),
      takesNew: known !== undefined && kind === "page" && !this.mayHaveDetails(resource, location),
      staged: new Set(),
      hasCopies: false,
      unknownBytes: 0,
      hasParents: false,
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
      newRows: new RowFiles(resource, join(this.folder, `${this.groups.size}-new`)),
      stagedRows: new RowFiles(resource, join(this.folder, `${this.groups.size}-staged`)),
      rejectedValues: this.fileOf("rejectedValues"),
      rejectedRecords: this.fileOf("rejectedRecords"),
      roundedValues: this.fileOf("roundedValues")
    }
    this.groups.set(key, group)
    return group
  }

  private mayHaveDetails(resource: Resource, location: string): boolean {
    return resource.detail !== undefined && this.known.hasParentState(location, childLabelOf(resource))
  }

  private fileOf(part: (typeof parts)[number]): NdjsonFile {
    return new NdjsonFile(join(this.folder, `${this.groups.size}-${part}.ndjson`))
  }

  /** The resources that have records in a page. */
  resourcesOf(entry: PageEntry): ReadonlyArray<Resource> {
    return this.targetsOf(entry).map(({ resource }) => resource)
  }

  /** Pages of parents have no embedded records. */
  private targetsOf({ resource, parent }: PageEntry): ReadonlyArray<PageTarget> {
    const targets = this.targetsIn(resource)
    return parent ? targets.filter((target) => !target.resource.embeddedIn) : targets
  }

  private targetsIn(table: string): ReadonlyArray<PageTarget> {
    const existing = this.targetsByTable.get(table)
    if (existing) return existing
    const targets = this.resources
      .filter((resource) => resource.table === table || resource.embeddedIn?.table === table)
      .map((resource) => ({
        resource,
        read: pageReaderOf(resource, this.policies, this.limits),
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
const stateOf = (
  group: Group,
  { keyText: key, hashNumber: now }: ReadRecord,
  isCopy: boolean
): "unchanged" | "new" | "staged" => {
  const { resource, kind, known, staged } = group
  if (isCopy) {
    known?.set(key, unknown)
    return "staged"
  }
  const before = known?.get(key)
  if (staged.has(key) || (kind === "page" && isUnchanged(before, now))) return "unchanged"
  // The merge ignores an older version of a row. A detail keeps the hash of the list, and may say that the row is deleted.
  const isCertain = kind === "page" && (before === undefined || versionOf(resource) === undefined)
  const isKept = kind === "detail" && before !== undefined && resource.tombstone === undefined
  known?.set(key, isCertain ? now : isKept ? before : unknown)
  // What is certain is known from now on.
  if (known === undefined || !isCertain) staged.add(key)
  return before === undefined && group.takesNew ? "new" : "staged"
}

const labelOf = (resource: Resource, entry: PageEntry): string => (entry.parent ? entry.partition : resource.table)

const groupKey = (resource: Resource, entry: PageEntry): string =>
  JSON.stringify([resource.table, entry.location, entry.run, labelOf(resource, entry), isOfFullReading(entry)])

/** Whether the service may flag the record of a row as deleted. */
const mayBeDeleted = ({ tombstone }: Resource, row: Buffer): boolean =>
  tombstone !== undefined && row.includes(`"${tombstone}":true`)

export const isOfFullReading = ({ checkpoint, parent }: PageEntry): boolean => !parent && checkpoint?.mode === "full"

/** A line of the file of seen keys: those of a page. */
const seenLine = (location: string, label: string, keys: ReadonlyArray<string>): string =>
  wellFormed({ location_id: location, resource: label, keys })

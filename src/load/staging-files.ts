/** Pages from the vault to the files a transaction reads: normalised rows, rejects, and the state that goes with them. */
import { appendFile } from "node:fs/promises"
import { join } from "node:path"
import { at as valueAt, parseExact } from "../catalog/json.ts"
import type { SchemaPolicies } from "../catalog/schema-policy.ts"
import type { Resource } from "../catalog/resource.ts"
import type { PageEntry, Parent } from "../vault/entry.ts"
import type { Frame } from "../vault/frame.ts"
import { wellFormed } from "./normalise/convert.ts"
import { NdjsonFile } from "./ndjson-file.ts"
import { type Normalise, type Normalised, normaliserOf } from "./normalise/normalise.ts"
import { printed } from "./normalise/map-record.ts"

/** What one transaction takes in for one resource of one location, in lines of NDJSON. */
export interface Group {
  readonly resource: Resource
  readonly location: string
  readonly run: string
  readonly kind: PageEntry["kind"]
  /** What it is counted as. */
  readonly label: string
  /** The pages are part of a reading of everything, so what they do not show is gone. */
  readonly whole: boolean
  /** When the last page came, epoch milliseconds. */
  at: number
  pages: number
  records: number
  /** Records that became no row at all. */
  droppedCount: number
  /** What the service sends otherwise than defined: how often, and the first sample, by table, field and kind. */
  readonly drift: Map<string, Drift>
  readonly rows: NdjsonFile
  readonly parents: NdjsonFile
  readonly rejectedValues: NdjsonFile
  readonly rejectedRecords: NdjsonFile
}

export interface Drift {
  readonly table: string
  readonly field: string
  readonly kind: "new field" | "different type"
  /** As JSON. */
  readonly sample: string
  count: number
}

/** Parts of a group, each with a file of its own. */
const parts = ["rows", "parents", "rejectedValues", "rejectedRecords"] as const
export type Part = (typeof parts)[number]

/** A millisecond or two. */
const recordsAtOnce = 50

/** Whether a record is one of those that are taken in. */
export type RecordFilter = (resource: Resource, location: string, key: ReadonlyArray<unknown>) => boolean

/** What is taken in. */
export interface Loaded {
  readonly resources: ReadonlyArray<Resource>
  readonly policies: SchemaPolicies
  /** Of the records, only some. */
  readonly filter?: RecordFilter | undefined
}

export class StagingFiles {
  readonly groups = new Map<string, Group>()
  private readonly resources: ReadonlyArray<Resource>
  private readonly targetsByTable = new Map<string, ReadonlyArray<Target>>()
  /** Taken in so far. */
  records = 0
  /** Used again by every writing: a new one each time is garbage faster than it is collected. */
  private buffer = Buffer.alloc(0)
  private readonly policies: SchemaPolicies
  private readonly folder: string

  private readonly filter: RecordFilter | undefined

  /** `folder`: an empty one, for its lines. */
  constructor({ resources, policies, filter }: Loaded, folder: string) {
    this.resources = resources
    this.policies = policies
    this.filter = filter
    this.folder = folder
  }

  /** Writes lines to their files, as far as it is worth it; with the last of them there is a file for each part. */
  async write(last = false): Promise<void> {
    for (const group of this.groups.values())
      for (const part of parts) {
        const text = group[part].take(last)
        if (text !== "" || last) await this.append(group[part].path, text)
      }
  }

  private async append(path: string, text: string): Promise<void> {
    if (this.buffer.length < text.length * 3) this.buffer = Buffer.allocUnsafeSlow(text.length * 3)
    await appendFile(path, this.buffer.subarray(0, this.buffer.write(text)), { mode: 0o600 })
  }

  /**
   * Takes in a page, and pauses every few records: answers come in pieces, and each would wait for the whole page.
   * Pages of a resource whose definition is gone stay in the vault and are passed over.
   */
  *add(
    entry: PageEntry,
    { body, parsed = valueOf(body, entry.hasBigNumbers) }: Pick<Frame, "body" | "parsed">
  ): Generator<void> {
    yield
    for (const target of this.targetsOf(entry.resource))
      if (!entry.parent || !target.resource.embeddedIn) yield* this.take(target, entry, parsed)
  }

  private *take({ resource, normalise, records: own }: Target, entry: PageEntry, body: unknown): Generator<void> {
    const found = valueAt(body, own ?? entry.records)
    const { transform, filter } = resource
    const listed = Array.isArray(found) ? found : found === undefined || found === null ? [] : [found]
    const transformed = transform ? listed.flatMap((record) => transformedBy(transform, record)) : listed
    // What is asked for by its id is not mixed.
    const mixed = filter !== undefined && entry.kind === "page"
    const records = mixed ? transformed.filter((record) => valueAt(record, filter.field) === filter.is) : transformed
    const group = this.groupOf(resource, entry)
    const origin = { location: entry.location, given: givenBy(resource, entry) }
    group.pages++
    group.records += records.length
    group.at = entry.at
    let first: Normalised | undefined
    for (const [index, record] of records.entries()) {
      const result = normalise(record, origin)
      first ??= result
      if (!this.filter || (result.row && this.filter(resource, entry.location, result.key))) this.addRow(group, result)
      if (index % recordsAtOnce === recordsAtOnce - 1) yield
    }
    if (entry.parent) group.parents.push(parentLine(entry, entry.parent, first?.hash, this.records++))
  }

  private addRow(group: Group, result: Normalised): void {
    const { row, hash: fingerprint, unknown, rejectedValues, rejectedRecords } = result
    for (const { table, field, value } of unknown) drifted(group, table, field, "new field", () => printed(value))
    for (const { table, column, value, kept } of rejectedValues)
      if (!kept) drifted(group, table, column, "different type", () => value)
    const n = this.records++
    if (row !== undefined) group.rows.push(`{"_n":${n},"_at":${group.at},"_row_hash":"${fingerprint}",${row.slice(1)}`)
    for (const { kept: _, ...value } of rejectedValues) group.rejectedValues.push(wellFormed({ ...value, _n: n }))
    for (const record of rejectedRecords) group.rejectedRecords.push(wellFormed(record))
    if (row === undefined) group.droppedCount++
  }

  private groupOf(resource: Resource, { location, run, kind, at, parent, partition, checkpoint }: PageEntry): Group {
    const label = parent ? partition : resource.table
    const whole = !parent && checkpoint?.mode === "full"
    const key = JSON.stringify([resource.table, location, run, label, whole])
    const known = this.groups.get(key)
    if (known) return known
    const group: Group = {
      resource,
      location,
      run,
      kind,
      label,
      whole,
      at,
      pages: 0,
      records: 0,
      droppedCount: 0,
      drift: new Map(),
      rows: this.fileOf("rows"),
      parents: this.fileOf("parents"),
      rejectedValues: this.fileOf("rejectedValues"),
      rejectedRecords: this.fileOf("rejectedRecords")
    }
    this.groups.set(key, group)
    return group
  }

  private fileOf(part: Part): NdjsonFile {
    return new NdjsonFile(join(this.folder, `${this.groups.size}-${part}.ndjson`))
  }

  private targetsOf(table: string): ReadonlyArray<Target> {
    const known = this.targetsByTable.get(table)
    if (known) return known
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

/** Where names are values, there is no end of new ones: beyond this many in a batch they are told together. */
const driftMax = 200

const drifted = (group: Group, table: string, sent: string, kind: Drift["kind"], sample: () => string): void => {
  const room = group.drift.size < driftMax || group.drift.has(`${table}.${sent} ${kind}`)
  const field = room ? sent.slice(0, 200) : "(others)"
  const key = `${table}.${field} ${kind}`
  const known = group.drift.get(key)
  if (known) known.count++
  else group.drift.set(key, { table, field, kind, sample: sample().slice(0, 500), count: 1 })
}

const valueOf = (body: string, hasBigNumbers: boolean): unknown =>
  body === "" ? undefined : parseExact(body, hasBigNumbers)

/** A definition may stumble over a record of odd shape; such a record is judged as it is. */
const transformedBy = (transform: NonNullable<Resource["transform"]>, record: unknown): ReadonlyArray<unknown> => {
  try {
    return transform(record)
  } catch {
    return [record]
  }
}

/** A table that a page has records for. */
interface Target {
  readonly resource: Resource
  readonly normalise: Normalise
  /** Where they are, if not where the request says. */
  readonly records: string | undefined
}

/** Columns that the place of a record gives it. */
const givenBy = (
  { childOf, partitions }: Resource,
  { parent, partition }: PageEntry
): Readonly<Record<string, unknown>> => ({
  ...(childOf && parent && { [childOf.column]: parent.id }),
  ...(!parent && typeof partitions === "object" && partitions[partition]?.columns)
})

const parentLine = (
  { at, checkpoint }: PageEntry,
  { id, version, done, full }: Parent,
  content: string | undefined,
  n: number
) =>
  JSON.stringify({
    parent_id: id,
    parent_version: done ? version : null,
    content_hash: content ?? null,
    fetched_ms: at,
    full_ms: done && full ? at : null,
    checkpoint: done ? null : wellFormed(checkpoint),
    _n: n
  })

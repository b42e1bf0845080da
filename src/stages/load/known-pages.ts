/**
 * Pages that were loaded before. A list that the service cannot filter is read in full every night, and most of its pages are
 * those of the night before: of such a page the vault keeps when it was received, but not its records once more.
 *
 * A page is known by the digest of the bytes of its records and of the definition, with the rows that they became. It says
 * nothing new if the warehouse has exactly these rows now, whatever happened in between.
 */
import { Effect, Semaphore } from "effect"
import { createHash, hash } from "node:crypto"
import { recordsIn } from "../../catalog/sent-page.ts"
import { type Resource, embeddedResourcesOf } from "../../catalog/resource.ts"
import { type SchemaPolicies, policyOf } from "../../catalog/schema-policy.ts"
import { type EndEntry, type Entry, type PageEntry, isPage } from "../../stores/vault/entry.ts"
import type { Frame } from "../../stores/vault/frame.ts"
import { Vault } from "../../stores/vault/vault.ts"
import { pagesOf } from "../../stores/warehouse/meta/known-pages.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import type { Checkpoint } from "../../values/checkpoint.ts"
import type { Failure } from "../../values/failure.ts"
import { Signal } from "../../values/signal.ts"
import { sluiceVersion } from "../../values/version.ts"
import { type Hashes, type KnownRows, unknown } from "./known-rows.ts"
import type { ReadRecord } from "./scan/scan-page.ts"

/** A page, and the rows that it became. */
interface KnownPage {
  /** Digest of the keys and hashes of the rows. */
  readonly rows: string
  /** Separated by NULs. */
  readonly keys: string
  readonly records: number
}

/** How long an append waits until the entries before it are loaded. If that is not enough, none waits again. */
const waitMs = 2000

export class KnownPages {
  private readonly known: KnownRows
  private readonly warehouse: Warehouse["Service"]
  private readonly policies: SchemaPolicies
  /** The resources whose pages are worth knowing, with the digest of the definition. */
  private readonly resources: ReadonlyMap<string, { readonly resource: Resource; readonly definition: string }>
  /** By location, by table, by digest. */
  private readonly pages = new Map<string, Map<string, Map<string, KnownPage>>>()
  /** The digests of readings that have not ended, by location and table. */
  private readonly used = new Map<string, Set<string>>()
  private readonly reads = Semaphore.makeUnsafe(1)
  private readonly appends = new Map<string, Semaphore.Semaphore>()
  /** How many entries are appended that no batch has taken yet: what they make of the rows of a table is not known. */
  private readonly waiting = new Map<string, number>()
  private readonly taken = new Signal()
  private mayWait = true

  private constructor(
    known: KnownRows,
    warehouse: Warehouse["Service"],
    resources: KnownPages["resources"],
    policies: SchemaPolicies
  ) {
    this.known = known
    this.warehouse = warehouse
    this.resources = resources
    this.policies = policies
  }

  static readonly make = Effect.fnUntraced(function* (
    known: KnownRows,
    resources: ReadonlyArray<Resource>,
    policies: SchemaPolicies
  ) {
    const own = resources.filter((resource) => isReadWhole(resource, resources))
    const definitions = own.map(
      (resource) => [resource.table, { resource, definition: definitionOf(resource, policies) }] as const
    )
    return new KnownPages(known, yield* Warehouse, new Map(definitions), policies)
  })

  /** The vault for the readings of a run: it stores no record of a page that says nothing new. */
  storingNews(vault: Vault["Service"]): Vault["Service"] {
    this.waiting.clear()
    return Vault.of({ ...vault, append: (frame) => this.append(vault, frame) })
  }

  private append(vault: Vault["Service"], frame: Frame): Effect.Effect<void, Failure> {
    const { entry } = frame
    const own = isPage(entry) ? this.resources.get(entry.resource) : undefined
    const stored = (frame: Frame) =>
      Effect.suspend(() => {
        this.count(entry, 1)
        return vault.append(frame)
      })
    if (!isPage(entry) || own === undefined) return stored(frame)
    const store = isKnowable(entry) ? Effect.flatMap(this.shortened({ ...frame, entry }, own), stored) : stored(frame)
    // Another page of the table cannot come between the decision and the entry.
    return store.pipe(this.lockOf(tableKey(entry)).withPermits(1))
  }

  private readonly shortened = Effect.fnUntraced(
    { self: this as KnownPages },
    function* (
      this: KnownPages,
      { body, entry }: Frame & { readonly entry: PageEntry },
      { definition, resource }: { readonly definition: string; readonly resource: Resource }
    ) {
      const { location } = entry
      const digest = digestOf(definition, entry, body)
      yield* this.read(location)
      const page = this.pagesIn(location, resource.table).get(digest)
      const whole: Frame = { entry: { ...entry, digest }, body }
      if (page === undefined) return whole
      yield* this.known.readTables([{ resource, location, isFull: true }])
      yield* this.untilLoaded(entry)
      const isLoaded = this.entriesBefore(entry) === 0
      if (!isLoaded || rowsDigest(page.keys.split("\0"), this.known.of(resource, location)) !== page.rows) return whole
      return {
        entry: {
          ...whole.entry,
          ...checkpointWithout(entry, this.known.limits.extract.lastIds.last(page.keys.split("\0"))),
          compacted: page.records
        },
        body: ""
      }
    }
  )

  /** Waits until what was appended before is loaded, so that the rows of the table are known. */
  private untilLoaded(entry: PageEntry): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      while (this.mayWait) {
        const { next } = this.taken
        if (this.entriesBefore(entry) === 0) return
        this.mayWait = yield* Effect.raceFirst(Effect.as(next, true), Effect.as(Effect.sleep(waitMs), false))
      }
    })
  }

  private lockOf(table: string): Semaphore.Semaphore {
    const lock = this.appends.get(table) ?? Semaphore.makeUnsafe(1)
    this.appends.set(table, lock)
    return lock
  }

  /** Those that may change rows of the table. A deletion also removes the children of its rows. */
  private entriesBefore(entry: PageEntry): number {
    return (this.waiting.get(tableKey(entry)) ?? 0) + (this.waiting.get(entry.location) ?? 0)
  }

  private count(entry: Entry, by: 1 | -1): void {
    const key = isPage(entry)
      ? tableKey(entry)
      : entry.kind === "deleted" || entry.kind === "existing"
        ? entry.location
        : undefined
    if (key !== undefined) this.waiting.set(key, Math.max(0, (this.waiting.get(key) ?? 0) + by))
  }

  /** Reads the pages of a location, once. */
  readonly read = Effect.fnUntraced(
    { self: this as KnownPages },
    function* (this: KnownPages, location: string) {
      if (this.pages.has(location)) return
      const found = yield* pagesOf(location).pipe(Effect.provideService(Warehouse, this.warehouse))
      const all = found.map((page) => ({ ...page, records: page.keys.split("\0").length }))
      const tables = [...Map.groupBy(all, ({ label }) => label)]
      const byDigest = (own: typeof all) => new Map(own.map((page) => [page.digest, page] as const))
      this.pages.set(location, new Map(tables.map(([table, own]) => [table, byDigest(own)] as const)))
      // One statement for the many tables with few rows.
      const { smallKnownRows } = this.known.limits.load
      const isSmall = (own: typeof all) => !smallKnownRows.isExceededBy(own.reduce((sum, one) => sum + one.records, 0))
      const small = tables.flatMap(([table, own]) => (isSmall(own) ? (this.resources.get(table) ?? []) : []))
      yield* this.known.readTables(small.map(({ resource }) => ({ resource, location, isFull: true })))
    },
    (effect, _location) => Effect.suspend(() => this.reads.withPermits(1)(effect))
  )

  /** A batch has taken the entry. */
  take(entry: Entry): void {
    this.count(entry, -1)
    this.taken.notify()
  }

  /** Notes the rows of a page that is loaded. Returns the page if it was not known. */
  note(entry: PageEntry, results: ReadonlyArray<ReadRecord>): NotedPage | undefined {
    const { compacted, digest, location, resource: table } = entry
    const own = this.resources.get(table)
    if (own === undefined || digest === undefined || compacted !== undefined) return undefined
    // Of a table that is not in memory, no page is ever found to be the same.
    if (this.known.of(own.resource, location) === undefined) return undefined
    if (results.length === 0 || !results.every((one) => this.isPlain(own.resource, one))) return undefined
    this.use(entry, digest)
    const pages = this.pagesIn(location, table)
    if (pages.has(digest)) return undefined
    const keys = results.map(({ keyText }) => keyText)
    const hashes = new Map(results.map(({ hashNumber, keyText }) => [keyText, hashNumber]))
    if (hashes.size < keys.length) return undefined
    const rows = rowsDigest(keys, hashes)!
    pages.set(digest, { rows, keys: keys.join("\0"), records: keys.length })
    return { location_id: location, resource: table, digest, rows, keys }
  }

  /** The keys of a page that is stored without its records; `undefined` if it is not known. */
  keysOf(entry: PageEntry): ReadonlyArray<string> | undefined {
    const page = this.pagesIn(entry.location, entry.resource).get(entry.digest!)
    if (page !== undefined) this.use(entry, entry.digest!)
    return page?.keys.split("\0")
  }

  /** The checkpoint after a page, with the ids that its entry does not repeat. */
  checkpointOf(entry: PageEntry): Checkpoint | undefined {
    const { checkpoint, hasLastIds = true, location, resource } = entry
    const page = hasLastIds ? undefined : this.pagesIn(location, resource).get(entry.digest!)
    return checkpoint && page
      ? { ...checkpoint, lastIds: this.known.limits.extract.lastIds.last(page.keys.split("\0")) }
      : checkpoint
  }

  /** The digests of the pages of a reading that has ended, if others are known; these are forgotten. */
  end({ location, resource }: EndEntry): ReadonlyArray<string> | undefined {
    const key = tableKey({ location, resource })
    const used = this.used.get(key)
    const pages = this.pages.get(location)?.get(resource)
    this.used.delete(key)
    if (used === undefined || pages === undefined || pages.size <= used.size) return undefined
    for (const digest of pages.keys()) if (!used.has(digest)) pages.delete(digest)
    return [...used]
  }

  reset(): void {
    this.pages.clear()
    this.used.clear()
  }

  /** Whether loading the record does nothing but store its row. */
  private isPlain(
    resource: Resource,
    { rejectedRecords, rejectedValues, roundedValues, row, unknown, unreadable }: ReadRecord
  ) {
    const odd = rejectedRecords.length + rejectedValues.length + roundedValues.length + unreadable.length
    // A frozen resource is incomplete in each run that meets an unknown field.
    return row !== undefined && odd === 0 && (unknown.length === 0 || policyOf(this.policies, resource) !== "freeze")
  }

  private pagesIn(location: string, table: string): Map<string, KnownPage> {
    const tables = this.pages.get(location) ?? new Map<string, Map<string, KnownPage>>()
    const pages = tables.get(table) ?? new Map<string, KnownPage>()
    this.pages.set(location, tables.set(table, pages))
    return pages
  }

  private use(entry: PageEntry, digest: string): void {
    const used = this.used.get(tableKey(entry)) ?? new Set<string>()
    this.used.set(tableKey(entry), used.add(digest))
  }
}

/** A page as `meta.known_pages` has it. */
interface NotedPage {
  readonly location_id: string
  readonly resource: string
  readonly digest: string
  readonly rows: string
  readonly keys: ReadonlyArray<string>
}

/** Whether every reading of the list is a full one, and its pages have the rows of one table, as they are stored. */
const isReadWhole = (
  { changes, childOf, embeddedIn, filter, table, withheld }: Resource,
  resources: ReadonlyArray<Resource>
): boolean =>
  [changes, childOf, embeddedIn, filter, withheld].every((one) => one === undefined) &&
  embeddedResourcesOf(resources, table).length === 0

const isKnowable = ({ checkpoint, kind, parent }: PageEntry): boolean =>
  kind === "page" && parent === undefined && checkpoint?.mode === "full"

/** The ids at the end of the page are the larger part of its entry. */
const checkpointWithout = (
  { checkpoint }: PageEntry,
  lastIds: ReadonlyArray<string>
): Pick<PageEntry, "checkpoint" | "hasLastIds"> =>
  checkpoint !== undefined && checkpoint.lastIds.join("\0") === lastIds.join("\0")
    ? { checkpoint: { ...checkpoint, lastIds: [] }, hasLastIds: false }
    : {}

const tableKey = ({ location, resource }: Pick<Entry, "location" | "resource">): string => `${location} ${resource}`

/** What decides which row a record becomes. */
const definitionOf = (resource: Resource, { accepted, byResource, policy }: SchemaPolicies): string =>
  hash(
    "sha256",
    JSON.stringify([sluiceVersion, resource, policy, [...byResource], [...accepted]], (_, value: unknown) =>
      typeof value === "function" ? String(value) : value
    )
  )

const digestOf = (definition: string, { hasBigNumbers, partition, records }: PageEntry, body: Frame["body"]): string =>
  createHash("sha256")
    .update(JSON.stringify([definition, partition, records, hasBigNumbers]))
    .update(recordsIn(Buffer.from(body), records))
    .digest("hex")
    .slice(0, 32)

/** `undefined` if the hashes are not known. A row without a known hash, or that is deleted, gives another digest. */
const rowsDigest = (keys: ReadonlyArray<string>, hashes: Hashes | undefined): string | undefined =>
  hashes && hash("sha256", JSON.stringify(keys.map((key) => [key, Math.abs(hashes.get(key) ?? unknown)]))).slice(0, 32)

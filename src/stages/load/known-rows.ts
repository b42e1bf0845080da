/**
 * What the warehouse has, in memory while a loader is at work: the key and the hash of each row, so that unchanged records
 * are dropped before they cost a statement, and new ones are inserted without looking for an earlier version.
 */
import { Effect, Semaphore } from "effect"
import type { Resource } from "../../catalog/resource.ts"
import { keyOf, keyText, tablesOf } from "../../catalog/tables.ts"
import { hashDigits } from "./normalise/normalise.ts"
import type { Failure } from "../../values/failure.ts"
import { type Limit, Limits } from "../../values/limits.ts"
import { Signal } from "../../values/signal.ts"
import { readingsWithParentState } from "../../stores/warehouse/meta/parent-state.ts"
import { isAnythingLoaded } from "../../stores/warehouse/meta/run-resources.ts"
import { releasedResources } from "../../stores/warehouse/meta/content-versions.ts"
import { readingsWithMissing } from "../../stores/warehouse/meta/missing-children.ts"
import { readRows } from "../../values/rows.ts"
import { literal, name, together } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"

/** The numbers of hashes by key, or `unknown` or `deleted` in place of one. That of a row which its flag deletes is negative. */
export type Hashes = Map<string, number>

/** The row exists, and its content is not known. */
export const unknown = -1
const deleted = -2
const isDeleted = (hash: number): boolean => hash < unknown
/** Whether a record with this hash changes nothing. It has the flag that deletes the row, or the hash would be another. */
export const isUnchanged = (before: number | undefined, now: number): boolean => before === now || before === -now

/** The rows of a table that are known: all of them, or those whose keys were looked up. Batches hold its hashes. */
interface Table {
  readonly hashes: Hashes
  isWhole: boolean
  pages: number
}

/** A table of which pages are read. */
export interface TableReading {
  readonly resource: Resource
  readonly location: string
  /** The pages are of a full reading, which returns all rows. */
  readonly isFull: boolean
}

export class KnownRows {
  private readonly warehouse: Warehouse["Service"]
  private readonly tables = new Map<string, Table | undefined>()
  /** Keys that full readings have returned since they began here; `undefined` if the table had no rows then. */
  private readonly seen = new Map<string, Set<string> | undefined>()
  /** Readings of children that did not return some stored row. */
  private readonly missing = new Set<string>()
  /** How many batches have changed each table. */
  private readonly commitsByTable = new Map<string, number>()
  private readonly committed = new Signal()
  /** Excludes a commit: the rows that it writes are those of batches that were added here before. */
  readonly commits: Semaphore.Semaphore
  private readonly reads = Semaphore.makeUnsafe(1)
  private readonly parentStates = new Set<string>()
  /** Resources of which the next release needs the changed keys. */
  readonly released: ReadonlySet<string>
  private isEmpty: boolean
  readonly limits: Limits

  private constructor(
    warehouse: Warehouse["Service"],
    limits: Limits,
    commits: Semaphore.Semaphore,
    isEmpty: boolean,
    released: ReadonlySet<string>
  ) {
    this.warehouse = warehouse
    this.limits = limits
    this.commits = commits
    this.isEmpty = isEmpty
    this.released = released
  }

  static readonly make = Effect.fnUntraced(function* () {
    const isEmpty = !(yield* isAnythingLoaded())
    const released = isEmpty ? new Set<string>() : yield* releasedResources()
    const known = new KnownRows(yield* Warehouse, yield* Limits, yield* Semaphore.make(1), isEmpty, released)
    if (isEmpty) return known
    for (const { location, label } of yield* readingsWithParentState) known.addParentState(location, label)
    for (const { location, label } of yield* readingsWithMissing) known.addMissing(location, label)
    return known
  })

  /** Reads the tables of these pages that are not known yet, each whole if it is small or is read in full. */
  readonly readTables = Effect.fnUntraced(
    { self: this as KnownRows },
    function* (this: KnownRows, readings: Iterable<TableReading>) {
      const { knownRows, smallKnownRows } = this.limits.load
      const unread = new Map<string, TableReading & { readonly max: Limit }>()
      for (const reading of readings) {
        const key = tableKey(reading.resource.table, reading.location)
        if (this.tables.has(key)) continue
        if (this.isEmpty || !isKnowable(reading.resource))
          this.tables.set(key, isKnowable(reading.resource) ? whole(new Map()) : undefined)
        else unread.set(key, { ...reading, max: reading.isFull ? knownRows : smallKnownRows })
      }
      const found = yield* this.hashesOf([...unread.values()])
      for (const [key, { max }] of unread) {
        const hashes = found.get(key)
        this.tables.set(key, hashes ? whole(hashes) : max === knownRows ? undefined : partial(new Map()))
      }
    },
    // Who reads a table again would not know what was staged meanwhile.
    (effect) => Effect.suspend(() => this.reads.withPermits(1)(effect))
  )

  /** Reads what the warehouse has of these rows, unless it is known. Call this before the rows are staged. */
  readonly read = Effect.fnUntraced(
    { self: this as KnownRows },
    function* (this: KnownRows, reading: TableReading, keys: ReadonlyArray<string>) {
      yield* this.readTables([reading])
      const table = tableKey(reading.resource.table, reading.location)
      const known = this.tables.get(table)
      if (known === undefined || known.isWhole) return
      if (reading.isFull || this.limits.load.knownPages.isReachedBy(known.pages)) {
        const hashes = (yield* this.hashesOf([{ ...reading, max: this.limits.load.knownRows }])).get(table)
        if (hashes === undefined) return void this.tables.set(table, undefined)
        // What a batch that is not committed yet changes is known already.
        for (const [key, hash] of hashes) if (!known.hashes.has(key)) known.hashes.set(key, hash)
        known.isWhole = true
        return
      }
      known.pages++
      const missing = keys.filter((key) => !known.hashes.has(key))
      if (missing.length === 0) return
      const which = `AND ${keyText(reading.resource)} IN (${missing.map(literal).join(", ")})`
      for (const [key, hash] of (yield* this.hashesOf([{ ...reading, which }])).get(table)!) known.hashes.set(key, hash)
    }
  )

  /** The keys and hashes of rows of some tables, by table: of those which have at most `max`, or of those for which a condition holds. */
  private hashesOf(
    tables: ReadonlyArray<TableReading & ({ readonly max: Limit } | { readonly which: string })>
  ): Effect.Effect<ReadonlyMap<string, Hashes>, Failure> {
    if (tables.length === 0) return Effect.succeed(new Map())
    // One text: to make a value of each key and hash takes several times as long.
    const selects = tables.map((reading) => {
      const { location, resource } = reading
      const which = "max" in reading ? `LIMIT ${reading.max.value + 1}` : reading.which
      return `SELECT count(*) AS n, string_agg(concat(key, chr(0), hash), chr(0)) AS hashes FROM (
        SELECT ${keyText(resource)} AS key, ${hashSql(resource)} AS hash
        FROM crm.${name(resource.table)} WHERE location_id = ${literal(location)} ${which})`
    })
    return this.warehouse.rows(together(selects)).pipe(
      this.commits.withPermits(1),
      Effect.map(
        (rows) =>
          new Map(
            readRows({ place: Number, n: Number, hashes: String }, rows).flatMap(({ place, n, hashes }) => {
              const reading = tables[place]!
              if ("max" in reading && reading.max.isExceededBy(n)) return []
              return [
                [tableKey(reading.resource.table, reading.location), n === 0 ? new Map() : hashesIn(hashes)] as const
              ]
            })
          )
      )
    )
  }

  /** The hashes of a table's rows after all batches so far; `undefined` if they are not in memory. */
  of(resource: Resource, location: string): Hashes | undefined {
    const key = tableKey(resource.table, location)
    const hashes = this.tables.get(key)?.hashes
    if (hashes === undefined || !this.limits.load.knownRows.isExceededBy(hashes.size)) return hashes
    this.tables.set(key, undefined)
    return undefined
  }

  /** Whether it is known that the table has no rows. */
  isEmptyTable(resource: Resource, location: string): boolean {
    return this.whole(resource.table, location)?.size === 0
  }

  /** The hashes of all rows; `undefined` if some are not known. */
  private whole(table: string, location: string): Hashes | undefined {
    const known = this.tables.get(tableKey(table, location))
    return known?.isWhole ? known.hashes : undefined
  }

  /** The next batch deletes these rows. */
  forget(table: string, location: string, keys: ReadonlyArray<string>): void {
    const known = this.tables.get(tableKey(table, location))
    for (const key of keys) if (known && (!known.isWhole || known.hashes.has(key))) known.hashes.set(key, deleted)
  }

  /** What is known is read again. */
  reset(): void {
    this.tables.clear()
    this.seen.clear()
    this.isEmpty = false
  }

  /** A full reading has returned these keys. `wasEmpty`: the table had no rows before. */
  see(table: string, location: string, keys: ReadonlyArray<string>, wasEmpty: boolean): void {
    const key = tableKey(table, location)
    // The keys of a large table stay in the warehouse alone.
    if (this.whole(table, location) === undefined) return void this.seen.delete(key)
    if (!this.seen.has(key)) this.seen.set(key, wasEmpty ? undefined : new Set())
    const seen = this.seen.get(key)
    if (seen) for (const one of keys) seen.add(one)
  }

  endReading(table: string, location: string): void {
    this.seen.delete(tableKey(table, location))
  }

  /** Whether a full reading that began here has returned every live row; false if that is not known. */
  hasSeenAll(table: string, location: string): boolean {
    const key = tableKey(table, location)
    const hashes = this.whole(table, location)
    if (hashes === undefined || !this.seen.has(key)) return hashes?.size === 0
    const seen = this.seen.get(key)
    return seen === undefined || hashes.entries().every(([one, hash]) => isDeleted(hash) || seen.has(one))
  }

  /** Whether no row of the table is deleted; false if that is not known. */
  hasNoDeleted(table: string, location: string): boolean {
    return (
      this.whole(table, location)
        ?.values()
        .every((hash) => !isDeleted(hash)) ?? false
    )
  }

  addMissing(location: string, label: string): void {
    this.missing.add(stateKey(location, label))
  }

  /** Whether readings of the children have not returned some stored row. */
  hasMissing(location: string, label: string): boolean {
    return this.missing.has(stateKey(location, label))
  }

  /** A batch that changes these tables is committed. */
  commit(tables: ReadonlyArray<readonly [table: string, location: string]>): void {
    for (const [table, location] of tables)
      this.commitsByTable.set(tableKey(table, location), this.commitsOf(table, location) + 1)
    this.committed.notify()
  }

  get nextCommit(): Effect.Effect<void> {
    return this.committed.next
  }

  /** How many batches have changed the table. */
  commitsOf(table: string, location: string): number {
    return this.commitsByTable.get(tableKey(table, location)) ?? 0
  }

  /** Whether the children or details of any parent were read before. */
  hasParentState(location: string, label: string): boolean {
    return this.parentStates.has(stateKey(location, label))
  }

  addParentState(location: string, label: string): void {
    this.parentStates.add(stateKey(location, label))
  }
}

const whole = (hashes: Hashes): Table => ({ hashes, isWhole: true, pages: 0 })
const partial = (hashes: Hashes): Table => ({ hashes, isWhole: false, pages: 0 })

/** `joined`: keys and hashes in turn. */
const hashesIn = (joined: string): Hashes => {
  const texts = joined.split("\0")
  const hashes: Hashes = new Map()
  for (let place = 0; place < texts.length; place += 2)
    hashes.set(texts[place]!, Number.parseInt(texts[place + 1]!, 16))
  return hashes
}

const tableKey = (table: string, location: string) => `${location} ${table}`
const stateKey = (location: string, label: string) => `${location} ${label}`

/** Whether the text of every key is the same here as in SQL. */
const isKnowable = (resource: Resource): boolean => {
  const { columns } = tablesOf(resource)[0]
  return keyOf(resource).every((key) => columns.find((column) => column.name === key)?.sql === "VARCHAR")
}

/**
 * A record with the hash of a deleted row restores it, unless it has the flag that deletes the row: the hash is that of the
 * record as listed, so a flag which the detail may have sent says nothing about it. A flag may have become a tombstone since
 * the row was loaded.
 */
const hashSql = ({ detail, tombstone }: Resource): string => {
  const hash = `left(_row_hash, ${hashDigits})`
  const isFlagged = tombstone === undefined ? "false" : `coalesce(${name(tombstone)}, false)`
  return `CASE WHEN _row_hash IS NULL OR (${isFlagged} AND _deleted_at IS NULL) THEN if(_deleted_at IS NULL, '${unknown}', '${deleted}')
    WHEN _deleted_at IS NULL THEN ${hash} WHEN ${detail === undefined ? isFlagged : "false"} THEN '-' || ${hash} ELSE '${deleted}' END`
}

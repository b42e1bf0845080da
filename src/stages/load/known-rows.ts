/**
 * What the warehouse has, in memory while a loader is at work: the key and the hash of each row, so that unchanged records
 * are dropped before they cost a statement, and new ones are inserted without looking for an earlier version.
 */
import { Effect, Semaphore } from "effect"
import type { Resource } from "../../catalog/resource.ts"
import { keyOf, keyText, tablesOf } from "../../catalog/tables.ts"
import { hashDigits } from "./normalise/normalise.ts"
import type { Failure } from "../../values/failure.ts"
import { Signal } from "../../values/signal.ts"
import { readingsWithParentState } from "../../stores/warehouse/meta/parent-state.ts"
import { isAnythingLoaded } from "../../stores/warehouse/meta/run-resources.ts"
import { releasedResources } from "../../stores/warehouse/meta/content-versions.ts"
import { readingsWithMissing } from "../../stores/warehouse/meta/missing-children.ts"
import { literal, name } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"

/** The numbers of hashes by key, or `unknown` or `deleted` in place of one. */
export type Hashes = Map<string, number>

/** The row exists, and its content is not known. */
export const unknown = -1
const deleted = -2

/** Rows of a table in memory, at about 100 bytes each. Of larger tables, the merge looks up each batch. */
const rowsMax = 200_000
/** Rows that are read at once rather than those of each page. */
const smallRowsMax = 5000
/** Pages of one table whose rows are looked up one page at a time. */
const pagesMax = 8

/** The rows of a table that are known: all of them, or those whose keys were looked up. */
interface Table {
  readonly hashes: Hashes
  readonly isWhole: boolean
  pages: number
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
  private readonly parentStates = new Set<string>()
  /** Resources of which the next release needs the changed keys. */
  readonly released: ReadonlySet<string>
  private isEmpty: boolean

  private constructor(
    warehouse: Warehouse["Service"],
    commits: Semaphore.Semaphore,
    isEmpty: boolean,
    released: ReadonlySet<string>
  ) {
    this.warehouse = warehouse
    this.commits = commits
    this.isEmpty = isEmpty
    this.released = released
  }

  static readonly make = Effect.fnUntraced(function* () {
    const isEmpty = !(yield* isAnythingLoaded())
    const released = isEmpty ? new Set<string>() : yield* releasedResources()
    const known = new KnownRows(yield* Warehouse, yield* Semaphore.make(1), isEmpty, released)
    if (isEmpty) return known
    for (const { location, label } of yield* readingsWithParentState) known.addParentState(location, label)
    for (const { location, label } of yield* readingsWithMissing) known.addMissing(location, label)
    return known
  })

  /**
   * Reads what the warehouse has of these rows, unless it is known: of a small table, or for a full reading, all rows. Call this
   * before the rows are staged.
   */
  readonly read = Effect.fnUntraced(
    { self: this as KnownRows },
    function* (this: KnownRows, resource: Resource, location: string, keys: ReadonlyArray<string>, isFull: boolean) {
      const table = tableKey(resource.table, location)
      let known = this.tables.get(table)
      if (this.tables.has(table) && (known === undefined || known.isWhole)) return
      if (this.isEmpty || !isKnowable(resource)) {
        this.tables.set(table, this.isEmpty && isKnowable(resource) ? whole(new Map()) : undefined)
        return
      }
      const isSmall = known === undefined
      if (isSmall || isFull || known!.pages >= pagesMax) {
        const max = isFull || !isSmall ? rowsMax : smallRowsMax
        const hashes = yield* this.hashesOf(resource, location, `LIMIT ${max + 1}`)
        // What a batch that is not committed yet changes is known already.
        for (const [key, hash] of known?.hashes ?? []) hashes.set(key, hash)
        if (hashes.size <= max) return void this.tables.set(table, whole(hashes))
        if (max === rowsMax) return void this.tables.set(table, undefined)
        known = { hashes: new Map(), isWhole: false, pages: 0 }
        this.tables.set(table, known)
      }
      known!.pages++
      const { hashes } = known!
      const missing = keys.filter((key) => !hashes.has(key))
      if (missing.length === 0) return
      const found = yield* this.hashesOf(
        resource,
        location,
        `AND ${keyText(resource)} IN (${missing.map(literal).join(", ")})`
      )
      for (const [key, hash] of found) hashes.set(key, hash)
    }
  )

  private hashesOf(resource: Resource, location: string, which: string): Effect.Effect<Hashes, Failure> {
    // One text: to make a value of each key and hash takes several times as long.
    const sql = `SELECT string_agg(concat(key, chr(0), hash), chr(0)) AS texts FROM (
        SELECT ${keyText(resource)} AS key, ${stateSql(resource)} AS _state, coalesce(_state::VARCHAR, left(_row_hash, ${hashDigits})) AS hash
        FROM crm.${name(resource.table)} WHERE location_id = ${literal(location)} ${which})`
    return this.warehouse.rows(sql).pipe(
      this.commits.withPermits(1),
      Effect.map(([row]) => {
        const texts = row?.["texts"] == null ? [] : String(row["texts"]).split("\0")
        const hashes: Hashes = new Map()
        for (let place = 0; place < texts.length; place += 2)
          hashes.set(texts[place]!, Number.parseInt(texts[place + 1]!, 16))
        return hashes
      })
    )
  }

  /** The hashes of a table's rows after all batches so far; `undefined` if they are not in memory. */
  of(resource: Resource, location: string): Hashes | undefined {
    const key = tableKey(resource.table, location)
    const hashes = this.tables.get(key)?.hashes
    if (hashes === undefined || hashes.size <= rowsMax) return hashes
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

  /** The next batch may delete any rows of the table. */
  forgetTable(table: string, location: string): void {
    this.tables.set(tableKey(table, location), undefined)
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
    return seen === undefined || hashes.entries().every(([one, hash]) => hash === deleted || seen.has(one))
  }

  /** Whether no row of the table is deleted; false if that is not known. */
  hasNoDeleted(table: string, location: string): boolean {
    return (
      this.whole(table, location)
        ?.values()
        .every((hash) => hash !== deleted) ?? false
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

const tableKey = (table: string, location: string) => `${location} ${table}`
const stateKey = (location: string, label: string) => `${location} ${label}`

/** Whether the text of every key is the same here as in SQL. */
const isKnowable = (resource: Resource): boolean => {
  const { columns } = tablesOf(resource)[0]
  return keyOf(resource).every((key) => columns.find((column) => column.name === key)?.sql === "VARCHAR")
}

/** A record with the hash of a deleted row restores it. A flag may have become a tombstone since the row was loaded. */
const stateSql = ({ tombstone }: Resource): string =>
  `CASE WHEN _deleted_at IS NOT NULL THEN ${deleted} WHEN _row_hash IS NULL${
    tombstone === undefined ? "" : ` OR coalesce(${name(tombstone)}, false)`
  } THEN ${unknown} END`

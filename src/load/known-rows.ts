/**
 * What the warehouse has, in memory while a loader is at work: the key and the hash of each row, so that unchanged records
 * are dropped before they cost a statement, and new ones are inserted without looking for an earlier version.
 */
import { Effect, Semaphore } from "effect"
import type { Resource } from "../catalog/resource.ts"
import { keyOf, keyText, tablesOf } from "../catalog/tables.ts"
import type { Failure } from "../failure.ts"
import { readingsWithParentState } from "../warehouse/meta/parent-state.ts"
import { isAnythingLoaded } from "../warehouse/meta/run-resources.ts"
import { releasedResources } from "../warehouse/meta/content-versions.ts"
import { literal, name } from "../warehouse/sql.ts"
import { Warehouse } from "../warehouse/warehouse.ts"

/** Hashes by key. A row that is deleted, or whose content is not known, has the hash "", which equals none. */
export type Hashes = Map<string, string>

/** Rows of a table in memory, at about 200 bytes each. Of larger tables, the merge looks up each batch. */
const rowsMax = 200_000

export class KnownRows {
  private readonly warehouse: Warehouse["Service"]
  private readonly tables = new Map<string, Hashes | undefined>()
  /** Excludes a commit: the rows that it writes are those of batches that were added here before. */
  readonly commits: Semaphore.Semaphore
  private readonly parentStates: Set<string>
  /** Resources of which the next release needs the changed keys. */
  readonly released: ReadonlySet<string>
  private isEmpty: boolean

  private constructor(
    warehouse: Warehouse["Service"],
    commits: Semaphore.Semaphore,
    parentStates: ReadonlyArray<string>,
    released: ReadonlySet<string>,
    isEmpty: boolean
  ) {
    this.warehouse = warehouse
    this.commits = commits
    this.parentStates = new Set(parentStates)
    this.released = released
    this.isEmpty = isEmpty
  }

  static readonly make = Effect.fnUntraced(function* (): Effect.fn.Return<KnownRows, Failure, Warehouse> {
    const warehouse = yield* Warehouse
    const isEmpty = !(yield* isAnythingLoaded())
    const readings = isEmpty ? [] : yield* readingsWithParentState()
    const released = isEmpty ? new Set<string>() : yield* releasedResources()
    const states = readings.map(({ location, label }) => stateKey(location, label))
    return new KnownRows(warehouse, yield* Semaphore.make(1), states, released, isEmpty)
  })

  /** Reads what the warehouse has of a table, unless it is known. Call this before the table's records are staged. */
  read(resource: Resource, location: string): Effect.Effect<void, Failure> {
    const key = tableKey(resource.table, location)
    if (this.tables.has(key)) return Effect.void
    if (this.isEmpty || !isKnowable(resource))
      return Effect.sync(() => void this.tables.set(key, this.isEmpty && isKnowable(resource) ? new Map() : undefined))
    return this.warehouse
      .rows(
        `SELECT ${keyText(resource)} AS key, CASE WHEN ${isCertain(resource)} THEN _row_hash END AS hash FROM crm.${name(resource.table)}
         WHERE location_id = ${literal(location)} LIMIT ${rowsMax + 1}`
      )
      .pipe(
        this.commits.withPermits(1),
        Effect.map((rows) => {
          const hashes = rows.length > rowsMax ? undefined : new Map<string, string>()
          for (const row of hashes ? rows : []) hashes!.set(String(row["key"]), String(row["hash"] ?? ""))
          this.tables.set(key, hashes)
        })
      )
  }

  /** The hashes of a table's rows after all batches so far; `undefined` if they are not in memory. */
  of(resource: Resource, location: string): Hashes | undefined {
    const key = tableKey(resource.table, location)
    const hashes = this.tables.get(key)
    if (hashes === undefined || hashes.size <= rowsMax) return hashes
    this.tables.set(key, undefined)
    return undefined
  }

  /** The next batch deletes these rows. */
  forget(table: string, location: string, keys: ReadonlyArray<string>): void {
    const hashes = this.tables.get(tableKey(table, location))
    for (const key of keys) if (hashes?.has(key)) hashes.set(key, "")
  }

  /** The next batch may delete any rows of the table. */
  forgetTable(table: string, location: string): void {
    this.tables.set(tableKey(table, location), undefined)
  }

  /** What is known is read again. */
  reset(): void {
    this.tables.clear()
    this.isEmpty = false
  }

  /** Whether the children or details of any parent were read before. */
  hasParentState(location: string, label: string): boolean {
    return this.parentStates.has(stateKey(location, label))
  }

  addParentState(location: string, label: string): void {
    this.parentStates.add(stateKey(location, label))
  }
}

const tableKey = (table: string, location: string) => `${location} ${table}`
const stateKey = (location: string, label: string) => `${location} ${label}`

/** Whether the text of every key is the same here as in SQL. */
const isKnowable = (resource: Resource): boolean => {
  const { columns } = tablesOf(resource)[0]
  return keyOf(resource).every((key) => columns.find((column) => column.name === key)?.sql === "VARCHAR")
}

/** SQL: whether a record with the same hash changes nothing. A flag may have become a tombstone since the row was loaded. */
const isCertain = ({ tombstone }: Resource): string =>
  `_deleted_at IS NULL${tombstone === undefined ? "" : ` AND NOT coalesce(${name(tombstone)}, false)`}`

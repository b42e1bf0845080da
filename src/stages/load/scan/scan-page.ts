/**
 * The records of a page as rows. Those that the scanner declines are read by the normaliser, and so is a page that is not
 * written as machines write JSON.
 */
import { type Limits, usualLimits } from "../../../values/limits.ts"
import { hash } from "node:crypto"
import { isUtf8 } from "node:buffer"
import { at as valueAt, parseExact } from "../../../catalog/json.ts"
import { isScalar } from "../../../catalog/fields.ts"
import { type Resource, transformed, fieldsOf } from "../../../catalog/resource.ts"
import { evolving, isKept } from "../../../catalog/schema-policy.ts"
import { keyOf, keySeparator, tablesOf } from "../../../catalog/tables.ts"
import { compile } from "../normalise/compile-fields.ts"
import * as Normalise from "../normalise/normalise.ts"
import type { Normalised, Origin } from "../normalise/normalise.ts"
import type { ChildLists } from "./child-lists.ts"
import { byteFieldsOf } from "./byte-fields.ts"
import { unlistedInBytes } from "./enums-in-bytes.ts"
import * as Bytes from "../../../catalog/json-bytes.ts"
import { RecordScanner } from "./scan-record.ts"
import * as Rows from "./rows-in-bytes.ts"

/** A page as it is in the vault. */
export interface StoredPage {
  readonly body: Buffer
  readonly hasBigNumbers: boolean
  /** Dotted path of the records. */
  readonly path: string
  /** A list that mixes records of several resources. */
  readonly isMixed: boolean
  /** Leaves records out, of which no more is read than their keys. A record may be returned that it does not accept. */
  readonly filter?: RecordFilter | undefined
}

/** What a record became. The bytes of its row are valid until the next page is read. */
export interface ReadRecord extends Omit<Normalised, "row"> {
  readonly row: string | Buffer | undefined
  /** Where the child rows are in the row; absent if that is not known. */
  readonly childLists?: ChildLists
}

/** Whether to load a record. */
export type RecordFilter = (resource: Resource, location: string, key: ReadonlyArray<unknown>) => boolean

/** Reads a page, and yields every few records. */
export type ReadPage = (page: StoredPage, origin: Origin) => Generator<void, ReadonlyArray<ReadRecord>>

/** Takes one or two milliseconds. */
const recordsPerYield = 50

/** Compiles a resource's fields, and returns the function that reads its pages. */
export const pageReaderOf = (resource: Resource, policies = evolving, limits = usualLimits.load): ReadPage => {
  const normalise = Normalise.normaliserOf(resource, policies, limits)
  const reader = isScannable(resource) ? new PageReader(resource, policies, limits) : undefined
  return function* ({ body, filter, hasBigNumbers, path, isMixed }, origin) {
    const results: Array<ReadRecord> = []
    const isWanted = filter && ((key: ReadonlyArray<unknown>) => filter(resource, origin.location, key))
    let looked = 0
    const add = (record: unknown): void => {
      const { filter } = resource
      for (const one of transformed(resource, record))
        if (!isMixed || filter === undefined || valueAt(one, filter.field) === filter.is)
          results.push(normalise(one, origin))
    }
    try {
      if (reader !== undefined && !isMixed && isUtf8(body)) {
        reader.begin(body, path, origin)
        while (reader.hasNext()) {
          if (++looked % recordsPerYield === 0) yield
          if (isWanted && reader.leavesOut(isWanted)) continue
          const scanned = reader.next()
          if (scanned === undefined) add(parseExact(reader.textOfRecord(), hasBigNumbers))
          else results.push(scanned)
        }
        return results
      }
    } catch (error) {
      if (!(error instanceof Bytes.Unreadable)) throw error
      results.length = 0
    }
    if (body.length === 0) return results
    const found = valueAt(parseExact(body.toString("utf8"), hasBigNumbers), path)
    for (const record of Array.isArray(found) ? found : found === undefined || found === null ? [] : [found]) {
      add(record)
      if (results.length % recordsPerYield === recordsPerYield - 1) yield
    }
    return results
  }
}

/** Whether records are sent as the definition describes them, but for those that have certain fields. */
const isScannable = ({ fields, transform, transformedBy }: Resource): boolean =>
  !isScalar(fields) && (transform === undefined || transformedBy !== undefined)

export class PageReader extends RecordScanner {
  private readonly resource: Resource
  private readonly keyPlaces: ReadonlyArray<number>
  /** By place, the number of the child table; -1 for a column. */
  private readonly childNumbers: Int32Array
  private readonly unlistedIn: (rows: Rows.RowsInBytes) => Normalised["unlistedValues"]
  private given: ReadonlyArray<readonly [place: number, isParent: boolean, printed: string]> = []
  /** The names on the path of the records, whose objects are open. */
  private path: ReadonlyArray<Uint8Array> = []
  private isList = false
  private hasMore = false
  private start = 0
  private stop = 0

  constructor(resource: Resource, policies: typeof evolving, limits: Limits["load"]) {
    const { childOf, table, transformedBy } = resource
    const key = keyOf(resource)
    const shape = compile(table, fieldsOf(resource), childOf ? [...key, childOf.column] : key)
    super(
      shape,
      byteFieldsOf(shape, limits, (own, field) => isKept(policies, resource, own, field), transformedBy),
      limits
    )
    this.resource = resource
    this.keyPlaces = key.map((column) => shape.places.of(column))
    this.childNumbers = new Int32Array(shape.blank.length).fill(-1)
    for (const [number, { name }] of tablesOf(resource).slice(1).entries())
      this.childNumbers[shape.places.of(name)] = number
    this.unlistedIn = unlistedInBytes(resource, limits)
  }

  /** Moves to the first record of a page. Throws `Unreadable` if there is no list or object at the path. */
  begin(body: Buffer, path: string, { given, location }: Origin): void {
    this.open(body, location)
    this.given = Object.entries(given ?? {}).map(([column, value]) => [
      this.shape.places.of(column),
      column === this.resource.childOf?.column,
      JSON.stringify(value)
    ])
    this.path = path === "" ? [] : path.split(".").map((name) => Buffer.from(name))
    for (const name of this.path) this.enter(name)
    const first = this.token()
    if (first !== Bytes.openBracket && first !== Bytes.openBrace) throw new Bytes.Unreadable()
    this.isList = first === Bytes.openBracket
    this.hasMore = !this.isList || !this.isEmptyUntil(Bytes.closeBracket)
    if (!this.hasMore) this.leave(this.path)
  }

  /** Whether there is another record. */
  hasNext(): boolean {
    return this.hasMore
  }

  /** The next record; `undefined` if the normaliser must read its text. */
  next(): ReadRecord | undefined {
    this.token()
    this.start = this.at
    const isRead = this.read()
    if (!isRead) this.skip()
    this.end()
    return isRead ? this.normalised() : undefined
  }

  /** Moves behind the next record if its key is certain and not wanted. */
  leavesOut(isWanted: (key: ReadonlyArray<unknown>) => boolean): boolean {
    this.token()
    this.start = this.at
    const key = this.textsOf(this.keyPlaces)
    if (key !== undefined && !isWanted(key)) {
      this.skip()
      this.end()
      return true
    }
    this.at = this.start
    return false
  }

  private skip(): void {
    this.at = this.start
    this.value()
  }

  private end(): void {
    this.stop = this.at
    this.hasMore = this.isList && this.hasNextItem(Bytes.closeBracket)
    if (!this.hasMore) this.leave(this.path)
  }

  /** The text of the record that `next` has read. */
  textOfRecord(): string {
    return this.bytes.toString("utf8", this.start, this.stop)
  }

  /** The row of the record that was read; `undefined` if it has no key, or is too large. */
  private normalised(): ReadRecord | undefined {
    const { rows } = this
    for (const [place, isParent, printed] of this.given) {
      const isSent = rows.howOf(0, place) !== Rows.absent
      // The normaliser reports a parent that differs from the one that was requested.
      if (isSent && isParent && JSON.stringify(this.valueAt(place)) !== printed) return undefined
      if (!isSent || isParent) rows.setText(0, place, printed)
    }
    const key = this.keyPlaces.map((place) => this.valueAt(place))
    if (key.some((value) => value === undefined || value === "")) return undefined
    const listsFrom = rows.childListsEnd
    const row = rows.print(0, this.childNumbers)
    if (this.limits.rowLength.isExceededBy(row.length)) return undefined
    const rowHash = hash("sha256", row).slice(0, 32)
    return {
      row,
      childLists: { numbers: rows.childLists, from: listsFrom, to: rows.childListsEnd },
      key,
      keyText: key.length === 1 ? String(key[0]) : key.join(keySeparator),
      hash: rowHash,
      hashNumber: Normalise.hashNumber(rowHash),
      ...Normalise.nothing,
      unknown: rows.unknownEnd === 0 ? Normalise.nothing.unknown : this.unknownFields(),
      unlistedValues: this.unlistedIn(rows)
    }
  }

  /** The value of a column of the record; `undefined` if it has none. */
  private valueAt(place: number): unknown {
    const { bytes, rows } = this
    const how = rows.howOf(0, place)
    if (how === Rows.absent) return undefined
    if (how === Rows.owned) return JSON.parse(rows.textAt(0, place))
    const text = bytes.toString("utf8", rows.fromOf(0, place), rows.toOf(0, place))
    if (how === Rows.quoted) return text
    return text.startsWith('"') && !text.includes("\\") ? text.slice(1, -1) : JSON.parse(text)
  }

  private unknownFields(): Normalised["unknown"] {
    const { bytes, rows } = this
    return Array.from({ length: rows.unknownEnd }, (_, unknown) => {
      const { field, table } = rows.unknownField(unknown)
      const [from, to] = [rows.unknownFrom(unknown), rows.unknownTo(unknown)]
      return new UnknownInBytes(table, field, bytes.subarray(from, to))
    })
  }
}

/** Parses its value when it is read; the values of most unknown fields never are. */
class UnknownInBytes {
  readonly table: string
  readonly field: string
  readonly #bytes: Buffer

  constructor(table: string, field: string, bytes: Buffer) {
    this.table = table
    this.field = field
    this.#bytes = bytes
  }

  get value(): unknown {
    return parseExact(this.#bytes.toString("utf8"))
  }
}

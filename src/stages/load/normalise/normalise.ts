/**
 * Converts one record from the service to one line of NDJSON: a row and its child rows, typed by the catalogue. Only this
 * module changes the form of values. Nothing is dropped silently: unknown fields go to `_extra`, values that do not fit
 * their column to the rejected values, and records without a key to the rejected records.
 */
import { usualLimits } from "../../../values/limits.ts"
import { hash } from "node:crypto"
import { evolving, isKept } from "../../../catalog/schema-policy.ts"
import { type Resource, fieldsOf } from "../../../catalog/resource.ts"
import { keyOf, keySeparator } from "../../../catalog/tables.ts"
import { type Row, type UnlistedValue, ChildRows, Escaped, held, unlistedValuesOf, valueIn } from "./rows.ts"
import { unfitForKey, wellFormed } from "../../../catalog/convert.ts"
import { isObject } from "../../../catalog/json.ts"
import { comma, openBrace, quote } from "../../../catalog/json-bytes.ts"
import { type Found, readRow, toJson } from "./map-record.ts"
import { isScalar } from "../../../catalog/fields.ts"
import { compile } from "./compile-fields.ts"
import { ByteBuffer } from "./byte-buffer.ts"

interface RejectedValue {
  readonly table: string
  /** Key of the record; for a child row followed by its table and its own key or position: `inv1/invoice_items/3`. */
  readonly key: string
  readonly column: string
  /** JSON of the value as sent. */
  readonly value: string
  readonly reason: string
  /** The column stores a changed form of the value. */
  readonly stored?: true
}
interface RejectedRecord {
  readonly table: string
  readonly record: string
  readonly reason: string
}
export interface Normalised {
  /** JSON of the row: its columns, and its child tables as lists. Absent if the record is rejected. */
  readonly row: string | undefined
  /** Values of the key columns. */
  readonly key: ReadonlyArray<unknown>
  /** The key as one text, as in SQL. */
  readonly keyText: string
  /** Fingerprint of `row`, and of what was rejected. */
  readonly hash: string
  /** See `hashNumber`. */
  readonly hashNumber: number
  /** Fields that no definition names; those that the policy keeps are in `_extra`. */
  readonly unknown: Readonly<Found["unknown"]>
  readonly rejectedValues: ReadonlyArray<RejectedValue>
  readonly roundedValues: Readonly<Found["roundedValues"]>
  readonly unreadable: Readonly<Found["unreadable"]>
  readonly rejectedRecords: ReadonlyArray<RejectedRecord>
  readonly unlistedValues: ReadonlyArray<UnlistedValue>
}

/** The first 52 bits of a hash, which compare and are stored faster than its text. */
export const hashNumber = (hash: string): number => Number.parseInt(hash.slice(0, hashDigits), 16)
export const hashDigits = 13

/** Where a record was read, and the columns that follow from it. */
export interface Origin {
  readonly location: string
  /** By column. */
  readonly given?: Readonly<Record<string, unknown>>
}
export type Normalise = (record: unknown, origin: Origin) => Normalised

export interface Target {
  readonly resource: Resource
  readonly normalise: Normalise
}

/** Whose records the pages of a table have: its own, and those that are embedded in them. */
export const targetsIn = (resources: ReadonlyArray<Resource>) => {
  const known = new Map<string, ReadonlyArray<Target>>()
  return (table: string): ReadonlyArray<Target> => {
    const isOf = (resource: Resource) => resource.table === table || resource.embeddedIn?.table === table
    const targets =
      known.get(table) ?? resources.filter(isOf).map((resource) => ({ resource, normalise: normaliserOf(resource) }))
    known.set(table, targets)
    return targets
  }
}

/** Compiles a resource's fields once and returns the function that normalises each record. */
export const normaliserOf = (resource: Resource, policies = evolving, { rowLength } = usualLimits.load): Normalise => {
  const { table, childOf, fields } = resource
  const key = keyOf(resource)
  const shape = compile(table, fieldsOf(resource), childOf ? [...key, childOf.column] : key)
  const scalar = isScalar(fields)
  const keyPlaces = key.map((column) => shape.places.of(column))
  const unlistedValues = unlistedValuesOf(resource)
  const isFieldKept = (table: string, field: string) => isKept(policies, resource, table, field)

  let found = emptyFound(isFieldKept)

  return (sent, { location, given }) => {
    const record = scalar && !isObject(sent) ? { value: sent } : sent
    if (!isObject(record)) return rejected(table, record, "not an object")
    // Few records have anything in it, so most use it again.
    if (!isEmpty(found)) found = emptyFound(isFieldKept)
    found.location = location
    try {
      const read = readRow(shape, found, record)
      const { values } = read
      for (const column in given) {
        const place = shape.places.of(column)
        const [givenValue, sentValue] = [given[column], valueIn(values, place)]
        // The requested parent is certain; a different parent in the record would misplace the row.
        const isParent = column === childOf?.column
        if (isParent && sentValue !== undefined && sentValue !== givenValue)
          found.invalidValues.push({ table, column, value: sentValue, reason: otherParent, path: "", stored: true })
        values[place] = held(isParent ? givenValue : (sentValue ?? givenValue))
      }
      const keyValues = keyPlaces.map((place) => valueIn(values, place))
      const missing = keyValues.findIndex((value) => value === undefined || value === "")
      if (missing >= 0) return rejected(table, record, `no ${key[missing]}`)
      const unfit = keyValues.findIndex(unfitForKey)
      if (unfit >= 0) return rejected(table, record, `${key[unfit]} contains a lone surrogate or a NUL`)
      const row = printed(read)
      if (rowLength.isExceededBy(row.length))
        return rejected(table, record, `larger than ${rowLength.value / 2 ** 20} MB`)
      const report = isEmpty(found) ? nothing : reported(found, keyValues.join("/"))
      const { rejectedRecords, rejectedValues } = report
      // A record that loses its wrong value is another version of the row, although the row has the same values.
      const hasRejects = rejectedValues.length + rejectedRecords.length > 0
      const hashed = hasRejects ? row + JSON.stringify([rejectedValues, rejectedRecords]) : row
      const rowHash = hash("sha256", hashed).slice(0, 32)
      return {
        row,
        key: keyValues,
        keyText: keyValues.length === 1 ? String(keyValues[0]) : keyValues.join(keySeparator),
        hash: rowHash,
        hashNumber: hashNumber(rowHash),
        ...report,
        unlistedValues: unlistedValues(read)
      }
    } catch (error) {
      // JSON.stringify fails on bodies nested thousands of levels deep.
      if (error instanceof RangeError) return rejected(table, record, "nested too deeply")
      throw error
    }
  }
}

const emptyFound = (isKept: Found["isKept"]): Found => ({
  location: "",
  isKept,
  invalidValues: [],
  roundedValues: [],
  unreadable: [],
  unknown: [],
  invalidItems: []
})

const isEmpty = ({ invalidItems, invalidValues, roundedValues, unknown, unreadable }: Found): boolean =>
  invalidItems.length + invalidValues.length + roundedValues.length + unknown.length + unreadable.length === 0

type Reported = Pick<Normalised, "unknown" | "roundedValues" | "unreadable" | "rejectedValues" | "rejectedRecords">

/** `id`: the key of the record. */
const reported = (found: Found, id: string): Reported => ({
  unknown: found.unknown,
  roundedValues: found.roundedValues,
  unreadable: found.unreadable,
  rejectedValues: found.invalidValues.map(({ value, path, ...invalidValue }) => ({
    ...invalidValue,
    key: id + path,
    value: toJson(value)
  })),
  rejectedRecords: found.invalidItems.map(({ table, item, reason, path }) => ({
    table,
    record: toJson(item),
    reason: `${reason}; in ${id}${path}`
  }))
})

export const nothing: Reported = {
  unknown: [],
  roundedValues: [],
  unreadable: [],
  rejectedValues: [],
  rejectedRecords: []
}

const otherParent = "names a parent other than the one it was requested for, which is stored"

export const rejected = (table: string, record: unknown, reason: string): Normalised => ({
  row: undefined,
  key: [],
  keyText: "",
  hash: "",
  hashNumber: 0,
  ...nothing,
  rejectedRecords: [{ table, record: truncate(toJson(record)), reason }],
  unlistedValues: []
})

/** The beginning of a rejected record is enough: the vault has all of it. */
const truncate = (record: string) => (record.length > recordLength ? `${record.slice(0, 10_000)}…` : record)
const recordLength = 4 * 1024 * 1024

/** Most rows are much shorter. */
const bytesInitial = 64 * 1024

class Printer extends ByteBuffer {
  /** The row as JSON, without the columns that have no value. */
  print(row: Row): string {
    this.end = 0
    this.putRow(row)
    const text = this.bytes.toString("utf8", 0, this.end)
    if (this.bytes.length > 16 * bytesInitial) this.bytes = Buffer.allocUnsafeSlow(bytesInitial)
    return text
  }

  private putRow({ shape: { printedNames }, values }: Row): void {
    let separator = openBrace
    for (let place = 0; place < values.length; place++) {
      const value = values[place]
      if (value === undefined) continue
      this.putName(separator, printedNames[place]!)
      if (typeof value === "string") this.putPlain(value)
      else if (value instanceof ChildRows) this.putRows(value)
      else this.putText(wellFormed(value instanceof Escaped ? value.text : value))
      separator = comma
    }
    this.putText(separator === openBrace ? "{}" : "}")
  }

  private putRows({ rows }: ChildRows): void {
    this.putText("[")
    for (let index = 0; index < rows.length; index++) {
      if (index > 0) this.putText(",")
      this.putRow(rows[index]!)
    }
    this.putText("]")
  }

  /** Puts a text of ASCII characters that need no escape. */
  private putPlain(text: string): void {
    const bytes = this.room(text.length + 2)
    let { end } = this
    bytes[end++] = quote
    // A call costs more than a few characters.
    if (text.length > 32) end += bytes.write(text, end, "latin1")
    else for (let index = 0; index < text.length; index++) bytes[end++] = text.charCodeAt(index)
    bytes[end++] = quote
    this.end = end
  }

  private putText(text: string): void {
    const bytes = this.room(3 * text.length)
    if (text.length === 1) bytes[this.end++] = text.charCodeAt(0)
    else this.end += bytes.write(text, this.end)
  }
}

const printer = new Printer(Buffer.allocUnsafeSlow(bytesInitial))
const printed = (row: Row): string => printer.print(row)

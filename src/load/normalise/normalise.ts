/**
 * One record as the service sent it to one line of NDJSON with a row and its child rows, typed as the catalogue says.
 * This is the only place where values change their form. Nothing is dropped in silence: what has no column goes to
 * `_extra`, what does not fit its column to the rejected values, what has no key to the rejected records.
 */
import { hash } from "node:crypto"
import { evolving, isKept } from "../../catalog/schema-policy.ts"
import type { Resource } from "../../catalog/resource.ts"
import { keyOf } from "../../catalog/tables.ts"
import { unfitForKey, wellFormed } from "./convert.ts"
import { RowReader, type Found, isObject, printed } from "./map-record.ts"
import { isScalar } from "../../catalog/fields.ts"
import { compile } from "./compile-fields.ts"

interface RejectedValue {
  readonly table: string
  /** The record's; of a child row followed by its table and its own key or place: `inv1/invoice_items/3`. */
  readonly key: string
  readonly column: string
  /** As sent, as JSON. */
  readonly value: string
  readonly reason: string
  /** The column holds what could be kept of it. */
  readonly kept?: true
}
interface RejectedRecord {
  readonly table: string
  readonly record: string
  readonly reason: string
}
export interface Normalised {
  /** JSON of the row: its columns, and its child tables as lists. Absent where the record is rejected. */
  readonly row: string | undefined
  /** Values of the columns that identify it in its location. */
  readonly key: ReadonlyArray<unknown>
  /** Fingerprint of `row`. */
  readonly hash: string
  /** Fields nobody named; those that the policy keeps are in `_extra`. */
  readonly unknown: Found["unknown"]
  readonly rejectedValues: ReadonlyArray<RejectedValue>
  readonly rejectedRecords: ReadonlyArray<RejectedRecord>
}

/** Where a record was read, and what is known from there that the record itself may not show. */
interface Origin {
  readonly location: string
  /** By column. */
  readonly given?: Readonly<Record<string, unknown>>
}
export type Normalise = (record: unknown, origin: Origin) => Normalised

/** Compiles a resource's fields once; the function it returns is called for every record. */
export const normaliserOf = (resource: Resource, policies = evolving): Normalise => {
  const { table, childOf, fields, detail } = resource
  const key = keyOf(resource)
  const shape = compile(table, { ...fields, ...detail?.fields }, childOf ? [...key, childOf.column] : key)
  const scalar = isScalar(fields)
  const keeps = (table: string, field: string) => isKept(policies, resource, table, field)

  return (sent, { location, given }) => {
    const record = scalar && !isObject(sent) ? { value: sent } : sent
    if (!isObject(record)) return rejected(table, record, "not an object")
    const found: Found = { location, keeps, invalidValues: [], unknown: [], invalidItems: [] }
    try {
      const { values } = new RowReader(shape, found).read(record)
      for (const column in given) {
        const [known, own] = [given[column], values[column]]
        // What it was asked for under is sure; another parent in the record would hang the row where nobody finds it.
        const isParent = column === childOf?.column
        if (isParent && own !== undefined && own !== known)
          found.invalidValues.push({ table, column, value: own, reason: otherParent, place: "", kept: true })
        values[column] = isParent ? known : (own ?? known)
      }
      const missing = key.find((column) => values[column] === undefined || values[column] === "")
      if (missing !== undefined) return rejected(table, record, `no ${missing}`)
      const unfit = key.find((column) => unfitForKey(values[column]))
      if (unfit !== undefined) return rejected(table, record, `${unfit} holds half a character or a NUL`)
      const row = wellFormed(values)
      if (row.length > rowLengthMax) return rejected(table, record, `larger than ${rowLengthMax >> 20} MB`)
      const id = key.map((column) => values[column]).join("/")
      return {
        row,
        key: key.map((column) => values[column]),
        hash: hash("sha256", row).slice(0, 32),
        unknown: found.unknown,
        rejectedValues: found.invalidValues.map(({ value, place, ...invalidValue }) => ({
          ...invalidValue,
          key: id + place,
          value: printed(value)
        })),
        rejectedRecords: found.invalidItems.map(({ table, item, reason, place }) => ({
          table,
          record: printed(item),
          reason: `${reason}; in ${id}${place}`
        }))
      }
    } catch (error) {
      // A body nested thousands deep cannot be printed again.
      if (error instanceof RangeError) return rejected(table, record, "nested too deeply")
      throw error
    }
  }
}

const otherParent = "names another row than the one it was read under, which is kept"

const rejected = (table: string, record: unknown, reason: string): Normalised => ({
  row: undefined,
  key: [],
  hash: "",
  unknown: [],
  rejectedValues: [],
  rejectedRecords: [{ table, record: cut(printed(record)), reason }]
})

/** DuckDB reads a row in one piece, into buffers of four times its size. */
const rowLengthMax = 4 * 1024 * 1024
/** Of what no row can hold a beginning is enough: the whole stands in the vault. */
const cut = (record: string) => (record.length > rowLengthMax ? `${record.slice(0, 10_000)}…` : record)

/**
 * One record as the service sent it to one line of NDJSON with a row and its child rows, typed as the catalogue says.
 * This is the only place where values change their form. Nothing is dropped in silence: what has no column goes to
 * `_extra`, what does not fit its column to the rejected values, what has no key to the rejected records.
 */
import { hash } from "node:crypto"
import type { Resource } from "../catalog/resource.ts"
import { RowReader, type Found, isObject, printed } from "./row.ts"
import { compile } from "./slots.ts"

interface RejectedValue {
  readonly table: string
  readonly key: string
  readonly column: string
  /** As sent, as JSON. */
  readonly value: string
  readonly reason: string
}
interface RejectedRecord {
  readonly table: string
  readonly record: string
  readonly reason: string
}
export interface Normalised {
  /** JSON of the row: its columns, and its child tables as lists. Absent where the record is rejected. */
  readonly row: string | undefined
  /** Fingerprint of `row`. */
  readonly hash: string
  readonly id: string | undefined
  readonly rejectedValues: ReadonlyArray<RejectedValue>
  readonly rejectedRecords: ReadonlyArray<RejectedRecord>
}

/** Where a record was read: what the record itself may not show. */
interface Origin {
  readonly location: string
  /** Id of the parent row, where the record was read under one. */
  readonly parent?: string | undefined
}
export type Normalise = (record: unknown, origin: Origin) => Normalised

/** Compiles a resource's fields once; the function it returns is called for every record. */
export const normaliserOf = (resource: Resource): Normalise => {
  const { table, each } = resource
  const shape = compile(table, { ...resource.fields, ...resource.detail?.fields }, each ? [each.column] : [])

  return (record, { location, parent }) => {
    if (!isObject(record)) return rejected(table, record, "not an object")
    const found: Found = { location, misfits: [], strays: [] }
    try {
      const { values } = new RowReader(shape, found).read(record)
      const id = values["id"]
      if (typeof id !== "string" || id === "") return rejected(table, record, "no id")
      if (each) values[each.column] ??= parent
      const row = wellFormed(values)
      return {
        row,
        hash: hash("sha256", row).slice(0, 32),
        id,
        rejectedValues: found.misfits.map(({ value, ...misfit }) => ({ ...misfit, key: id, value: printed(value) })),
        rejectedRecords: found.strays.map(({ table, item, reason }) => ({
          table,
          record: printed(item),
          reason: `${reason}; in ${id}`
        }))
      }
    } catch (error) {
      // A body nested thousands deep cannot be printed again.
      if (error instanceof RangeError) return rejected(table, record, "nested too deeply")
      throw error
    }
  }
}

const rejected = (table: string, record: unknown, reason: string): Normalised => ({
  row: undefined,
  hash: "",
  id: undefined,
  rejectedValues: [],
  rejectedRecords: [{ table, record: printed(record), reason }]
})

/** JSON that DuckDB can read: a lone surrogate is no text in any encoding and becomes U+FFFD. */
export const wellFormed = (value: object): string => {
  const body = JSON.stringify(value)
  return body.includes("\\ud")
    ? JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? part.toWellFormed() : part))
    : body
}

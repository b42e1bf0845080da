/**
 * One record as the service sent it to one line of NDJSON with a row and its child rows, typed as the catalogue says.
 * This is the only place where values change their form. Nothing is dropped in silence: what has no column goes to
 * `_extra`, what does not fit its column to the rejected values, what has no key to the rejected records.
 */
import { hash } from "node:crypto"
import type { Resource } from "../catalog/resource.ts"
import { readable, refused } from "./convert.ts"
import { type Child, type Slot, type Slots, columnsOf, compile } from "./slots.ts"

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
  /** NDJSON without its line end: `_row_hash`, columns, child tables as lists. Absent where the record is rejected. */
  readonly line: string | undefined
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
  const slots = compile({ ...resource.fields, ...resource.detail?.fields })
  const columns = ["id", ...(resource.each ? [resource.each.column] : []), ...columnsOf(slots), "_extra"]

  return (record, origin) => {
    const rejectedRecords: Array<RejectedRecord> = []
    const reject = (table: string, value: unknown, reason: string) =>
      void rejectedRecords.push({ table, record: printed(value), reason })
    const rejected = (reason: string) => {
      reject(resource.table, record, reason)
      return { line: undefined, id: undefined, rejectedValues: [], rejectedRecords }
    }
    if (!isObject(record)) return rejected("not an object")
    try {
      const row = readRow(record, slots, origin)
      const id = row.values["id"]
      if (typeof id !== "string" || id === "") return rejected("no id")
      if (resource.each) row.values[resource.each.column] ??= origin.parent

      const misfits = row.misfits.map((misfit) => ({ table: resource.table, ...misfit }))
      const lists: Record<string, Array<object>> = {}
      for (const { child, items } of row.children)
        (lists[child.table] ??= []).push(
          ...readChildren(child, items, origin, misfits, (item, reason) =>
            reject(child.table, item, `${reason}; in ${id}`)
          )
        )
      const body = wellFormed({ ...ordered(row.values, columns), ...lists })
      return {
        line: `{"_row_hash":"${hash("sha256", body).slice(0, 32)}",${body.slice(1)}`,
        id,
        rejectedValues: misfits.map(({ value, ...misfit }) => ({ ...misfit, key: id, value: printed(value) })),
        rejectedRecords
      }
    } catch (error) {
      // A body nested thousands deep cannot be printed again.
      if (error instanceof RangeError) return rejected("nested too deeply")
      throw error
    }
  }
}

interface Misfit {
  readonly column: string
  readonly value: unknown
  readonly reason: string
}
type Items = ReadonlyArray<readonly [key: string, item: unknown]>

/** Walks what was sent, not what was expected, so that nothing unknown goes unseen. */
const readRow = (record: object, slots: Slots, { location }: Origin) => {
  const values: Record<string, unknown> = {}
  const misfits: Array<Misfit> = []
  const children: Array<{ readonly child: Child; readonly items: Items }> = []
  const extra: Array<readonly [string, unknown]> = []

  const visit = (inside: object, known: Slots, path: string, keepUnknown: boolean, rest?: Child) => {
    const others: Array<readonly [string, unknown]> = []
    for (const [name, value] of Object.entries(inside)) {
      const slot = known.get(name)
      if (slot) {
        if (value !== null) place(slot, value, path + name)
      } else if (rest) others.push([name, { value }])
      else if (keepUnknown) extra.push([path + name, value])
    }
    if (rest) children.push({ child: rest, items: others })
  }

  const place = (slot: Slot, value: unknown, wire: string): void => {
    switch (slot.kind) {
      case "column": {
        // The first spelling that holds a value wins (aliases).
        if (values[slot.column] !== undefined) return
        const converted = slot.convert(value)
        if (converted === refused) misfits.push({ column: slot.column, value, reason: `does not fit ${slot.type}` })
        else if (converted !== null) {
          values[slot.column] = converted
          if (slot.textColumn) values[slot.textColumn] = readable(value)
        }
        return
      }
      case "object":
        if (!isObject(value)) return void misfits.push({ column: wire, value, reason: "not an object" })
        if (slot.whole) place(slot.whole, value, wire)
        return visit(value, slot.slots, `${wire}.`, slot.whole === undefined, slot.rest)
      case "child": {
        const items = itemsOf(slot.child, value)
        if (items) children.push({ child: slot.child, items })
        else misfits.push({ column: slot.child.table, value, reason: `not ${slot.child.kind}` })
        return
      }
      case "location":
        if (value !== location) extra.push([wire, value])
    }
  }

  visit(record, slots, "", true)
  // fromEntries defines, never assigns: a key called __proto__ stays a key.
  if (extra.length > 0) values["_extra"] = JSON.stringify(Object.fromEntries(extra))
  return { values, misfits, children }
}

const itemsOf = (child: Child, value: unknown): Items | undefined => {
  const pairs: Items | undefined =
    child.kind === "list"
      ? Array.isArray(value)
        ? value.map((item) => ["", item])
        : undefined
      : isObject(value)
        ? Object.entries(value)
        : undefined
  return child.scalar ? pairs?.map(([key, item]) => [key, { value: item }]) : pairs
}

const readChildren = (
  child: Child,
  items: Items,
  origin: Origin,
  misfits: Array<Misfit & { readonly table: string }>,
  reject: (item: unknown, reason: string) => void
): Array<object> => {
  const seen = new Set<string>()
  return items.flatMap(([key, item], position) => {
    if (!isObject(item)) return (reject(item, "not an object"), [])
    const { values, misfits: own } = readRow(item, child.slots, origin)
    for (const misfit of own) misfits.push({ table: child.table, ...misfit })
    Object.assign(values, child.constants)
    if (child.keyColumn) values[child.keyColumn] = key
    if (child.key.length === 0) values["position"] = position
    else {
      if (child.key.some((name) => values[name] === undefined)) return (reject(item, `no ${child.key.join(", ")}`), [])
      const identity = JSON.stringify(child.key.map((name) => values[name]))
      if (seen.has(identity)) return (reject(item, `the same ${child.key.join(", ")} twice`), [])
      seen.add(identity)
    }
    return [ordered(values, [...child.columns, "_extra"])]
  })
}

/** In one order whatever order the service used, so that equal rows have equal text. */
const ordered = (values: Record<string, unknown>, columns: ReadonlyArray<string>): object => {
  const row: Record<string, unknown> = {}
  for (const column of columns) if (values[column] !== undefined) row[column] = values[column]
  return row
}

/** JSON that DuckDB can read: a lone surrogate is no text in any encoding and becomes U+FFFD. */
export const wellFormed = (value: object): string => {
  const body = JSON.stringify(value)
  return body.includes("\\ud")
    ? JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? part.toWellFormed() : part))
    : body
}

const printed = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? "null"
  } catch {
    return '"nested too deeply to print"'
  }
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)

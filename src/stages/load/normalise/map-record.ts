/** Maps one record to one row. It visits the fields that were sent, not those defined, so that it finds unknown fields. */
import {
  Adjusted,
  type Converted,
  hasLoneSurrogates,
  readable,
  rejected,
  unfitForKey,
  wellFormed
} from "../../../catalog/convert.ts"
import { isObject } from "../../../catalog/json.ts"
import type { Child, ChildSlot, Shape, Slot, Slots } from "./compile-fields.ts"
import { ChildRows, type Row, held, valueIn } from "./rows.ts"

/** The content of a record and its children that has no place in rows and columns. */
export interface Found {
  location: string
  /** Whether an unknown field goes into `_extra`. */
  readonly isKept: (table: string, field: string) => boolean
  readonly invalidValues: Array<{
    readonly table: string
    readonly column: string
    readonly value: unknown
    readonly reason: string
    /** The column stores a changed form of the value. */
    readonly stored?: true
    /** Path to the row: child tables, each with the row's key or position; "" for the record itself. */
    path: string
  }>
  /** Objects that stand for a value and have no member that a definition names, with the names of their members. */
  readonly unreadable: Array<{
    readonly table: string
    readonly column: string
    readonly members: ReadonlyArray<string>
  }>
  /** Columns whose number has more decimals than they hold. */
  readonly roundedValues: Array<{ readonly table: string; readonly column: string }>
  /** Fields that no definition names, with their first value. */
  readonly unknown: Array<{ readonly table: string; readonly field: string; readonly value: unknown }>
  readonly invalidItems: Array<{
    readonly table: string
    readonly item: unknown
    readonly reason: string
    path: string
  }>
}

/** The row of a record. */
export const readRow = (shape: Shape, found: Found, record: object): Row => new RowReader(shape, found).read(record)

class RowReader implements Row {
  readonly shape: Shape
  readonly values: Array<unknown>
  private readonly found: Found
  private extra: Array<readonly [string, unknown]> | undefined

  constructor(shape: Shape, found: Found) {
    this.shape = shape
    this.values = shape.blank.slice()
    this.found = found
  }

  read(record: object): Row {
    this.visit(record, this.shape.slots, "", true)
    if (this.extra) this.putExtra(this.extra)
    return this
  }

  private putExtra(unknown: ReadonlyArray<readonly [string, unknown]>): void {
    const { table, extra: place } = this.shape
    for (const [field, value] of unknown) this.found.unknown.push({ table, field, value })
    const kept = unknown.filter(([field]) => this.found.isKept(table, field))
    if (kept.length === 0) return
    // Object.fromEntries defines properties, so a key called __proto__ stays a key.
    const extra = Object.fromEntries(kept)
    this.put("_extra", place, wellFormed(extra), extra)
  }

  private visit(inside: object, slots: Slots, path: string, keepUnknown: boolean, rest?: ChildSlot): void {
    // The object comes from JSON, so it inherits no enumerable names.
    for (const name in inside) {
      const value = (inside as Readonly<Record<string, unknown>>)[name]
      const slot = slots.find(name)
      if (slot === undefined) {
        if (rest) this.addChild(rest.child, this.childrenAt(rest.place), name, value)
        else if (keepUnknown) (this.extra ??= []).push([path + name, value])
      } else if (value !== null) this.place(slot, value, path, name, keepUnknown)
    }
  }

  /** `path`: of the object around the field `name`. */
  private place(slot: Slot, value: unknown, path: string, name: string, keepUnknown: boolean): void {
    switch (slot.kind) {
      case "column": {
        const result = slot.convert(value)
        // Nearly every value is stored as it is.
        const changed = typeof result === "object" && result !== null ? result : undefined
        const converted = changed === undefined ? (result as Converted) : changed.value
        const stored = valueIn(this.values, slot.place)
        if (stored !== undefined) {
          // The first of several aliases that has a value wins.
          const same = converted === stored || converted === null || converted === ""
          if (!same) this.invalidValue(slot.column, value, `${path}${name} differs from the stored value`, true)
        } else if (converted === rejected)
          this.invalidValue(
            slot.column,
            value,
            changed instanceof Adjusted ? changed.reason : `does not fit ${slot.type}`
          )
        else if (converted !== null) {
          this.put(slot.column, slot.place, converted, value)
          if (changed instanceof Adjusted) this.invalidValue(slot.column, value, changed.reason, true)
          else if (changed) this.found.roundedValues.push({ table: this.shape.table, column: slot.column })
          if (slot.textPlace !== undefined) this.values[slot.textPlace] = held(readable(value))
        }
        return
      }
      case "object":
        if (slot.plain && isPlain(value)) return this.place(slot.plain, value, path, name, keepUnknown)
        // A JSON column stores any value.
        if (!isObject(value) && slot.whole) return this.place(slot.whole, value, path, name, keepUnknown)
        if (!isObject(value)) return this.invalidValue(path + name, value, "not an object")
        if (slot.whole) this.place(slot.whole, value, path, name, keepUnknown)
        if (slot.whole?.kind === "column" && slot.plain && !hasKnown(value, slot.slots))
          this.found.unreadable.push({
            table: this.shape.table,
            column: slot.whole.column,
            members: Object.keys(value).sort()
          })
        // A column with the whole object already stores its unknown fields.
        return this.visit(value, slot.slots, `${path}${name}.`, keepUnknown && slot.whole === undefined, slot.rest)
      case "child":
        return this.placeChildren(slot, value)
      case "location":
        if (value !== this.found.location) (this.extra ??= []).push([path + name, value])
    }
  }

  private placeChildren({ child, place }: ChildSlot, value: unknown): void {
    if (child.kind === "list" ? !Array.isArray(value) : !isObject(value))
      return this.invalidValue(child.table, value, child.kind === "list" ? "not a list" : "not an object")
    const rows = this.childrenAt(place)
    if (Array.isArray(value)) for (const item of value) this.addChild(child, rows, "", item)
    else for (const [key, item] of Object.entries(value as object)) this.addChild(child, rows, key, item)
  }

  private childrenAt(place: number): ChildRows {
    return (this.values[place] ??= new ChildRows()) as ChildRows
  }

  private addChild(child: Child, rows: ChildRows, key: string, sent: unknown): void {
    const position = rows.items++
    const { invalidValues, invalidItems } = this.found
    const [invalidValuesBefore, invalidItemsBefore] = [invalidValues.length, invalidItems.length]
    const row = this.childRow(child, key, sent)
    const reason = row === undefined ? "not an object" : this.addRow(child, rows, row, position)
    if (
      reason === undefined &&
      invalidValues.length === invalidValuesBefore &&
      invalidItems.length === invalidItemsBefore
    )
      return
    // Rejects of the row and of its child rows refer to its key, or to its position if it has none.
    const sentAt = child.keyColumnPlace === undefined ? position : key
    const rowKey = row ? keyIn(child, row) : []
    const hasKey = rowKey.length > 0 && !rowKey.includes(undefined)
    for (const reject of [...invalidValues.slice(invalidValuesBefore), ...invalidItems.slice(invalidItemsBefore)])
      reject.path = `/${child.table}/${hasKey ? rowKey.join(",") : sentAt}${reject.path}`
    if (reason !== undefined)
      invalidItems.push({ table: child.table, item: sent, reason, path: `/${child.table}/${sentAt}` })
  }

  /** The row of an item, with its key and constants; `undefined` if the item is not an object. */
  private childRow(child: Child, key: string, sent: unknown): Row | undefined {
    const item = child.scalar ? { value: sent } : child.plain && isPlain(sent) ? { [child.plain]: sent } : sent
    if (!isObject(item)) return undefined
    const row = readRow(child, this.found, item)
    for (const [place, value] of child.constants) row.values[place] = held(value)
    if (child.keyColumnPlace !== undefined) row.values[child.keyColumnPlace] = held(key)
    return row
  }

  /** Adds the row of an item, or returns the reason why it cannot be one. */
  private addRow(child: Child, rows: ChildRows, row: Row, position: number): string | undefined {
    for (const [column, place] of child.identifying)
      if (unfitForKey(valueIn(row.values, place))) return `${column} contains a lone surrogate or a NUL`
    if (child.positionPlace !== undefined) row.values[child.positionPlace] = position
    else {
      const identity = identityOf(child, row)
      if (identity === undefined) return `no ${child.key.join(", ")}`
      if (rows.isDuplicate(identity)) return `duplicate ${child.key.join(", ")}`
    }
    rows.rows.push(row)
    for (const table of child.below) this.hoist(table, child, row)
    return undefined
  }

  /** Moves the rows of a table below a child table beside it, with its id. */
  private hoist(table: string, child: Child, inner: Row): void {
    const from = inner.shape.places.of(table)
    const rows = inner.values[from] as ChildRows | undefined
    if (rows === undefined) return
    inner.values[from] = undefined
    const all = this.childrenAt(this.shape.places.of(table))
    const id = inner.shape.places.get("id")
    for (const row of rows.rows) {
      const place = row.shape.places.of(child.idColumn)
      if (id !== undefined) row.values[place] ??= inner.values[id]
      all.rows.push(row)
    }
  }

  /** A lone surrogate or an invalid UTF-8 byte is stored as U+FFFD; a lone surrogate is also reported. */
  private put(column: string, place: number, converted: unknown, sent: unknown): void {
    const value = held(converted)
    this.values[place] = value
    if (value === converted || typeof converted !== "string") return
    const suspect = !converted.isWellFormed() || converted.includes("\ufffd")
    if (suspect && hasLoneSurrogates(sent)) this.invalidValue(column, sent, loneSurrogate, true)
  }

  private invalidValue(column: string, value: unknown, reason: string, stored?: true): void {
    this.found.invalidValues.push({
      table: this.shape.table,
      column,
      value,
      reason,
      path: "",
      ...(stored && { stored })
    })
  }
}

const loneSurrogate = "contains a lone surrogate, stored as U+FFFD"

const keyIn = ({ keyPlaces }: Child, { values }: Row): ReadonlyArray<unknown> =>
  keyPlaces.map((place) => valueIn(values, place))

/** The key as one value; `undefined` if a part of it is missing. */
const identityOf = (child: Child, row: Row): unknown => {
  if (child.keyPlaces.length === 1) return valueIn(row.values, child.keyPlaces[0]!)
  const rowKey = keyIn(child, row)
  return rowKey.includes(undefined) ? undefined : JSON.stringify(rowKey)
}

/** Any value as JSON. */
export const toJson = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? "null"
  } catch {
    return '"nested too deeply to print"'
  }
}

/** An empty object says nothing, as NULL. */
const hasKnown = (value: object, slots: Slots): boolean => {
  const names = Object.keys(value)
  return names.length === 0 || names.some((name) => slots.find(name) !== undefined)
}

const isPlain = (value: unknown): boolean => typeof value !== "object" || JSON.isRawJSON(value)

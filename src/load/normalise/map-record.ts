/** Maps one record to one row. It visits the fields that were sent, not those defined, so that it finds unknown fields. */
import { Adjusted, type Converted, hasLoneSurrogates, readable, rejected, unfitForKey, wellFormed } from "./convert.ts"
import type { Child, Shape, Slot, Slots } from "./compile-fields.ts"

/** The content of a record and its children that has no place in rows and columns. */
export interface Found {
  readonly location: string
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

export class RowReader {
  readonly values: Record<string, unknown>
  private readonly shape: Shape
  private readonly found: Found
  private extra: Array<readonly [string, unknown]> | undefined

  constructor(shape: Shape, found: Found) {
    this.shape = shape
    this.found = found
    this.values = { ...shape.blank }
  }

  read(record: object): this {
    this.visit(record, this.shape.slots, "", true)
    const { table } = this.shape
    for (const [field, value] of this.extra ?? []) this.found.unknown.push({ table, field, value })
    const keptFields = this.extra?.filter(([field]) => this.found.isKept(table, field)) ?? []
    if (keptFields.length > 0) {
      // Object.fromEntries defines properties, so a key called __proto__ stays a key.
      const extra = Object.fromEntries(keptFields)
      this.put("_extra", wellFormed(extra), extra)
    }
    return this
  }

  private visit(inside: object, slots: Slots, path: string, keepUnknown: boolean, rest?: Child): void {
    // The object comes from JSON, so it inherits no enumerable names.
    for (const name in inside) {
      const value = (inside as Readonly<Record<string, unknown>>)[name]
      const slot = slots.find(name)
      if (slot === undefined) {
        if (rest) this.addChild(rest, this.childrenOf(rest), name, value)
        else if (keepUnknown) (this.extra ??= []).push([path + name, value])
      } else if (value !== null) this.place(slot, value, path + name, keepUnknown)
    }
  }

  private place(slot: Slot, value: unknown, path: string, keepUnknown: boolean): void {
    switch (slot.kind) {
      case "column": {
        const result = slot.convert(value)
        // Nearly every value is stored as it is.
        const changed = typeof result === "object" && result !== null ? result : undefined
        const converted = changed === undefined ? (result as Converted) : changed.value
        const stored = this.values[slot.column]
        if (stored !== undefined) {
          // Of several aliases, the first one with a value wins.
          const same = converted === stored || converted === null || converted === ""
          if (!same) this.invalidValue(slot.column, value, `${path} differs from the stored value`, true)
        } else if (converted === rejected)
          this.invalidValue(
            slot.column,
            value,
            changed instanceof Adjusted ? changed.reason : `does not fit ${slot.type}`
          )
        else if (converted !== null) {
          this.put(slot.column, converted, value)
          if (changed instanceof Adjusted) this.invalidValue(slot.column, value, changed.reason, true)
          else if (changed) this.found.roundedValues.push({ table: this.shape.table, column: slot.column })
          if (slot.textColumn) this.values[slot.textColumn] = readable(value)
        }
        return
      }
      case "object":
        if (slot.plain && isPlain(value)) return this.place(slot.plain, value, path, keepUnknown)
        // A JSON column stores any value.
        if (!isObject(value) && slot.whole) return this.place(slot.whole, value, path, keepUnknown)
        if (!isObject(value)) return this.invalidValue(path, value, "not an object")
        if (slot.whole) this.place(slot.whole, value, path, keepUnknown)
        if (slot.whole?.kind === "column" && slot.plain && !hasKnown(value, slot.slots))
          this.found.unreadable.push({
            table: this.shape.table,
            column: slot.whole.column,
            members: Object.keys(value).sort()
          })
        // A column with the whole object already stores its unknown fields.
        return this.visit(value, slot.slots, `${path}.`, keepUnknown && slot.whole === undefined, slot.rest)
      case "child":
        return this.placeChildren(slot.child, value)
      case "location":
        if (value !== this.found.location) (this.extra ??= []).push([path, value])
    }
  }

  private placeChildren(child: Child, value: unknown): void {
    if (child.kind === "list" ? !Array.isArray(value) : !isObject(value))
      return this.invalidValue(child.table, value, child.kind === "list" ? "not a list" : "not an object")
    const rows = this.childrenOf(child)
    if (Array.isArray(value)) for (const item of value) this.addChild(child, rows, "", item)
    else for (const [key, item] of Object.entries(value as object)) this.addChild(child, rows, key, item)
  }

  /** The rows of a child table so far, and the number of items: a rejected item leaves its position empty. */
  private childrenOf(child: Child): ChildRows {
    return (this.values[child.table] ??= new ChildRows()) as ChildRows
  }

  private addChild(child: Child, rows: ChildRows, key: string, sent: unknown): void {
    const position = rows.items++
    const { invalidValues, invalidItems } = this.found
    const [invalidValuesBefore, invalidItemsBefore] = [invalidValues.length, invalidItems.length]
    const rowKey: Array<unknown> = []
    const reason = this.addRow(child, rows, key, sent, position, rowKey)
    if (
      reason === undefined &&
      invalidValues.length === invalidValuesBefore &&
      invalidItems.length === invalidItemsBefore
    )
      return
    // Rejects of the row and of its child rows refer to its key, or to its position if it has none.
    const sentAt = child.keyColumn === undefined ? position : key
    const hasKey = rowKey.length > 0 && !rowKey.includes(undefined)
    for (const reject of [...invalidValues.slice(invalidValuesBefore), ...invalidItems.slice(invalidItemsBefore)])
      reject.path = `/${child.table}/${hasKey ? rowKey.join(",") : sentAt}${reject.path}`
    if (reason !== undefined)
      invalidItems.push({ table: child.table, item: sent, reason, path: `/${child.table}/${sentAt}` })
  }

  /** Adds an item as a row and its key to `rowKey`, or returns the reason why it cannot be one. */
  private addRow(
    child: Child,
    rows: ChildRows,
    key: string,
    sent: unknown,
    position: number,
    rowKey: Array<unknown>
  ): string | undefined {
    const item = child.scalar ? { value: sent } : child.plain && isPlain(sent) ? { [child.plain]: sent } : sent
    if (!isObject(item)) return "not an object"
    const { values } = new RowReader(child, this.found).read(item)
    Object.assign(values, child.constants)
    if (child.keyColumn) values[child.keyColumn] = key
    for (const name of child.key) rowKey.push(values[name])
    for (const name of child.identifying)
      if (unfitForKey(values[name])) return `${name} contains a lone surrogate or a NUL`
    if (child.key.length === 0) values["position"] = position
    else {
      if (rowKey.includes(undefined)) return `no ${child.key.join(", ")}`
      const identity = rowKey.length === 1 ? rowKey[0] : JSON.stringify(rowKey)
      if (rows.isDuplicate(identity)) return `duplicate ${child.key.join(", ")}`
    }
    rows.push(values)
    for (const table of child.below) this.hoist(table, values, child.idColumn)
    return undefined
  }

  /** Moves the rows of a table below a child table beside it, with its id. */
  private hoist(table: string, inner: Record<string, unknown>, idColumn: string): void {
    const rows = inner[table] as ChildRows | undefined
    if (rows === undefined) return
    inner[table] = undefined
    const all = (this.values[table] ??= new ChildRows()) as ChildRows
    for (const row of rows) all.push(Object.assign(row, { [idColumn]: row[idColumn] ?? inner["id"] }))
  }

  /** A lone surrogate or an invalid UTF-8 byte is stored as U+FFFD; a lone surrogate is also reported. */
  private put(column: string, converted: unknown, sent: unknown): void {
    this.values[column] = converted
    const suspect = typeof converted === "string" && (!converted.isWellFormed() || converted.includes("\ufffd"))
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

class ChildRows extends Array<Record<string, unknown>> {
  items = 0
  private readonly identities: Array<unknown> = []
  private seen: Set<unknown> | undefined

  /** Whether the identity exists already; adds it if not. Most lists are short, some have thousands of items. */
  isDuplicate(identity: unknown): boolean {
    if (this.seen ? this.seen.has(identity) : this.identities.includes(identity)) return true
    if (this.seen) this.seen.add(identity)
    else if (this.identities.push(identity) > 16) this.seen = new Set(this.identities)
    return false
  }
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

export const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)

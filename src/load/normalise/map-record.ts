/** Walks one record into one row: what was sent, not what was expected, so that nothing unknown goes unseen. */
import { Adjusted, hasLoneSurrogates, readable, refused, unfitForKey, wellFormed } from "./convert.ts"
import type { Child, Shape, Slot, Slots } from "./compile-fields.ts"

/** What a record and its children held that is no row or column. */
export interface Found {
  readonly location: string
  /** Whether an unknown field goes into `_extra`. */
  readonly keeps: (table: string, field: string) => boolean
  readonly invalidValues: Array<{
    readonly table: string
    readonly column: string
    readonly value: unknown
    readonly reason: string
    /** The column holds it nevertheless, as far as it can. */
    readonly kept?: true
    /** Where in the record: the tables on the way to its row, each with the row's key or place; "" for the record's own. */
    place: string
  }>
  /** Fields nobody named, with the first value met. */
  readonly unknown: Array<{ readonly table: string; readonly field: string; readonly value: unknown }>
  readonly invalidItems: Array<{
    readonly table: string
    readonly item: unknown
    readonly reason: string
    place: string
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
    const kept = this.extra?.filter(([field]) => this.found.keeps(table, field)) ?? []
    if (kept.length > 0) {
      // fromEntries defines, never assigns: a key called __proto__ stays a key.
      const extra = Object.fromEntries(kept)
      this.put("_extra", wellFormed(extra), extra)
    }
    return this
  }

  private visit(inside: object, slots: Slots, path: string, keepUnknown: boolean, rest?: Child): void {
    // Parsed from JSON, so what it shows is its own.
    for (const name in inside) {
      const value = (inside as Readonly<Record<string, unknown>>)[name]
      const slot = slots.of(name)
      if (slot === undefined) {
        if (rest) this.addChild(rest, this.childrenOf(rest), name, value)
        else if (keepUnknown) (this.extra ??= []).push([path + name, value])
      } else if (value !== null) this.place(slot, value, path + name, keepUnknown)
    }
  }

  private place(slot: Slot, value: unknown, http: string, keepUnknown: boolean): void {
    switch (slot.kind) {
      case "column": {
        const answer = slot.convert(value)
        const converted = answer instanceof Adjusted ? answer.value : answer
        const known = this.values[slot.column]
        if (known !== undefined) {
          // The first spelling that holds a value wins (aliases).
          const same = converted === known || converted === null || converted === ""
          if (!same) this.invalidValue(slot.column, value, `${http} says otherwise than what is kept`, true)
        } else if (converted === refused)
          this.invalidValue(
            slot.column,
            value,
            answer instanceof Adjusted ? answer.reason : `does not fit ${slot.type}`
          )
        else if (converted !== null) {
          this.put(slot.column, converted, value)
          if (answer instanceof Adjusted) this.invalidValue(slot.column, value, answer.reason, true)
          if (slot.textColumn) this.values[slot.textColumn] = readable(value)
        }
        return
      }
      case "object":
        if (slot.plain && isPlain(value)) return this.place(slot.plain, value, http, keepUnknown)
        // JSON holds a value of any shape.
        if (!isObject(value) && slot.whole) return this.place(slot.whole, value, http, keepUnknown)
        if (!isObject(value)) return this.invalidValue(http, value, "not an object")
        if (slot.whole) this.place(slot.whole, value, http, keepUnknown)
        // What the whole object holds is kept already, at any depth.
        return this.visit(value, slot.slots, `${http}.`, keepUnknown && slot.whole === undefined, slot.rest)
      case "child":
        return this.placeChildren(slot.child, value)
      case "location":
        if (value !== this.found.location) (this.extra ??= []).push([http, value])
    }
  }

  private placeChildren(child: Child, value: unknown): void {
    if (child.kind === "list" ? !Array.isArray(value) : !isObject(value))
      return this.invalidValue(child.table, value, child.kind === "list" ? "not a list" : "not an object")
    const rows = this.childrenOf(child)
    if (Array.isArray(value)) for (const item of value) this.addChild(child, rows, "", item)
    else for (const [key, item] of Object.entries(value as object)) this.addChild(child, rows, key, item)
  }

  /** Rows of a child table so far, and how many items there were: the place of one that is no row stays empty. */
  private childrenOf(child: Child): ChildRows {
    return (this.values[child.table] ??= new ChildRows()) as ChildRows
  }

  private addChild(child: Child, rows: ChildRows, key: string, sent: unknown): void {
    const position = rows.items++
    const { invalidValues, invalidItems } = this.found
    const [invalidValuesBefore, invalidItemsBefore] = [invalidValues.length, invalidItems.length]
    const own: Array<unknown> = []
    const reason = this.rejected(child, rows, key, sent, position, own)
    if (
      reason === undefined &&
      invalidValues.length === invalidValuesBefore &&
      invalidItems.length === invalidItemsBefore
    )
      return
    // What was told of the row, and of those below it, is found by its key.
    const sentAt = child.keyColumn === undefined ? position : key
    const isKnown = own.length > 0 && !own.includes(undefined)
    for (const reject of [...invalidValues.slice(invalidValuesBefore), ...invalidItems.slice(invalidItemsBefore)])
      reject.place = `/${child.table}/${isKnown ? own.join(",") : sentAt}${reject.place}`
    if (reason !== undefined)
      invalidItems.push({ table: child.table, item: sent, reason, place: `/${child.table}/${sentAt}` })
  }

  /** Adds an item as a row, whose key goes into `own`; or says why it is none. */
  private rejected(
    child: Child,
    rows: ChildRows,
    key: string,
    sent: unknown,
    position: number,
    own: Array<unknown>
  ): string | undefined {
    const item = child.scalar ? { value: sent } : child.plain && isPlain(sent) ? { [child.plain]: sent } : sent
    if (!isObject(item)) return "not an object"
    const { values } = new RowReader(child, this.found).read(item)
    Object.assign(values, child.constants)
    if (child.keyColumn) values[child.keyColumn] = key
    for (const name of child.key) own.push(values[name])
    for (const name of child.identifying)
      if (unfitForKey(values[name])) return `${name} holds half a character or a NUL`
    if (child.key.length === 0) values["position"] = position
    else {
      if (own.includes(undefined)) return `no ${child.key.join(", ")}`
      const identity = own.length === 1 ? own[0] : JSON.stringify(own)
      if (rows.holds(identity)) return `the same ${child.key.join(", ")} twice`
    }
    rows.push(values)
    for (const table of child.below) this.hoist(table, values, child.idColumn)
    return undefined
  }

  /** Rows of a table below a child table stand beside it, with its id. */
  private hoist(table: string, inner: Record<string, unknown>, idColumn: string): void {
    const rows = inner[table] as ChildRows | undefined
    if (rows === undefined) return
    inner[table] = undefined
    const all = (this.values[table] ??= new ChildRows()) as ChildRows
    for (const row of rows) all.push(Object.assign(row, { [idColumn]: row[idColumn] ?? inner["id"] }))
  }

  /** Half a character (a surrogate alone, a byte that is no UTF-8) has no place in any text: U+FFFD stands for it. */
  private put(column: string, converted: unknown, sent: unknown): void {
    this.values[column] = converted
    const suspect = typeof converted === "string" && (!converted.isWellFormed() || converted.includes("\ufffd"))
    if (suspect && hasLoneSurrogates(sent)) this.invalidValue(column, sent, halves, true)
  }

  private invalidValue(column: string, value: unknown, reason: string, kept?: true): void {
    this.found.invalidValues.push({ table: this.shape.table, column, value, reason, place: "", ...(kept && { kept }) })
  }
}

const halves = "holds half a character, kept as U+FFFD"

class ChildRows extends Array<Record<string, unknown>> {
  items = 0
  private readonly identities: Array<unknown> = []
  private seen: Set<unknown> | undefined

  /** Whether such a row is there already; if not, it is from now on. Most lists are short, and some hold thousands. */
  holds(identity: unknown): boolean {
    if (this.seen ? this.seen.has(identity) : this.identities.includes(identity)) return true
    if (this.seen) this.seen.add(identity)
    else if (this.identities.push(identity) > 16) this.seen = new Set(this.identities)
    return false
  }
}

/** As JSON, whatever it is. */
export const printed = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? "null"
  } catch {
    return '"nested too deeply to print"'
  }
}

const isPlain = (value: unknown): boolean => typeof value !== "object" || JSON.isRawJSON(value)

export const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)

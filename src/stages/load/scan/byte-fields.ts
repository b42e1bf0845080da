/** The fields of an object by the bytes of their names, made of a compiled definition. */
import type { Limit, Limits } from "../../../values/limits.ts"
import type { Child, ChildSlot, Shape, Slot, Slots } from "../normalise/compile-fields.ts"
import type { Convert } from "../../../catalog/convert.ts"
import { hashOf, isSame } from "../../../catalog/json-bytes.ts"

/** What becomes of a field. */
export const skipped = 0
export const inColumn = 1
export const inObject = 2
export const inChild = 3
export const isLocation = 4
/** No definition names it. */
export const isUnknown = 5
/** The record needs the normaliser. */
export const isDeclined = 6

/** The types of columns, as numbers. */
export const types = ["text", "instant", "date", "decimal", "count", "flag", "json"] as const
export const [asText, asInstant, asDate, asDecimal, asCount, asFlag, asJson] = [0, 1, 2, 3, 4, 5, 6] as const

/** All fields have one form, because it is read for every value. */
export class ByteField {
  readonly name: Uint8Array
  readonly hash: number
  readonly use: number
  /** The type of a column, its place, and that of its text. */
  readonly type: number
  readonly place: number
  /** -1: none. */
  readonly textPlace: number
  readonly convert: Convert | undefined
  /** Of an object: its own fields, and the columns of the object as sent and of a plain value in its place. */
  readonly inside: ByteFields | undefined
  readonly whole: ByteField | undefined
  readonly plain: ByteField | undefined
  readonly rest: ByteChild | undefined
  readonly child: ByteChild | undefined
  /** Of a field that no definition names: its path from the record or row. */
  readonly unknown: UnknownField | undefined
  /** The object in which it was found last. */
  foundIn = 0

  constructor(name: string, use: number, more: Partial<ByteField> = {}) {
    this.name = Buffer.from(name)
    this.hash = hashOf(this.name)
    this.use = use
    this.type = more.type ?? asText
    this.place = more.place ?? -1
    this.textPlace = more.textPlace ?? -1
    this.convert = more.convert
    this.inside = more.inside
    this.whole = more.whole
    this.plain = more.plain
    this.rest = more.rest
    this.child = more.child
    this.unknown = more.unknown
  }
}

export interface UnknownField {
  readonly table: string
  readonly field: string
  /** The bytes of `\"field\":`, as `_extra` has them; `undefined` if the policy drops the field. */
  readonly printed: Uint8Array | undefined
}

const unknownField = (table: string, field: string, isKept: IsKept): UnknownField => ({
  table,
  field,
  printed: isKept(table, field) ? Buffer.from(`\\"${field}\\":`) : undefined
})

/** Whether an unknown field goes into `_extra`. */
type IsKept = (table: string, field: string) => boolean

/** A child table whose rows an object or a list has. */
export interface ByteChild {
  readonly shape: Child
  readonly place: number
  readonly isList: boolean
  readonly fields: ByteFields
  /** The field of items that are plain values. */
  readonly plain: ByteField | undefined
  readonly constants: ReadonlyArray<readonly [place: number, printed: string]>
}

export class ByteFields {
  private table: Array<ByteField | undefined> = Array.from({ length: 32 })
  private size = 0
  private learnt = 0
  private readonly prefixes: Array<readonly [prefix: Uint8Array, field: ByteField]> = []
  readonly tableName: string
  /** Of the object, from the record or row. */
  readonly path: string
  private readonly isKept: IsKept
  private readonly learntFields: Limit

  constructor(tableName: string, path: string, isKept: IsKept, learntFields: Limit) {
    this.learntFields = learntFields
    this.tableName = tableName
    this.path = path
    this.isKept = isKept
  }

  /** The field whose name is between two places; `undefined` if none of the definition has it, nor was learnt. */
  find(bytes: Uint8Array, from: number, to: number, hash: number): ByteField | undefined {
    const { table } = this
    const mask = table.length - 1
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const field = table[place]
      if (field === undefined) return this.prefixes.length === 0 ? undefined : this.withPrefix(bytes, from, to)
      if (field.hash === hash && isSame(field.name, bytes, from, to)) return field
    }
  }

  private withPrefix(bytes: Uint8Array, from: number, to: number): ByteField | undefined {
    for (const [prefix, field] of this.prefixes)
      if (prefix.length <= to - from && isSame(prefix, bytes, from, from + prefix.length)) return field
    return undefined
  }

  add(name: string, field: ByteField): void {
    if (name.endsWith("*")) this.prefixes.push([Buffer.from(name.slice(0, -1)), field])
    else this.put(field)
  }

  private put(field: ByteField): void {
    if (2 * ++this.size > this.table.length) {
      const fields = this.table
      this.table = Array.from({ length: 4 * fields.length })
      for (const other of fields) if (other !== undefined) this.insert(other)
    }
    this.insert(field)
  }

  private insert(field: ByteField): void {
    const mask = this.table.length - 1
    let place = field.hash & mask
    while (this.table[place] !== undefined) place = (place + 1) & mask
    this.table[place] = field
  }

  /** Makes a field of a name that no definition has; `undefined` if it cannot be one. */
  learn(name: string): ByteField | undefined {
    // A name with a point may be the path of another one.
    if (this.learntFields.isExceededBy(++this.learnt) || name.includes(".")) return undefined
    const unknown = unknownField(this.tableName, this.path + name, this.isKept)
    const learnt = new ByteField(name, isUnknown, { unknown })
    this.put(learnt)
    return learnt
  }
}

/** `declined`: names of fields of the record that only the normaliser reads. */
export const byteFieldsOf = (
  shape: Shape,
  { learntFields }: Limits["load"],
  isKept: IsKept,
  declined: ReadonlyArray<string> = []
): ByteFields => {
  const fieldsOf = (slots: Slots, within: Shape, path: string, declined: ReadonlyArray<string> = []): ByteFields => {
    const fields = new ByteFields(within.table, path, isKept, learntFields)
    for (const [name, slot] of slots.all())
      fields.add(name, declined.includes(name) ? new ByteField(name, isDeclined) : fieldOf(name, slot, within, path))
    return fields
  }
  const childOf = (slot: ChildSlot): ByteChild => {
    const { child, place } = slot
    const plain = child.scalar ? "value" : child.plain
    const slotOfPlain = plain === undefined ? undefined : child.slots.get(plain)
    return {
      shape: child,
      place,
      isList: child.kind === "list",
      fields: fieldsOf(child.slots, child, ""),
      plain: slotOfPlain && fieldOf(plain!, slotOfPlain, child, ""),
      constants: child.constants.map(([place, value]) => [place, JSON.stringify(value)])
    }
  }
  const fieldOf = (name: string, slot: Slot, within: Shape, path: string): ByteField => {
    switch (slot.kind) {
      case "column":
        return new ByteField(name, inColumn, {
          type: types.indexOf(slot.type as (typeof types)[number]),
          place: slot.place,
          textPlace: slot.textPlace ?? -1,
          convert: slot.convert
        })
      case "location":
        return new ByteField(name, isLocation, { unknown: unknownField(within.table, path + name, isKept) })
      case "skip":
        return new ByteField(name, skipped)
      case "child":
        return new ByteField(name, inChild, { child: childOf(slot) })
      case "object":
        return new ByteField(name, inObject, {
          inside: fieldsOf(slot.slots, within, `${path}${name}.`),
          ...(slot.whole && { whole: fieldOf(name, slot.whole, within, path) }),
          ...(slot.plain && { plain: fieldOf(name, slot.plain, within, path) }),
          ...(slot.rest && { rest: childOf(slot.rest) })
        })
    }
  }
  return fieldsOf(shape.slots, shape, "", declined)
}

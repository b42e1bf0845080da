/** A definition's fields compiled for the walk over a record: names resolved, converters chosen, aliases followed. */
import { type ChildField, type ColumnField, type Field, type Fields, isScalar } from "../../catalog/fields.ts"
import { columnName, idColumn } from "../../catalog/tables.ts"
import { type Convert, converters } from "./convert.ts"

export type Slot =
  | {
      readonly kind: "column"
      readonly column: string
      readonly type: string
      readonly convert: Convert
      readonly textColumn?: string
    }
  /** The location's own id: known already, so only a different one is worth keeping. */
  | { readonly kind: "location" }
  | { readonly kind: "skip" }
  | {
      readonly kind: "object"
      readonly slots: Slots
      readonly whole?: Slot
      readonly plain?: Slot
      readonly rest?: Child
    }
  | { readonly kind: "child"; readonly child: Child }

/** Slots by the name of their field, and by how names begin. */
export class Slots extends Map<string, Slot> {
  private readonly beginnings: Array<readonly [beginning: string, slot: Slot]> = []

  define(name: string, slot: Slot): void {
    if (name.endsWith("*")) this.beginnings.push([name.slice(0, -1), slot])
    else this.set(name, slot)
  }

  /** The slot of a field as it was sent. */
  of(name: string): Slot | undefined {
    return this.get(name) ?? this.beginnings.find(([beginning]) => name.startsWith(beginning))?.[1]
  }
}

/** What one table's record looks like. */
export interface Shape {
  readonly table: string
  readonly slots: Slots
  /** Every column and child table, unset: rows begin as its copy, so that equal rows have equal text. */
  readonly blank: Readonly<Record<string, undefined>>
}

export interface Child extends Shape {
  readonly kind: ChildField["kind"]
  readonly key: ReadonlyArray<string>
  readonly keyColumn: string | undefined
  /** All columns that tell its rows apart. */
  readonly identifying: ReadonlyArray<string>
  readonly constants: Readonly<Record<string, string | boolean>>
  /** The item itself is the value of the only field, `value`. */
  readonly scalar: boolean
  /** The field that an item is which is no object. */
  readonly plain: string | undefined
  /** Tables below this one: their rows stand beside its own, with its key in the column `idColumn`. */
  readonly below: ReadonlyArray<string>
  readonly idColumn: string
}

export const compile = (table: string, fields: Fields, further: ReadonlyArray<string>): Shape => {
  const slots = compileInto(new Slots(), fields, "")
  const names = [...further, ...namesIn(slots), "_extra"]
  return { table, slots, blank: Object.fromEntries(names.map((name) => [name, undefined])) }
}

const compileInto = (root: Slots, fields: Fields, prefix: string): Slots => {
  const slots = prefix === "" ? root : new Slots()
  for (const [name, field] of Object.entries(fields))
    if (field.kind !== "alias") slots.set(name, slotOf(root, name, field, prefix))
  for (const [name, field] of Object.entries(fields))
    if (field.kind === "alias") {
      const slot = slots.get(field.of) ?? root.get(field.of)
      if (!slot) throw new Error(`alias ${name} names ${field.of}, which is no field`)
      slots.define(name, slot)
    }
  return slots
}

const slotOf = (root: Slots, name: string, field: Exclude<Field, { kind: "alias" }>, prefix: string): Slot => {
  switch (field.kind) {
    case "column":
      return columnSlot(columnName(prefix, name, field), field)
    case "transport":
      return { kind: "skip" }
    case "object": {
      const slots = compileInto(root, field.fields, `${columnName(prefix, name, {})}_`)
      return {
        kind: "object",
        slots,
        ...(field.whole && { whole: columnSlot(columnName(prefix, name, field.whole), field.whole) }),
        ...(field.plain && { plain: slots.get(field.plain)! }),
        ...(field.rest && { rest: childOf(field.rest) })
      }
    }
    case "list":
    case "entries":
      return { kind: "child", child: childOf(field) }
  }
}

const columnSlot = (column: string, field: ColumnField): Slot =>
  column === "location_id"
    ? { kind: "location" }
    : {
        kind: "column",
        column,
        type: field.type,
        convert: converters[field.type],
        ...(field.textColumn && { textColumn: field.textColumn })
      }

const childOf = (field: ChildField): Child => {
  const keyColumn = field.keyColumn?.name
  const constants = field.constants ?? {}
  const further = ["position", ...(keyColumn ? [keyColumn] : []), ...Object.keys(constants)]
  const shape = compile(field.table, field.fields, further)
  return {
    ...shape,
    kind: field.kind,
    key: field.key,
    keyColumn,
    identifying: keyColumn === undefined ? field.key : [...field.key, keyColumn],
    constants,
    scalar: isScalar(field.fields),
    plain: field.plain,
    below: tablesIn(shape.slots),
    idColumn: idColumn(field.table)
  }
}

const tablesIn = (slots: Slots): ReadonlyArray<string> =>
  [...slots.values()].flatMap((slot) => (slot.kind === "child" ? [slot.child.table, ...slot.child.below] : []))

/** Columns and child tables a record can fill. */
const namesIn = (slots: Slots): ReadonlyArray<string> =>
  [...slots.values()].flatMap((slot): ReadonlyArray<string> => {
    switch (slot.kind) {
      case "column":
        return slot.textColumn ? [slot.column, slot.textColumn] : [slot.column]
      case "object":
        return [
          ...namesIn(slot.slots),
          ...(slot.whole?.kind === "column" ? [slot.whole.column] : []),
          ...(slot.rest ? [slot.rest.table] : [])
        ]
      case "child":
        return [slot.child.table, ...slot.child.below]
      default:
        return []
    }
  })

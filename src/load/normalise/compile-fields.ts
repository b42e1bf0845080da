/** Compiles a definition's fields for mapping records: resolves names and aliases and selects converters. */
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
  /** The location id: the row has it already, so only a different value is stored. */
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

/** Slots by field name, and by prefix for names that end in `*`. */
export class Slots extends Map<string, Slot> {
  private readonly prefixes: Array<readonly [prefix: string, slot: Slot]> = []

  define(name: string, slot: Slot): void {
    if (name.endsWith("*")) this.prefixes.push([name.slice(0, -1), slot])
    else this.set(name, slot)
  }

  /** The slot of a field, by the name the service uses. */
  find(name: string): Slot | undefined {
    return this.get(name) ?? this.prefixes.find(([prefix]) => name.startsWith(prefix))?.[1]
  }
}

/** The structure of one table's records. */
export interface Shape {
  readonly table: string
  readonly slots: Slots
  /** All columns and child tables, unset. Rows start as a copy of it, so that equal rows have equal JSON. */
  readonly blank: Readonly<Record<string, undefined>>
}

export interface Child extends Shape {
  readonly kind: ChildField["kind"]
  readonly key: ReadonlyArray<string>
  readonly keyColumn: string | undefined
  /** All columns that identify a row within its parent. */
  readonly identifying: ReadonlyArray<string>
  readonly constants: Readonly<Record<string, string | boolean>>
  /** Items are plain values of the only field, `value`. */
  readonly scalar: boolean
  /** The field that stores an item that is not an object. */
  readonly plain: string | undefined
  /** Child tables of this one. Their rows are stored beside its own, with its key in the column `idColumn`. */
  readonly below: ReadonlyArray<string>
  readonly idColumn: string
}

export const compile = (table: string, fields: Fields, additional: ReadonlyArray<string>): Shape => {
  const slots = compileInto(new Slots(), fields, "")
  const names = [...additional, ...namesIn(slots), "_extra"]
  return { table, slots, blank: Object.fromEntries(names.map((name) => [name, undefined])) }
}

const compileInto = (root: Slots, fields: Fields, prefix: string): Slots => {
  const slots = prefix === "" ? root : new Slots()
  for (const [name, field] of Object.entries(fields))
    if (field.kind !== "alias") slots.set(name, slotOf(root, name, field, prefix))
  for (const [name, field] of Object.entries(fields))
    if (field.kind === "alias") {
      const slot = slots.get(field.of) ?? root.get(field.of)
      if (!slot) throw new Error(`alias ${name} names ${field.of}, which is not a field`)
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
  const additional = ["position", ...(keyColumn ? [keyColumn] : []), ...Object.keys(constants)]
  const shape = compile(field.table, field.fields, additional)
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

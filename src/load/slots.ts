/** A definition's fields compiled for the walk over a record: names resolved, converters chosen, aliases followed. */
import type { ChildField, ColumnField, Field, Fields } from "../catalog/fields.ts"
import { columnName } from "../catalog/tables.ts"
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
  | { readonly kind: "object"; readonly slots: Slots; readonly whole?: Slot; readonly rest?: Child }
  | { readonly kind: "child"; readonly child: Child }
export type Slots = ReadonlyMap<string, Slot>

export interface Child {
  readonly kind: ChildField["kind"]
  readonly table: string
  readonly key: ReadonlyArray<string>
  readonly keyColumn: string | undefined
  readonly constants: Readonly<Record<string, boolean>>
  /** The item itself is the value of the only field, `value`. */
  readonly scalar: boolean
  readonly slots: Slots
  readonly columns: ReadonlyArray<string>
}

export const compile = (fields: Fields): Slots => compileInto(new Map(), fields, "")

const compileInto = (root: Map<string, Slot>, fields: Fields, prefix: string): Slots => {
  const slots = prefix === "" ? root : new Map<string, Slot>()
  for (const [name, field] of Object.entries(fields))
    if (field.kind !== "alias") slots.set(name, slotOf(root, name, field, prefix))
  for (const [name, field] of Object.entries(fields))
    if (field.kind === "alias") {
      const slot = slots.get(field.of) ?? root.get(field.of)
      if (!slot) throw new Error(`alias ${name} names ${field.of}, which is no field`)
      slots.set(name, slot)
    }
  return slots
}

const slotOf = (
  root: Map<string, Slot>,
  name: string,
  field: Exclude<Field, { kind: "alias" }>,
  prefix: string
): Slot => {
  switch (field.kind) {
    case "column":
      return columnSlot(columnName(prefix, name, field), field)
    case "transport":
      return { kind: "skip" }
    case "object":
      return {
        kind: "object",
        slots: compileInto(root, field.fields, `${columnName(prefix, name, {})}_`),
        ...(field.whole && { whole: columnSlot(columnName(prefix, name, field.whole), field.whole) }),
        ...(field.rest && { rest: childOf(field.rest) })
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
  const names = Object.keys(field.fields)
  const slots = compile(field.fields)
  const keyColumn = field.keyColumn?.name
  return {
    kind: field.kind,
    table: field.table,
    key: field.key,
    keyColumn,
    constants: field.constants ?? {},
    scalar: names.length === 1 && names[0] === "value",
    slots,
    columns: [...(keyColumn ? [keyColumn] : ["position"]), ...columnsOf(slots), ...Object.keys(field.constants ?? {})]
  }
}

/** The columns a record can fill, in a fixed order. */
export const columnsOf = (slots: Slots): ReadonlyArray<string> => {
  const columns = [...slots.values()].flatMap((slot): ReadonlyArray<string> => {
    switch (slot.kind) {
      case "column":
        return slot.textColumn ? [slot.column, slot.textColumn] : [slot.column]
      case "object":
        return [...columnsOf(slot.slots), ...(slot.whole?.kind === "column" ? [slot.whole.column] : [])]
      default:
        return []
    }
  })
  return [...new Set(columns)]
}

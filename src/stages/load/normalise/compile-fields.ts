/** Compiles a definition's fields for mapping records: resolves names and aliases, and selects places and converters. */
import {
  type ChildField,
  type ColumnField,
  type Field,
  type Fields,
  isScalar,
  columnName
} from "../../../catalog/fields.ts"
import { TotalMap } from "../../../catalog/present.ts"
import { idColumn } from "../../../catalog/tables.ts"
import { type Convert, converters } from "../../../catalog/convert.ts"

export type Slot =
  | {
      readonly kind: "column"
      readonly column: string
      readonly place: number
      readonly type: string
      readonly convert: Convert
      /** The place of the same value as text for people. */
      readonly textPlace: number | undefined
    }
  /** The location id: the row has it already, so only a different value is stored. */
  | { readonly kind: "location" }
  | { readonly kind: "skip" }
  | {
      readonly kind: "object"
      readonly slots: Slots
      readonly whole?: Slot
      readonly plain?: Slot
      readonly rest?: ChildSlot
    }
  | ChildSlot

export interface ChildSlot {
  readonly kind: "child"
  readonly child: Child
  readonly place: number
}

/** Slots by field name, and by prefix for names that end in `*`. */
export class Slots extends Map<string, Slot> {
  private readonly prefixes: Array<readonly [prefix: string, slot: Slot]> = []

  define(name: string, slot: Slot): void {
    if (name.endsWith("*")) this.prefixes.push([name.slice(0, -1), slot])
    else this.set(name, slot)
  }

  /** All slots; the name of a prefix ends in `*`. */
  all(): ReadonlyArray<readonly [name: string, slot: Slot]> {
    return [...this, ...this.prefixes.map(([prefix, slot]) => [`${prefix}*`, slot] as const)]
  }

  /** The slot of a field, by the name the service uses. */
  find(name: string): Slot | undefined {
    return this.get(name) ?? this.prefixes.find(([prefix]) => name.startsWith(prefix))?.[1]
  }
}

/** The columns and child tables of a row: each has a place, so that a row is an array, and equal rows have equal JSON. */
class Places {
  readonly names: Array<string> = []

  /** The place of a column; a new one if it has none. */
  add(name: string): number {
    const place = this.names.indexOf(name)
    return place < 0 ? this.names.push(name) - 1 : place
  }
}

/** The structure of one table's records. */
export interface Shape {
  readonly table: string
  readonly slots: Slots
  readonly places: TotalMap<string, number>
  /** By place, the bytes of `"name":`. */
  readonly printedNames: ReadonlyArray<Uint8Array>
  readonly blank: ReadonlyArray<undefined>
  /** The place of `_extra`. */
  readonly extra: number
}

export interface Child extends Shape {
  readonly kind: ChildField["kind"]
  readonly key: ReadonlyArray<string>
  readonly keyPlaces: ReadonlyArray<number>
  readonly keyColumnPlace: number | undefined
  /** The place of `position`, if it identifies the row. */
  readonly positionPlace: number | undefined
  /** All columns that identify a row within its parent. */
  readonly identifying: ReadonlyArray<readonly [column: string, place: number]>
  readonly constants: ReadonlyArray<readonly [place: number, value: string | boolean]>
  /** Items are plain values of the only field, `value`. */
  readonly scalar: boolean
  /** The field that stores an item that is not an object. */
  readonly plain: string | undefined
  /** Child tables of this one. Their rows are stored beside its own, with its key in the column `idColumn`. */
  readonly below: ReadonlyArray<string>
  readonly idColumn: string
}

/**
 * `first`: columns before those of the fields. `ancestors`: id columns of the child tables that contain the rows, innermost
 * first.
 */
export const compile = (
  table: string,
  fields: Fields,
  first: ReadonlyArray<string>,
  ancestors: ReadonlyArray<string> = [],
  ancestorsBelow = ancestors
): Shape => {
  const places = new Places()
  for (const name of first) places.add(name)
  const slots = compileInto({ places, ancestorsBelow, root: undefined }, fields, "")
  const extra = places.add("_extra")
  for (const name of ancestors) places.add(name)
  return {
    table,
    slots,
    places: new TotalMap(places.names.map((name, place) => [name, place])),
    printedNames: places.names.map((name) => Buffer.from(`${JSON.stringify(name)}:`)),
    blank: places.names.map(() => undefined),
    extra
  }
}

/** What the fields of one table share. */
interface Context {
  readonly places: Places
  /** The ancestors of the child tables among the fields. */
  readonly ancestorsBelow: ReadonlyArray<string>
  /** The fields of the record around an object. */
  readonly root: Slots | undefined
}

const compileInto = (context: Context, fields: Fields, prefix: string): Slots => {
  const slots = new Slots()
  const root = context.root ?? slots
  for (const [name, field] of Object.entries(fields))
    if (field.kind !== "alias") slots.set(name, slotOf({ ...context, root }, name, field, prefix))
  for (const [name, field] of Object.entries(fields))
    if (field.kind === "alias") {
      const slot = slots.get(field.of) ?? root.get(field.of)
      if (!slot) throw new Error(`alias ${name} names ${field.of}, which is not a field`)
      slots.define(name, slot)
    }
  return slots
}

const slotOf = (context: Context, name: string, field: Exclude<Field, { kind: "alias" }>, prefix: string): Slot => {
  const { places } = context
  switch (field.kind) {
    case "column":
      return columnSlot(places, columnName(prefix, name, field), field)
    case "transport":
      return { kind: "skip" }
    case "object": {
      const slots = compileInto(context, field.fields, `${columnName(prefix, name, {})}_`)
      return {
        kind: "object",
        slots,
        ...(field.whole && { whole: columnSlot(places, columnName(prefix, name, field.whole), field.whole) }),
        ...(field.plain && { plain: slots.get(field.plain)! }),
        ...(field.rest && { rest: childSlot(context, field.rest) })
      }
    }
    case "list":
    case "entries":
      return childSlot(context, field)
  }
}

const columnSlot = (places: Places, column: string, field: ColumnField): Slot =>
  column === "location_id"
    ? { kind: "location" }
    : {
        kind: "column",
        column,
        place: places.add(column),
        type: field.type,
        convert: converters[field.type],
        textPlace: field.textColumn === undefined ? undefined : places.add(field.textColumn)
      }

const childSlot = ({ places, ancestorsBelow }: Context, field: ChildField): ChildSlot => {
  const child = childOf(field, ancestorsBelow)
  const place = places.add(field.table)
  for (const table of child.below) places.add(table)
  return { kind: "child", child, place }
}

const childOf = (field: ChildField, ancestors: ReadonlyArray<string>): Child => {
  const { key, keyColumn } = field
  const constants = Object.entries(field.constants ?? {})
  const own = idColumn(field.table)
  const first = ["position", ...(keyColumn ? [keyColumn.name] : []), ...constants.map(([name]) => name)]
  const shape = compile(field.table, field.fields, first, ancestors, [own, ...ancestors])
  const placeOf = (column: string) => shape.places.of(column)
  const identifying = keyColumn === undefined ? key : [...key, keyColumn.name]
  return {
    ...shape,
    kind: field.kind,
    key,
    keyPlaces: key.map(placeOf),
    keyColumnPlace: keyColumn && placeOf(keyColumn.name),
    positionPlace: key.length === 0 ? placeOf("position") : undefined,
    identifying: identifying.map((column) => [column, placeOf(column)]),
    constants: constants.map(([name, value]) => [placeOf(name), value]),
    scalar: isScalar(field.fields),
    plain: field.plain,
    below: tablesIn(shape.slots),
    idColumn: own
  }
}

const tablesIn = (slots: Slots): ReadonlyArray<string> =>
  [...slots.values()].flatMap((slot) => (slot.kind === "child" ? [slot.child.table, ...slot.child.below] : []))

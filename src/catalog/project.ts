/** The part of a record, as the service sent it, that its definition names and certain rules keep. */
import {
  type ChildField,
  type ColumnField,
  type Fields,
  type NamedField,
  fieldNamed,
  isScalar,
  columnName
} from "./fields.ts"
import { isNested, isObject } from "./json.ts"
import { type Resource, fieldsOf } from "./resource.ts"

/** What stands where something is taken out. */
export const removed = Symbol("removed")

export interface Rules {
  /** What stays of the value of a column, which is no object or list, unless the column is JSON. */
  readonly column: (field: ColumnField, sent: unknown, table: string, column: string) => unknown
  /** Whether a child table has rows. */
  readonly hasChild: (child: ChildField) => boolean
  /** Whether an item of a child table stays. `key`: of an object whose keys are data. */
  readonly hasItem?: (child: ChildField, item: unknown, key: string) => boolean
  readonly transport: (sent: unknown) => unknown
}

/** Unknown fields and values of another shape than the definition says go. `null` if nothing stays. */
export const projected = (resource: Resource, sent: unknown, rules: Rules): unknown => {
  const record = fieldsOf(resource)

  const members = (sent: object, fields: Fields, table: string, prefix: string, rest?: ChildField): object =>
    keptMembers(sent, (name, value) => {
      const named = fieldNamed(fields, record, name)
      if (named === undefined) return rest === undefined || !rules.hasChild(rest) ? removed : item(rest, value, name)
      return value === null ? value : member(named, value, table, prefix)
    })

  const member = ({ field, isOfRecord, name }: NamedField, value: unknown, table: string, around: string): unknown => {
    const prefix = isOfRecord ? "" : around
    switch (field.kind) {
      case "transport":
        return rules.transport(value)
      case "column":
        return isNested(value) && field.type !== "json"
          ? removed
          : rules.column(field, value, table, columnName(prefix, name, field))
      case "object": {
        const inside = `${columnName(prefix, name, {})}_`
        if (isObject(value)) return members(value, field.fields, table, inside, field.rest)
        const plain = field.plain === undefined ? undefined : fieldNamed(field.fields, record, field.plain)
        return plain === undefined || isNested(value) ? removed : member(plain, value, table, inside)
      }
      case "list":
      case "entries":
        return children(field, value)
    }
  }

  const children = (child: ChildField, value: unknown): unknown => {
    if (!rules.hasChild(child)) return removed
    if (child.kind === "list" && Array.isArray(value))
      return value.map((one) => item(child, one, "")).filter((one) => one !== removed)
    return child.kind === "entries" && isObject(value)
      ? keptMembers(value, (key, one) => item(child, one, key))
      : removed
  }

  const item = (child: ChildField, sent: unknown, key: string): unknown => {
    if (rules.hasItem?.(child, sent, key) === false) return removed
    return whole(child.fields, sent, child.table, child.plain)
  }

  /** A record or item. `plain`: the field of one that is a plain value. */
  const whole = (fields: Fields, sent: unknown, table: string, plain?: string): unknown => {
    if (isObject(sent) && !isScalar(fields)) return members(sent, fields, table, "")
    const named = fieldNamed(fields, record, isScalar(fields) ? "value" : (plain ?? ""))
    return named === undefined ? removed : member(named, sent, table, "")
  }

  const kept = whole(record, sent, resource.table)
  return kept === removed ? null : kept
}

/** An object of what `keep` makes of the members. */
const keptMembers = (sent: object, keep: (name: string, value: unknown) => unknown): object =>
  // It defines properties, so a member called __proto__ stays one.
  Object.fromEntries(
    Object.entries(sent).flatMap(([name, value]) => {
      const one = keep(name, value)
      return one === removed ? [] : [[name, one]]
    })
  )

/**
 * A record that the law wants kept, without its person: amounts, dates and states stay; what says something about a person,
 * and what no definition names, goes. It works on records as they were sent, so that a rebuild stores the same rows.
 */
import {
  type ChildField,
  type ColumnField,
  type Field,
  type Fields,
  fieldNamed,
  isScalar
} from "../../../catalog/fields.ts"
import type { Resource } from "../../../catalog/resource.ts"
import { columnName } from "../../../catalog/tables.ts"
import { Adjusted, converters, rejected } from "../../../catalog/convert.ts"
import { isObject } from "../../../stages/load/normalise/map-record.ts"

/** The pseudonym of an erased contact; any other id as it is. */
export type Pseudonym = (contact: string) => string

/** A record without its person. Repeating it changes nothing. */
export const anonymised = ({ detail, fields }: Resource, record: unknown, pseudonym: Pseudonym): unknown => {
  const all = { ...fields, ...detail?.fields }
  const withoutPerson = (fields: Fields, value: object): unknown =>
    Object.fromEntries(
      Object.entries(value).flatMap(([name, sent]) => {
        const field = fieldOf(fields, name)
        const kept = field && keptOf(field, sent)
        return kept === undefined ? [] : [[name, kept]]
      })
    )
  /** `undefined` for what goes. */
  const keptOf = (field: Exclude<Field, { readonly kind: "alias" }>, sent: unknown): unknown => {
    if (sent === null) return sent
    switch (field.kind) {
      case "transport":
        return sent
      case "column":
        return keptColumn(field, sent)
      case "object":
        if (isObject(sent)) return withoutPerson(field.fields, sent)
        return field.plain === undefined ? undefined : keptField(field.fields, field.plain, sent)
      case "list":
        return Array.isArray(sent) && hasImpersonalKey(field) ? sent.map((item) => keptItem(field, item)) : undefined
      case "entries":
        return isObject(sent) && hasImpersonalKey(field)
          ? Object.fromEntries(Object.entries(sent).map(([key, item]) => [key, keptItem(field, item)]))
          : undefined
    }
  }
  const keptColumn = (field: ColumnField, sent: unknown): unknown => {
    if (!isImpersonal(field) || (typeof sent === "object" && field.type !== "json" && !JSON.isRawJSON(sent)))
      return undefined
    // What is no number or time may be any text.
    const read = converters[field.type](sent)
    if (read === rejected || (read instanceof Adjusted && read.value === rejected)) return undefined
    return field.references === "contacts" && typeof sent === "string" ? pseudonym(sent) : sent
  }
  const keptItem = ({ fields, plain }: ChildField, item: unknown): unknown =>
    isObject(item) ? withoutPerson(fields, item) : keptField(fields, plain ?? "value", item)
  const keptField = (fields: Fields, name: string, sent: unknown): unknown => {
    const field = fieldOf(fields, name)
    return field && keptOf(field, sent)
  }
  const fieldOf = (fields: Fields, name: string) => fieldNamed(fields, all, name)?.field
  return isObject(record) ? withoutPerson(all, record) : record
}

const isImpersonal = ({ personal = "none" }: ColumnField): boolean => personal === "none" || personal === "financial"

/** A row cannot be without its key, and an item that is a plain value is nothing without it. */
const hasImpersonalKey = ({ fields, key, keyColumn, plain }: ChildField): boolean =>
  [
    ...(keyColumn ? [keyColumn.field] : []),
    ...(plain === undefined && !isScalar(fields) ? [] : [fields[plain ?? "value"]]),
    ...Object.entries(fields).flatMap(([name, field]) =>
      field.kind === "column" && key.includes(columnName("", name, field)) ? [field] : []
    )
  ].every((field) => field?.kind !== "column" || isImpersonal(field))

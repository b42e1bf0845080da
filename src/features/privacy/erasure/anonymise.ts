/**
 * A record that the law wants kept, without its person: amounts, dates and states stay; what says something about a person,
 * and what no definition names, goes. It works on records as they were sent, so that a rebuild stores the same rows.
 */
import { type ChildField, type ColumnField, isScalar } from "../../../catalog/fields.ts"
import { projected, removed } from "../../../catalog/project.ts"
import type { Resource } from "../../../catalog/resource.ts"
import { columnName } from "../../../catalog/tables.ts"
import { Adjusted, converters, rejected } from "../../../catalog/convert.ts"

/** The pseudonym of an erased contact; any other id as it is. */
export type Pseudonym = (contact: string) => string

/** A record without its person. Repeating it changes nothing. */
export const anonymised = (resource: Resource, record: unknown, pseudonym: Pseudonym): unknown => {
  const column = (field: ColumnField, sent: unknown): unknown => {
    if (!isImpersonal(field)) return removed
    // What is no number or time may be any text.
    const read = converters[field.type](sent)
    if (read === rejected || (read instanceof Adjusted && read.value === rejected)) return removed
    return field.references === "contacts" && typeof sent === "string" ? pseudonym(sent) : sent
  }
  return projected(resource, record, { column, hasChild: hasImpersonalKey, transport: (sent) => sent })
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

/**
 * Keeps of a record, as the service sent it, what its definition names and the settings do not keep out, in every place from
 * which the load would store it. Everything else goes: unknown fields, and values of another shape than the definition says.
 */
import { type ChildField, type ColumnField, type Fields, type ObjectField, fieldNamed, isScalar } from "./fields.ts"
import { placesOf } from "./field-places.ts"
import type { Resource } from "./resource.ts"
import type { Role } from "./roles.ts"
import { columnName } from "./tables.ts"
import {
  type Withheld,
  type WithheldCustomFields,
  isFieldWithheld,
  isWithout,
  shortKey,
  withheldIn
} from "./withheld.ts"

export interface WithholdOptions {
  readonly hash: (location: string, value: string, role: Role | undefined) => string
  /** The keys of the custom fields of a location by their ids; `undefined` while they are not known. */
  readonly fieldsOf: (location: string) => ReadonlyMap<string, string> | undefined
}

/** What is stored of a record, as values of JSON; leaves what it gets as it is. */
export type Withholder = (sent: unknown, location: string) => unknown

/** `undefined` if the settings keep nothing of the resource out, so that its responses are stored as they were received. */
export const withholderOf = (
  resource: Resource,
  resources: ReadonlyArray<Resource>,
  options: WithholdOptions
): Withholder | undefined => {
  const { withheld } = resource
  if (withheld === undefined || resource.isReshaped) return undefined
  // A record about a contact may repeat anything of the contact in unknown fields, and a form asks for it by name.
  const contacts = resource.person && resources.find(({ table }) => table === "contacts")
  const subjects = contacts ? [resource, contacts] : [resource]
  if (!subjects.some((one) => withholdsFrom(withheld, one))) return undefined
  const names = new Set(subjects.flatMap((one) => namesOf(withheld, one)))
  const fields = { ...resource.fields, ...resource.detail?.fields }
  return (sent, location) => readerOf(withheld, fields, names, options, location)(sent, resource.table)
}

/** Whether anything of a resource is kept out. */
export const withholdsFrom = (withheld: Withheld, resource: Resource): boolean => {
  const { children, columns } = placesOf(resource)
  return (
    [resource.table, ...children.map(({ child }) => child.table)].some(
      (table) => withheld.withoutUnknown.has(table) || isWithout(withheld, table)
    ) ||
    columns.some(
      ({ column, field, table }) =>
        withheldIn(withheld, table, column) !== undefined ||
        (withheld.customFields !== undefined && field.role === "customValue")
    )
  )
}

/** The plain names of the columns that are kept out. */
const namesOf = (withheld: Withheld, resource: Resource): ReadonlyArray<string> =>
  placesOf(resource)
    .columns.filter(({ table, column }) => withheldIn(withheld, table, column) !== undefined)
    .flatMap(({ column, names }) => [column, ...names].map(plainName))

/** In small letters and digits: forms spell a name in several ways. */
const plainName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "")

const removed = Symbol("removed")

/** The table of a record or item, and the prefix of the columns of the object in it. */
interface Place {
  readonly table: string
  readonly prefix: string
}

const readerOf = (
  withheld: Withheld,
  record: Fields,
  names: ReadonlySet<string>,
  { fieldsOf, hash }: WithholdOptions,
  location: string
) => {
  /** An object of what `keep` makes of the members, without those that it removes. */
  const kept = (sent: object, keep: (name: string, value: unknown) => unknown): object =>
    // It defines properties, so a member called __proto__ stays one.
    Object.fromEntries(
      Object.entries(sent).flatMap(([name, value]) => {
        const one = keep(name, value)
        return one === removed ? [] : [[name, one]]
      })
    )

  const members = (sent: object, fields: Fields, place: Place, rest?: ChildField): object =>
    kept(sent, (name, value) => {
      const named = fieldNamed(fields, record, name)
      if (named === undefined)
        return rest === undefined || isWithout(withheld, rest.table) ? removed : item(rest, value, name)
      return value === null ? value : member(named, value, place)
    })

  const member = (
    { field, isOfRecord, name }: NonNullable<ReturnType<typeof fieldNamed>>,
    value: unknown,
    around: Place
  ): unknown => {
    const place = isOfRecord ? { ...around, prefix: "" } : around
    switch (field.kind) {
      case "transport":
        return removed
      case "column":
        return column(field, columnName(place.prefix, name, field), value, place)
      case "object":
        return object(field, name, value, place)
      case "list":
      case "entries":
        return children(field, value)
    }
  }

  const column = (field: ColumnField, name: string, value: unknown, { table }: Place): unknown => {
    const rule = withheldIn(withheld, table, name)
    if (rule === "excluded" || (isNested(value) && field.type !== "json")) return removed
    return rule === "hashed" ? hashed(field, value) : value
  }

  const hashed = ({ role }: ColumnField, value: unknown): string => {
    const text = JSON.isRawJSON(value) ? value.rawJSON : String(value)
    return text === "" ? text : hash(location, text, role)
  }

  const object = ({ fields, plain, rest }: ObjectField, name: string, value: unknown, place: Place): unknown => {
    const inside = { ...place, prefix: `${columnName(place.prefix, name, {})}_` }
    if (isObject(value)) return members(value, fields, inside, rest)
    return plain === undefined || isNested(value) ? removed : member(fieldNamed(fields, record, plain)!, value, inside)
  }

  const children = (child: ChildField, value: unknown): unknown => {
    if (isWithout(withheld, child.table)) return removed
    if (child.kind === "list" && Array.isArray(value))
      return value.map((one) => item(child, one, "")).filter((one) => one !== removed)
    return child.kind === "entries" && isObject(value) ? kept(value, (key, one) => item(child, one, key)) : removed
  }

  /** `key`: of an object whose keys are data. */
  const item = (child: ChildField, sent: unknown, key: string): unknown => {
    const place = { table: child.table, prefix: "" }
    const isCustom = Object.values(child.fields).some((one) => one.kind === "column" && one.role === "customValue")
    if (isCustom) {
      const texts = child.kind === "entries" ? [key] : fieldTexts(child.fields, sent)
      if (texts.some((text) => names.has(plainName(text)))) return removed
      if (withheld.customFields && isValueOut(withheld.customFields, fieldsOf(location), texts)) return removed
    }
    const plain = isScalar(child.fields) ? "value" : child.plain
    if (isObject(sent) && !isScalar(child.fields)) return members(sent, child.fields, place)
    return plain === undefined || (isNested(sent) && !isCustom)
      ? removed
      : column(child.fields[plain] as ColumnField, columnOfPlain(child.fields, plain), sent, place)
  }

  return (sent: unknown, table: string): unknown => {
    const place = { table, prefix: "" }
    if (isObject(sent)) return members(sent, record, place)
    if (!isScalar(record)) return null
    const value = column(record["value"] as ColumnField, columnOfPlain(record, "value"), sent, place)
    return value === removed ? null : value
  }
}

const columnOfPlain = (fields: Fields, name: string): string => columnName("", name, fields[name] as ColumnField)

/** What names the custom field of a value: its id or its key. */
const fieldTexts = (fields: Fields, sent: unknown): ReadonlyArray<string> =>
  isObject(sent)
    ? Object.entries(sent).flatMap(([name, text]) => {
        const field = fields[name]
        const isName = field?.kind === "column" && (field.references === "custom_fields" || name === "key")
        return isName && typeof text === "string" && text !== "" ? [text] : []
      })
    : []

/** Whether the value of a custom field is kept out. A field that is not known may be any. */
const isValueOut = (
  customFields: WithheldCustomFields,
  keys: ReadonlyMap<string, string> | undefined,
  texts: ReadonlyArray<string>
): boolean => {
  const isFieldOut = (text: string): boolean => {
    const own = text.replaceAll(/[{}\s]/g, "")
    const isNamed = (full: string) => full === own || shortKey(full) === own
    const known = keys?.get(text) ?? keys?.values().find(isNamed)
    if (known === undefined && looksLikeId(text)) return true
    return isFieldWithheld(customFields, known ?? own) || customFields.keys.values().some(isNamed)
  }
  return keys === undefined || texts.length === 0 || texts.some(isFieldOut)
}

/** Whether a text looks like an id of the service, and not like the key of a field of a form. */
const looksLikeId = (text: string): boolean => /^[A-Za-z0-9]{15,}$/.test(text)

const isNested = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !JSON.isRawJSON(value)

const isObject = (value: unknown): value is object => isNested(value) && !Array.isArray(value)

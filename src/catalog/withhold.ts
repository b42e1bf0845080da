/**
 * Keeps of a record, as the service sent it, what its definition names and the settings do not keep out, in every place from
 * which the load would store it. Everything else goes: unknown fields, and values of another shape than the definition says.
 */
import type { ChildField, ColumnField, Fields } from "./fields.ts"
import { placesOf } from "./field-places.ts"
import { isObject } from "./json.ts"
import { projected, removed } from "./project.ts"
import type { Resource } from "./resource.ts"
import type { Role } from "./roles.ts"
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
  return (sent, location) => {
    const column = ({ role }: ColumnField, value: unknown, table: string, name: string): unknown => {
      const rule = withheldIn(withheld, table, name)
      if (rule !== "hashed") return rule === "excluded" ? removed : value
      const text = JSON.isRawJSON(value) ? value.rawJSON : String(value)
      return text === "" ? text : options.hash(location, text, role)
    }
    const hasItem = (child: ChildField, item: unknown, key: string): boolean => {
      if (!isOfCustomField(child)) return true
      const texts = child.kind === "entries" ? [key] : fieldTexts(child.fields, item)
      if (texts.some((text) => names.has(plainName(text)))) return false
      return !withheld.customFields || !isValueOut(withheld.customFields, options.fieldsOf(location), texts)
    }
    return projected(resource, sent, {
      column,
      hasChild: ({ table }) => !isWithout(withheld, table),
      hasItem,
      // It may be a copy, for example in small letters, and nothing reads it again.
      transport: () => removed
    })
  }
}

const isOfCustomField = ({ fields }: ChildField): boolean =>
  Object.values(fields).some((one) => one.kind === "column" && one.role === "customValue")

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

/**
 * Removes from a record, as the service sent it, what the settings keep out. It follows the definition, so that it finds a value
 * by every name and in every place from which the load would store it; what has another shape than the definition says goes
 * as a whole, because the load would store it as a rejected value.
 */
import { type ChildField, type ColumnField, type Fields, type ObjectField, fieldNamed, isScalar } from "./fields.ts"
import { type Places, placesOf } from "./field-places.ts"
import type { Resource } from "./resource.ts"
import type { Role } from "./roles.ts"
import { columnName } from "./tables.ts"
import { type Withheld, isWithout, withheldIn } from "./withheld.ts"
import { fieldNames, fieldTexts, withheldFields } from "./withheld-fields.ts"

export interface WithholdOptions {
  readonly hash: (location: string, value: string, role: Role | undefined) => string
  /** The keys of the custom fields of a location by their ids; `undefined` while they are not known. */
  readonly fieldsOf: (location: string) => ReadonlyMap<string, string> | undefined
}

/** Works on values of JSON, and leaves what it gets as it is. */
export interface Withholder {
  readonly record: (sent: unknown, location: string) => unknown
  /** For what a response has beside its records. */
  readonly beside: (sent: unknown, location: string) => unknown
}

/** `undefined` if the settings keep nothing of the resource out, so that its responses are stored as they were received. */
export const withholderOf = (
  resource: Resource,
  resources: ReadonlyArray<Resource>,
  options: WithholdOptions
): Withholder | undefined => {
  const { withheld } = resource
  if (withheld === undefined || resource.isReshaped) return undefined
  const places = placesOf(resource)
  const contacts = resource.person && resources.find(({ table }) => table === "contacts")
  const isOfFields = resource.person !== undefined || places.columns.some(({ field }) => field.role === "customValue")
  const names = new Set([
    ...[resource, contacts].flatMap((one) => (one ? namesOf(withheld, one) : [])),
    ...(isOfFields ? fieldNames(withheld).map(plainName) : [])
  ])
  const namesByTable = new Map(resources.map((one) => [one.table, new Set(namesOf(withheld, one))]))
  if (!isConcerned(withheld, resource.table, places, names, namesByTable)) return undefined
  const context = { withheld, names, namesByTable, options, fields: { ...resource.fields, ...resource.detail?.fields } }
  return {
    record: (sent, location) => readerOf(context, location).record(sent, resource.table),
    beside: (sent, location) => readerOf(context, location).without(sent, names)
  }
}

interface Context {
  readonly withheld: Withheld
  /** Plain names that no unknown field may have. */
  readonly names: ReadonlySet<string>
  readonly namesByTable: ReadonlyMap<string, ReadonlySet<string>>
  readonly options: WithholdOptions
  /** Of the record. */
  readonly fields: Fields
}

const isConcerned = (
  { customFields, excluded, withoutUnknown }: Withheld,
  own: string,
  { children, columns }: Places,
  names: ReadonlySet<string>,
  namesByTable: Context["namesByTable"]
): boolean =>
  names.size > 0 ||
  [own, ...children.map(({ child }) => child.table)].some(
    (table) => withoutUnknown.has(table) || excluded.has(table)
  ) ||
  (customFields !== undefined && columns.some(({ field }) => field.role === "customValue")) ||
  columns.some(({ field }) => (namesByTable.get(field.copyOf ?? "")?.size ?? 0) > 0)

/** The names of every resource are needed for each. */
const namesByResource = new WeakMap<Resource, ReadonlyArray<string>>()

/** The plain names under which what is kept out may come back among unknown fields. */
const namesOf = (withheld: Withheld, resource: Resource): ReadonlyArray<string> => {
  const known = namesByResource.get(resource)
  if (known) return known
  const { children, columns } = placesOf(resource)
  const names = [
    ...columns
      .filter(({ isWhole, table, column }) => !isWhole && withheldIn(withheld, table, column) !== undefined)
      .flatMap(({ column, names }) => [column, ...names]),
    ...children.flatMap(({ child, names }) => (isWithout(withheld, child.table) ? [child.table, ...names] : []))
  ].map(plainName)
  namesByResource.set(resource, names)
  return names
}

/** In small letters and digits: services spell a name in several ways. */
const plainName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "")

const removed = Symbol("removed")

/** Nothing that people send is nested so deeply, and deeper values could not be printed. */
const depthMax = 100

/** The table of a record or item, and the prefix of the columns and the path of the names of the object in it. */
interface Place {
  readonly table: string
  readonly prefix: string
  readonly path: string
}

const readerOf = ({ withheld, names, namesByTable, options, fields: record }: Context, location: string) => {
  const { customFields } = withheld
  const fields = withheldFields(customFields, options.fieldsOf(location))
  const how = ({ table }: Place, column: string) => withheldIn(withheld, table, column)

  /** An object without the members for which `keep` returns `removed`. */
  const kept = (sent: object, keep: (name: string, value: unknown) => unknown): object =>
    // It defines properties, so a member called __proto__ stays one.
    Object.fromEntries(
      Object.entries(sent).flatMap(([name, value]) => {
        const one = keep(name, value)
        return one === removed ? [] : [[name, one]]
      })
    )

  const members = (sent: object, fields: Fields, place: Place, rest?: ChildField, isWhole = true): object =>
    kept(sent, (name, value) => {
      const named = fieldNamed(fields, record, name)
      if (named === undefined) {
        if (rest) return isWithout(withheld, rest.table) ? removed : item(rest, value, name)
        const isOut = !isWhole || withheld.withoutUnknown.has(place.table) || isName(place.path + name)
        return isOut ? removed : memberWithout(name, value, names)
      }
      const at = named.isOfRecord ? { ...place, prefix: "", path: "" } : place
      return value === null ? value : member(named.field, named.name, value, at)
    })

  const isName = (name: string) => names.has(plainName(name))

  const member = (
    field: Exclude<Fields[string], { kind: "alias" }>,
    name: string,
    value: unknown,
    place: Place
  ): unknown => {
    switch (field.kind) {
      // It may be a copy, for example in small letters, and nothing reads it again.
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

  const column = (field: ColumnField, name: string, value: unknown, place: Place): unknown => {
    const rule = how(place, name)
    if (rule === "excluded") return removed
    if (rule === "hashed") return hashed(field, value)
    if (!isNested(value)) return value
    const copied = field.copyOf === undefined ? undefined : namesByTable.get(field.copyOf)
    if (field.type === "json") return copied ? without(value, copied) : value
    return without(value, names)
  }

  const hashed = ({ role }: ColumnField, value: unknown): unknown => {
    if (isNested(value)) return removed
    const text = JSON.isRawJSON(value) ? value.rawJSON : String(value)
    return text === "" ? text : options.hash(location, text, role)
  }

  const object = ({ fields, plain, rest, whole }: ObjectField, name: string, value: unknown, place: Place): unknown => {
    const inside = { ...place, prefix: `${columnName(place.prefix, name, {})}_`, path: `${place.path}${name}.` }
    const rule = whole && how(place, columnName(place.prefix, name, whole))
    if (isObject(value)) return members(value, fields, inside, rest, rule === undefined)
    if (plain !== undefined && !isNested(value)) {
      const named = fieldNamed(fields, record, plain)!
      return member(named.field, named.name, value, named.isOfRecord ? { ...place, prefix: "", path: "" } : inside)
    }
    // It is stored as it is, in the column of the object or as a rejected value.
    return rule !== undefined || isAnyInside(fields, inside, rest) ? removed : value
  }

  /** Whether anything that the fields name is kept out. */
  const isAnyInside = (fields: Fields, place: Place, rest?: ChildField): boolean =>
    withheld.withoutUnknown.has(place.table) ||
    Object.entries(rest ? { ...fields, rest } : fields).some(([name, field]) => {
      switch (field.kind) {
        case "column":
          return how(place, columnName(place.prefix, name, field)) !== undefined || isCustom(field)
        case "object":
          return isAnyInside(field.fields, { ...place, prefix: `${columnName(place.prefix, name, {})}_` }, field.rest)
        case "list":
        case "entries":
          return isWithout(withheld, field.table) || isAnyInside(field.fields, placeOf(field.table))
        case "alias":
        case "transport":
          return false
      }
    })
  const isCustom = ({ role }: ColumnField) => role === "customValue" && customFields !== undefined
  const placeOf = (table: string): Place => ({ table, prefix: "", path: "" })

  const children = (child: ChildField, value: unknown): unknown => {
    if (isWithout(withheld, child.table)) return removed
    if (child.kind === "list" && Array.isArray(value))
      return value.map((one) => item(child, one, "")).filter((one) => one !== removed)
    if (child.kind === "entries" && isObject(value)) return kept(value, (key, one) => item(child, one, key))
    return isAnyInside(child.fields, placeOf(child.table)) ? removed : value
  }

  /** `key`: of an object whose keys are data. */
  const item = (child: ChildField, sent: unknown, key: string): unknown => {
    const place = placeOf(child.table)
    if (Object.values(child.fields).some((one) => one.kind === "column" && one.role === "customValue")) {
      const texts = child.kind === "entries" ? [key] : fieldTexts(sent)
      if (texts.some(isName) || fields.isOut(texts)) return removed
    }
    if (isScalar(child.fields)) return member(child.fields["value"] as ColumnField, "value", sent, place)
    if (isObject(sent)) return members(sent, child.fields, place)
    if (child.plain !== undefined && !isNested(sent))
      return member(child.fields[child.plain] as ColumnField, child.plain, sent, place)
    return isAnyInside(child.fields, place) ? removed : sent
  }

  /** Any value without members of these names, and without values of custom fields that are kept out. */
  const without = (value: unknown, names: ReadonlySet<string>, depth = 0): unknown => {
    if (!isNested(value)) return value
    if (depth > depthMax) return null
    if (Array.isArray(value))
      return value.filter((one) => !fields.isValue(one)).map((one) => without(one, names, depth + 1))
    return kept(value, (name, one) => memberWithout(name, one, names, depth))
  }

  const memberWithout = (name: string, value: unknown, names: ReadonlySet<string>, depth = 0): unknown =>
    names.has(plainName(name)) || fields.isId(name) || fields.isValue(value)
      ? removed
      : without(value, names, depth + 1)

  return {
    record: (sent: unknown, table: string): unknown => {
      if (isObject(sent)) return members(sent, record, placeOf(table))
      if (!isScalar(record)) return null
      const value = member(record["value"] as ColumnField, "value", sent, placeOf(table))
      return value === removed ? null : value
    },
    without: (sent: unknown, names: ReadonlySet<string>) => without(sent, names)
  }
}

const isNested = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !JSON.isRawJSON(value)

const isObject = (value: unknown): value is object => isNested(value) && !Array.isArray(value)

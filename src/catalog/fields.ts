/**
 * The functions by which a definition describes the fields of a record: the column or child table of each, its type and one
 * sentence. A field is plain data: `load/normalise` compiles it, and `catalog/tables.ts` derives the tables from it.
 */

import type { KindName } from "./kinds.ts"
import type { PersonalData } from "./personal-data.ts"
import { type Role, roles } from "./roles.ts"

/** The type of a column. A value of another type is stored as NULL, and `meta.rejected_values` holds it as sent. */
export type ColumnType = Exclude<KindName, "list">

interface ColumnOptions {
  /** Default: that of the role, `content` for a field made by `content`, otherwise `none`. */
  readonly personal?: PersonalData
  /** The table whose id the value is. */
  readonly references?: string
  /**
   * The column of another table whose value this is, such as `contacts.email`; for `json`, the table whose record it is. What
   * the settings keep out of that table, they keep out of here.
   */
  readonly copyOf?: string
  /** Name of the column. Default: the name of the field in snake_case, with the names of the objects around it as prefix. */
  readonly column?: string
  /** Only for `json`: a second column, with the value as text for people. */
  readonly textColumn?: string
  /**
   * What the value is; see `roles.ts`. A text without a role is masked more strictly than one with a role. The role `file` is
   * given here: to a text that is a link to a file, or to JSON with links in it, which `files.fetch` can fetch.
   */
  readonly role?: Role
}

export interface ColumnField extends ColumnOptions {
  readonly kind: "column"
  /**
   * The values of an enum. The column also stores any other value, and `meta.schema_changes` lists it as unexpected. An
   * empty list stands for the values that earlier runs have stored.
   */
  readonly enumValues?: ReadonlyArray<string>
  readonly type: ColumnType
  readonly description: string
}

/** An object whose fields become columns of the same row, with its name as prefix. */
export interface ObjectField {
  readonly kind: "object"
  readonly fields: Fields
  /** The child table for the keys that `fields` does not name. Default: `_extra`. */
  readonly rest?: ChildField
  /** A JSON column that also stores the object as sent, so that none of its keys is an unknown field. */
  readonly whole?: ColumnField
  /** The field that a plain value, for example an id, fills if the service sends one instead of the object. */
  readonly plain?: string
}

/**
 * Another name of the field `of`, whose column it fills: some operations send a value under another name. A name that ends
 * with `*` covers every name with this prefix that is not a field itself.
 */
export interface AliasField {
  readonly kind: "alias"
  readonly of: string
}

/** A field that belongs to the response and not to the record, for example a cursor; it is not stored or compared. */
export interface TransportField {
  readonly kind: "transport"
  /** It never reaches a store, not even as received. */
  readonly isSecret?: true
}

/** An array (`list`), or an object whose keys are data (`entries`), that becomes the rows of a child table. */
export interface ChildField {
  readonly kind: "list" | "entries"
  readonly table: string
  readonly description: string
  /** Fields of one item; a list among them becomes a child table of this one. */
  readonly fields: Fields
  /** The field that an item fills if it is a plain value. Default: `value`, if that is the only field. */
  readonly plain?: string
  /** Columns that identify a row within its parent. If it is empty, the column `position` is added and identifies the row. */
  readonly key: ReadonlyArray<string>
  /** Only for `entries`: the column for the key. */
  readonly keyColumn?: { readonly name: string; readonly field: ColumnField }
  /** Columns with fixed values, which tell the arrays apart if several fill this table. */
  readonly constants?: Readonly<Record<string, string | boolean>>
}

export type Field = ColumnField | ObjectField | AliasField | TransportField | ChildField
export interface Fields {
  readonly [name: string]: Field
}

const column =
  (type: ColumnType, personal: PersonalData = "none") =>
  (description: string, options: ColumnOptions = {}): ColumnField => ({
    kind: "column",
    type,
    description,
    personal: options.role === undefined ? personal : roles[options.role].personal,
    ...options
  })

const withRole =
  (role: Role, type: ColumnType = "text", more: ColumnOptions = {}) =>
  (description: string, options: ColumnOptions = {}): ColumnField =>
    column(type)(description, { ...more, ...options, role })

/** Short texts. A number or boolean is stored as text. */
export const text = column("text")
/** A text of any length that a person wrote or said. */
export const content = column("text", "content")
/** An enum whose values the API documents list; they complete the description. Every run reports other values. */
export const enumeration = (
  enumValues: ReadonlyArray<string>,
  description = "",
  options: ColumnOptions = {}
): ColumnField => ({
  ...text(`${description === "" ? "" : `${description}: `}${listed(enumValues)}`, options),
  enumValues
})
/** An enum whose values the API documents do not list, or the account defines. A run reports values that are new to it. */
export const openEnum = (description: string, options: ColumnOptions = {}): ColumnField => ({
  ...text(description, options),
  enumValues: []
})
/** A timestamp in a notation that `timestamps.ts` reads; in UTC if it has no offset. */
export const instant = column("instant")
/** A calendar day without a time. */
export const date = column("date")
/** Money, quantities, shares, rates and measures. The description names the unit, or the column of the currency. */
export const decimal = column("decimal")
/** An integer. */
export const count = column("count")
/** A boolean, also sent as text. */
export const boolean = column("flag")
/** Data of any structure, stored as sent. */
export const json = column("json")

export const email = withRole("email")
export const phone = withRole("phone")
export const emailOrPhone = withRole("emailOrPhone")
export const personName = withRole("personName")
export const companyName = withRole("companyName")
export const address = withRole("address")
export const postalCode = withRole("postalCode")
export const place = withRole("place")
export const url = withRole("url")
export const tag = withRole("tag")
export const trait = withRole("trait")
/** The value of a custom field as sent, with its text beside it. */
export const customValue = withRole("customValue", "json", { textColumn: "value_text" })
/** The path of a file in the output folder. A file that no column of this kind names may be removed. */
export const storedFile = withRole("storedFile")
/** When the record was made. */
export const created = withRole("created", "instant")
/** When the record was last changed. */
export const changed = withRole("changed", "instant")

/** The id of something that has no table. */
export const identifier = withRole("identifier")
/** The id of the record. */
export const id = (description: string) => identifier(description, { column: "id" })
/**
 * The id of a row of another table, published as it is in every masked release. Where something else may be sent in place of
 * the id, a `text` with `references` is looked through for e-mail addresses.
 */
export const ref = (references: string, description: string, options: ColumnOptions = {}) =>
  identifier(description, { references, ...options })

/** `a`, `b` or `c`. */
const listed = (enumValues: ReadonlyArray<string>): string =>
  enumValues
    .map((word) => `\`${word}\``)
    .join(", ")
    .replace(/, ([^,]+)$/, " or $1")

export const object = (fields: Fields, options: Pick<ObjectField, "plain" | "rest" | "whole"> = {}): ObjectField => ({
  kind: "object",
  fields,
  ...options
})
export const alias = (of: string): AliasField => ({ kind: "alias", of })
export const ignored: TransportField = { kind: "transport" }
/** What opens something for whoever has it: the token of another service, a link that needs no login, a picture of a signature. */
export const secret: TransportField = { kind: "transport", isSecret: true }

/** Fields that records of every resource may have: their location, and the id of the request. */
export const commonFields: Fields = {
  locationId: ref("locations", "The location", { column: "location_id" }),
  traceId: ignored
}

/** Adds the fields that records of every resource may have. */
export const withCommonFields = (fields: Fields): Fields => (isScalar(fields) ? fields : { ...commonFields, ...fields })

/** A field, the name by which the definition knows it, and whether that is a name of the record around an object. */
export interface NamedField {
  readonly field: Exclude<Field, AliasField>
  readonly name: string
  readonly isOfRecord: boolean
}

/** The field that a name of the service stands for, in its object or, for an alias, in the `record` around it. */
export const fieldNamed = (fields: Fields, record: Fields, name: string): NamedField | undefined => {
  const field =
    (Object.hasOwn(fields, name) ? fields[name] : undefined) ??
    Object.entries(fields).find(([prefix]) => prefix.endsWith("*") && name.startsWith(prefix.slice(0, -1)))?.[1]
  if (field?.kind !== "alias") return field && { field, name, isOfRecord: false }
  const own = fields[field.of]
  if (own !== undefined && own.kind !== "alias") return { field: own, name: field.of, isOfRecord: false }
  const around = record[field.of]
  return around === undefined || around.kind === "alias"
    ? undefined
    : { field: around, name: field.of, isOfRecord: true }
}

/** Whether records or items are plain values: then `value` is their only field. */
export const isScalar = (fields: Fields): boolean => Object.keys(fields).join() === "value"

/** `date_added` for `dateAdded`, `raw_html` for `rawHTML`. */
export const snakeCase = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()

export const columnName = (prefix: string, name: string, field: { readonly column?: string }): string =>
  field.column ?? prefix + snakeCase(name)

/** An array of objects; each becomes a row of the child table. */
export const rows = (
  table: string,
  description: string,
  fields: Fields,
  key: ReadonlyArray<string> = [],
  options: Pick<ChildField, "plain"> = {}
): ChildField => ({
  kind: "list",
  table,
  description,
  fields,
  key,
  ...options
})

/** An array of plain values; each becomes a row of the child table, with the value in the column `name`. */
export const values = (
  table: string,
  description: string,
  name: string,
  field: ColumnField,
  options: Pick<ChildField, "constants"> & { readonly key?: ReadonlyArray<string> } = {}
): ChildField => ({
  kind: "list",
  table,
  description,
  fields: { value: { ...field, column: name } },
  key: options.key ?? [name],
  ...(options.constants && { constants: options.constants })
})

/** An object whose keys are data; each key becomes a row of the child table. */
export const map = (
  table: string,
  description: string,
  keyColumn: { readonly name: string; readonly field: ColumnField },
  fields: Fields
): ChildField => ({ kind: "entries", table, description, fields, key: [keyColumn.name], keyColumn })

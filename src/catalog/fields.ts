/**
 * The words a definition uses for the fields of a record: what each becomes in the tables, in one sentence.
 * A field is plain data; `load/normalise.ts` compiles it, `catalog/tables.ts` makes columns and comments of it.
 */

/** How much a column says about a person (see the data dictionary). */
export type PersonalData = "direct" | "quasi" | "sensitive" | "financial" | "content" | "none"

/** What a value must be before it enters a column; everything else becomes NULL and a line in `meta.rejected_values`. */
export type ColumnType = "text" | "instant" | "date" | "decimal" | "count" | "flag" | "json"

interface ColumnOptions {
  /** Default: `none`, or `content` where the type says so. */
  readonly personal?: PersonalData
  /** Table whose key the value is. */
  readonly references?: string
  /** Column name where the rule (camelCase to snake_case, parents as prefix) does not give the wanted one. */
  readonly column?: string
  /** `json` only: a second column with the value as text people can read. */
  readonly textColumn?: string
}

export interface ColumnField extends ColumnOptions {
  readonly kind: "column"
  /** It holds one of these words; others are kept, and told. None: those of the first run are the set. */
  readonly enumValues?: ReadonlyArray<string>
  readonly type: ColumnType
  readonly description: string
}

/** An object whose fields become columns of the same row, prefixed with its own name. */
export interface ObjectField {
  readonly kind: "object"
  readonly fields: Fields
  /** Where the keys nobody named go: a child table. Without it they go to `_extra`. */
  readonly rest?: ChildField
  /** Keeps the object as it came in a JSON column as well, so that no key is unknown. */
  readonly whole?: ColumnField
  /** Which of its fields is sent where a plain value, for example an id, stands in place of the object. */
  readonly plain?: string
}

/**
 * The same value under another name, in the other shape of the record: fills the column of the field named here. A name
 * that ends with `*` stands for every name that begins so and is no field itself.
 */
export interface AliasField {
  readonly kind: "alias"
  readonly of: string
}

/** A field that steers paging and is no data: neither stored nor compared. */
export interface TransportField {
  readonly kind: "transport"
}

/** An array (`list`) or an object keyed by data (`entries`) that becomes the rows of a child table. */
export interface ChildField {
  readonly kind: "list" | "entries"
  readonly table: string
  readonly description: string
  /** Fields of one item; a list among them becomes a table below this one. */
  readonly fields: Fields
  /** Which of the fields an item is that is a plain value; `value` where that is the only field. */
  readonly plain?: string
  /** Columns that identify the row within its parent; none: `position` is added and identifies it. */
  readonly key: ReadonlyArray<string>
  /** `entries` only: column that holds the entry's key. */
  readonly keyColumn?: { readonly name: string; readonly field: ColumnField }
  /** Columns that say from which of several arrays the row came. */
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
    personal,
    ...options
  })

/** Ids and words. Numbers and flags sent in its place are kept as their text. */
export const text = column("text")
/** What a person wrote or said, at any length. */
export const content = column("text", "content")
/** One of the words that the documents name, which the description ends with. Others are kept, and told by every run. */
export const enumeration = (
  enumValues: ReadonlyArray<string>,
  description = "",
  options: ColumnOptions = {}
): ColumnField => ({
  ...text(`${description === "" ? "" : `${description}: `}${listed(enumValues)}`, options),
  enumValues
})
/** One of a set of words that the documents do not name, or the account makes; one not met in earlier runs is told. */
export const openEnum = (description: string, options: ColumnOptions = {}): ColumnField => ({
  ...text(description, options),
  enumValues: []
})
/** A moment: ISO 8601 with or without offset and millis (none: UTC), or epoch milliseconds as number or text. */
export const instant = column("instant")
/** A calendar day without a time. */
export const date = column("date")
/** Money, quantities, shares, rates and measures. Name the unit, or the currency's column, in the sentence. */
export const decimal = column("decimal")
/** A whole number. */
export const count = column("count")
/** True or false, also as text. */
export const boolean = column("flag")
/** Free-form data kept as it came. */
export const json = column("json")
/** The record's own id. */
export const id = (description: string) => text(description, { column: "id" })
/** The id of a row of another table. */
export const ref = (references: string, description: string, options: ColumnOptions = {}) =>
  text(description, { references, ...options })

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

/** What records of every resource may carry beside their data: their location, and the id of the request. */
const everywhere: Fields = {
  locationId: ref("locations", "The location", { column: "location_id" }),
  traceId: ignored
}

/** The fields of a resource with those that records of every resource may carry. */
export const withCommonFields = (fields: Fields): Fields => (isScalar(fields) ? fields : { ...everywhere, ...fields })

/** A record that is a plain value is read as the only field, `value`. */
export const isScalar = (fields: Fields): boolean => Object.keys(fields).join() === "value"

/** An array of objects, one child row each. */
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

/** An array of plain values, one child row each. */
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

/** An object keyed by data, one child row for each key. */
export const map = (
  table: string,
  description: string,
  keyColumn: { readonly name: string; readonly field: ColumnField },
  fields: Fields
): ChildField => ({ kind: "entries", table, description, fields, key: [keyColumn.name], keyColumn })

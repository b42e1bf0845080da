/** The tables of a resource: names, columns, keys and descriptions. */
import type { ColumnType } from "./fields.ts"
import { type ChildPlace, type FieldPlace, type Places, placesOf } from "./field-places.ts"
import { kinds } from "./kinds.ts"
import { perResource } from "./per-resource.ts"
import { type PersonalData, worstOf } from "./personal-data.ts"
import type { Resource } from "./resource.ts"
import type { Role } from "./roles.ts"
import { isWithout, pathIn, withheldIn } from "./withheld.ts"

export interface Column {
  readonly name: string
  readonly type: ColumnType | "system"
  readonly sql: string
  readonly description: string
  readonly personal: PersonalData
  readonly references?: string
  readonly role?: Role
  /** See `ColumnField.copyOf`. */
  readonly copyOf?: string
  /** What the settings do to its values before they are stored; see `withheld.ts`. */
  readonly withheld?: "excluded" | "hashed"
  /** See `ColumnField.enumValues`. */
  readonly enumValues?: ReadonlyArray<string>
  /** Only the detail contains it; a page of the list does not change it. */
  readonly detail: boolean
}

export interface Table {
  readonly name: string
  readonly description: string
  readonly key: ReadonlyArray<string>
  /** In the order of the table; the system columns are last. */
  readonly columns: ReadonlyArray<Column>
  /** In a child table: the column with the id of the parent. */
  readonly parentColumn?: string
  /** Only the detail contains its rows. */
  readonly detail: boolean
  /** The settings keep all its rows out. */
  readonly isExcluded?: true
}

export interface ChildTable extends Table {
  readonly parentColumn: string
}

type Tables = readonly [Table, ...Array<ChildTable>]

/** The table of the records, then the child tables. */
export const tablesOf = perResource((resource): Tables => deriveTables(resource))

const deriveTables = (resource: Resource): Tables => {
  const [parent, ...children] = tablesOfFields(resource)
  const complete = <T extends Table>(table: T): T => withWithheld(resource, withContacts(resource, table))
  return [complete(parent), ...children.map(complete)]
}

/** Says what the settings keep out. The columns stay, as NULL, for those who use them. */
const withWithheld = <T extends Table>({ table: own, withheld }: Resource, table: T): T => {
  if (withheld === undefined) return table
  /** What the settings keep out under one of these names. */
  const settings = (...names: ReadonlyArray<string>) => {
    const day = names.flatMap((one) => withheld.since?.get(one) ?? [])[0]
    return day === undefined ? "the settings" : `the settings since ${day}, and rows of before may have values`
  }
  const columns = table.columns.map((column): Column => {
    const how = withheldIn(withheld, table.name, column.name)
    if (how === undefined) return column
    const path = pathIn(table.name, column.name)
    const by = how === "hashed" ? settings(`hash of ${path}`) : settings(path, table.name, own)
    return { ...column, withheld: how, description: `${column.description}; ${how} by ${by}` }
  })
  if (!isWithout(withheld, table.name)) return { ...table, columns }
  const description = `${table.description} Excluded by ${settings(table.name, own)}.`
  return { ...table, columns, isExcluded: true, description }
}

/** Gives the ids of contacts their role: of the references to contacts, and of what `person.contacts` names. */
const withContacts = <T extends Table>(resource: Resource, table: T): T => {
  const isContact = ({ name, references }: Column) =>
    references === "contacts" || resource.person?.contacts?.includes(pathOf(resource, table.name, name)) === true
  return {
    ...table,
    columns: table.columns.map((column) => (isContact(column) ? { ...column, role: "contact" } : column))
  }
}

const tablesOfFields = (resource: Resource): Tables => {
  const places = placesOf(resource)
  const own = columnsIn(places, resource.table)
  const childOfColumn = resource.childOf?.column
  // A field of the record may already fill the column.
  const isColumnAdded = childOfColumn && !own.some((column) => column.name === childOfColumn)
  const parent: Table = {
    name: resource.table,
    description: resource.description,
    key: ["location_id", ...keyOf(resource)],
    detail: false,
    columns: [
      locationColumn,
      ...(isColumnAdded ? [referenceColumn(childOfColumn, resource.childOf.table, "it was read under")] : []),
      ...own,
      extraColumn,
      systemColumn("_row_hash", "VARCHAR", "Fingerprint of the record as listed; tells a change from a repetition"),
      ...runColumns,
      systemColumn("_deleted_at", "TIMESTAMPTZ", "When the record was found to be gone; NULL while it is there")
    ]
  }
  // Several lists may fill one table.
  const children = Map.groupBy(places.children, ({ child }) => child.table).values()
  return [parent, ...children.flatMap(([first]) => (first ? [childTable(resource.table, first, places)] : []))]
}

/** A column as the links to people name it: that of a child table with its table. */
export const pathOf = ({ table: own }: Pick<Resource, "table">, table: string, column: string): string =>
  table === own ? column : `${table}.${column}`

/** The column with a role of which a table has one at most, such as the time at which its records were made. */
export const columnWithRole = ({ columns }: Table, role: Role): string | undefined =>
  columns.find((column) => column.role === role)?.name

/** The name of the wide view of a resource; if it has several, how the names of all begin. */
export const wideName = ({ table }: Pick<Resource, "table">): string => `${table}_wide`

/** The beginning of the names of all wide views of the table of this one. Any other name is unchanged. */
export const firstWide = (view: string): string => view.replace(/_wide_.+$/, "_wide")

/** Columns that identify a row in its location. */
export const keyOf = ({ key }: Resource): ReadonlyArray<string> => key ?? ["id"]

/** SQL expression of the key as one text. */
export const keyText = (resource: Resource, table = ""): string => textOfKey(keyOf(resource), table)

/** The separator is a control character, which ids do not contain. */
export const textOfKey = (key: ReadonlyArray<string>, table = ""): string => {
  const columns = key.map((column) => `${table}"${column}"`).join(", ")
  return key.length === 1 ? columns : `concat_ws(chr(${keySeparator.charCodeAt(0)}), ${columns})`
}
export const keySeparator = "\u001f"

/** The columns of a table by the fields that fill them. */
const columnsIn = ({ columns }: Places, table: string): ReadonlyArray<Column> => {
  const found = columns.filter((place) => place.table === table && place.column !== "location_id").flatMap(columnsAt)
  return found.filter((column, index) => found.findIndex((other) => other.name === column.name) === index)
}

const childTable = (parentTable: string, { child: table, detail, table: around }: ChildPlace, places: Places) => {
  const below = around === parentTable ? undefined : around
  const belowColumn = below === undefined ? [] : [idColumn(below)]
  const parentColumn = idColumn(parentTable)
  const hasPosition = table.key.length === 0
  return {
    name: table.table,
    description: table.description,
    key: ["location_id", parentColumn, ...belowColumn, ...(hasPosition ? ["position"] : table.key)],
    parentColumn,
    detail,
    columns: [
      locationColumn,
      referenceColumn(parentColumn, parentTable, "it belongs to"),
      ...belowColumn.map((column) => referenceColumn(column, below!, "it belongs to")),
      ...(hasPosition ? [systemColumn("position", "BIGINT", "Place in the list, from 0")] : []),
      ...columnsIn(places, table.table),
      ...Object.entries(table.constants ?? {}).map(([name, value]) =>
        typeof value === "boolean"
          ? systemColumn(name, "BOOLEAN", `Whether the row came from the list of ${withSpaces(name)} values`)
          : systemColumn(name, "VARCHAR", "Which of the lists the row came from")
      ),
      extraColumn,
      ...runColumns,
      systemColumn(
        "_deleted_at",
        "TIMESTAMPTZ",
        "When the row it belongs to was found to be gone; NULL while it is there"
      )
    ]
  }
}

/** The column of a child table with the id of its parent: `contact_id` for `contacts`. */
export const idColumn = (table: string): string => `${singular(table)}_id`

/** `contact` for `contacts`, `company` for `companies`. */
const singular = (table: string): string => (table.endsWith("ies") ? `${table.slice(0, -3)}y` : table.replace(/s$/, ""))

const columnsAt = ({ column, detail, field, inside = [] }: FieldPlace): ReadonlyArray<Column> => {
  const own: Column = {
    name: column,
    type: field.type,
    sql: kinds[field.type].sql,
    description: field.description,
    personal: worstOf([field, ...inside].map(({ personal }) => personal ?? "none")),
    ...(field.references && { references: field.references }),
    ...(field.role && { role: field.role }),
    ...(field.copyOf && { copyOf: field.copyOf }),
    ...(field.enumValues && { enumValues: field.enumValues }),
    detail
  }
  if (field.textColumn === undefined) return [own]
  const text = { name: field.textColumn, sql: "VARCHAR", type: "text" as const }
  return [own, { ...own, ...text, description: `${field.description}, as text` }]
}

const withSpaces = (name: string) => name.replaceAll("_", " ")

/** The columns that sluice adds to those of the records. */
const systemColumn = (name: string, sql: string, description: string): Column => ({
  name,
  type: "system",
  sql,
  description,
  personal: "none",
  detail: false
})
const referenceColumn = (name: string, table: string, how: string): Column => ({
  ...systemColumn(name, "VARCHAR", `Row of ${table} ${how}`),
  references: table,
  role: "identifier"
})
const locationColumn: Column = {
  ...systemColumn("location_id", "VARCHAR", "Location the row was read from"),
  references: "locations",
  role: "identifier"
}
const extraColumn: Column = {
  ...systemColumn("_extra", "JSON", "Fields the service sent that have no column, as sent"),
  // Unknown fields have no class of their own.
  personal: "direct"
}
const runColumns = [
  systemColumn("_synced_at", "TIMESTAMPTZ", "When the page that brought this version of the row was read"),
  { ...systemColumn("_run_id", "VARCHAR", "Run that loaded it; see meta.runs"), role: "identifier" as const }
]

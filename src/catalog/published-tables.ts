/** The tables and wide views that are published, and which of them a name stands for where tables are chosen. */
import type { Resource } from "./resource.ts"
import { type Table, keyOf, tablesOf, wideName } from "./tables.ts"

/** A table or wide view that is published. */
export interface PublishedTable {
  readonly name: string
  /** The definition; for a wide view, that of its table. */
  readonly definition: Table
  /** Columns that identify a row. */
  readonly key: ReadonlyArray<string>
  /** The table of its resource. */
  readonly resource: string
  /** Columns that identify, in a location, the record to which a row belongs. */
  readonly recordKey: ReadonlyArray<string>
}

export const publishedTables = (catalogue: {
  readonly resources: ReadonlyArray<Resource>
}): ReadonlyArray<PublishedTable> =>
  catalogue.resources.flatMap((resource) => {
    const tables = tablesOf(resource).map((definition) => ({
      name: definition.name,
      definition,
      key: definition.key,
      resource: resource.table,
      recordKey: definition.parentColumn === undefined ? keyOf(resource) : [definition.parentColumn]
    }))
    return resource.wide ? [...tables, { ...tables[0]!, name: wideName(resource), key: keyOf(resource) }] : tables
  })

/**
 * Which tables a name stands for where tables are chosen: the table of that name alone, else the family. `invoices/*` is always
 * the family.
 */
export const familyEnd = "/*"
/** Before the name of a table where a name of both stands for the family. */
export const tablePrefix = "table:"

type Families = ReadonlyMap<string, string>

/** Those of `tables` that the name stands for; none if it is unknown. */
export const namedTables = (
  written: string,
  tables: ReadonlyArray<string>,
  familyByTable: Families
): ReadonlyArray<string> => {
  if (tables.includes(written) || familyByTable.has(written)) return tables.filter((table) => table === written)
  const family = familyNamed(written)
  return tables.filter((table) => familyByTable.get(table) === family)
}

export const familyNamed = (written: string): string =>
  written.endsWith(familyEnd) ? written.slice(0, -familyEnd.length) : written

/** The names that choose something, for completions and suggestions. */
export const choosableNames = (tables: ReadonlyArray<string>, familyByTable: Families): ReadonlyArray<string> => {
  const families = [...new Set(familyByTable.values())]
  return [...tables, ...families.map((family) => (familyByTable.has(family) ? `${family}${familyEnd}` : family))]
}

/**
 * Which tables a name stands for where tables are chosen: the table of that name alone, else the family. `invoices/*` is always
 * the family.
 */

const familyEnd = "/*"

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

/** The rules that every definition keeps, which its type cannot express. */
import type { Catalogue } from "./discover.ts"
import { type Resource, childRequestOf } from "./resource.ts"
import { snakeCase } from "./fields.ts"
import { type Column, type Table, columnWithRole, tablesOf } from "./tables.ts"

export interface Violation {
  /** A text that the line of the mistake contains. */
  readonly text: string
  readonly message: string
}

/** `reserved`: words that are no names in DuckDB. */
export const violations = (
  resource: Resource,
  { familyByTable, resources }: Catalogue,
  reserved: ReadonlySet<string>
): ReadonlyArray<Violation> => {
  const found: Array<Violation> = []
  const report = (text: string, message: string) => found.push({ text, message })
  const tables = tablesOf(resource)
  const [{ columns: own }] = tables
  const isColumn = (name: string, columns: ReadonlyArray<Column> = own) =>
    columns.some((column) => column.name === name)

  if (!/^\S.+\.$/.test(resource.description)) report("description:", "The description is not a sentence.")
  if (!/^([a-z-]+(\/[a-zA-Z]+)?\.read(only)?|any)$/.test(resource.scope))
    report("scope:", `The scope ${resource.scope} is neither "any" nor the name of a scope, such as forms.readonly.`)
  if (resource.key && tables.length > 1) report("key:", "A resource with child tables has the key id.")
  for (const table of tables) {
    const placed = `${table.name}:`
    if (!isName(table.name, reserved)) report(table.name, `${table.name} is no name for a table.`)
    if (!/^\S.+\.$/.test(table.description)) report(placed, `The description of table ${table.name} is not a sentence.`)
    for (const key of table.key)
      if (!isColumn(key, table.columns)) report("key:", `The key ${key} is no column of table ${table.name}.`)
    for (const [index, { copyOf, description, name, references, role }] of table.columns.entries()) {
      const column = `${table.name}.${name}`
      if (!isName(name, reserved)) report(camelCase(name), `${column} is no name for a column.`)
      if (table.columns.findIndex((one) => one.name === name) !== index)
        report(camelCase(name), `${column} is defined twice.`)
      if (description.length <= 2) report(camelCase(name), `${column} has no description.`)
      if (role === "created" && columnWithRole(table, role) !== name)
        report(camelCase(name), `${column} is the second column that says when a row was made.`)
      if (references && !familyByTable.has(references))
        report(`"${references}"`, `${column} refers to ${references}, which no file defines.`)
      if (copyOf && !resources.flatMap(tablesOf).some((one) => isCopied(copyOf, one)))
        report(`"${copyOf}"`, `${column} repeats ${copyOf}, which no file defines.`)
    }
  }
  for (const field of [resource.changes?.field, resource.version])
    if (field !== undefined && !isColumn(snakeCase(field)))
      report(`"${field}"`, `The change field ${field} is no column of table ${resource.table}.`)
  if (resource.tombstone !== undefined && !isColumn(resource.tombstone))
    report("tombstone:", `The tombstone ${resource.tombstone} is no column of table ${resource.table}.`)
  const child = childRequestOf(resource)
  const parent = resources.find(({ table }) => table === child?.table)
  if (child?.versionColumn !== undefined && parent && !isColumn(child.versionColumn, tablesOf(parent)[0].columns))
    report("versionColumn:", `The version column ${child.versionColumn} is no column of table ${parent.table}.`)
  return found
}

/** Whether the table, or one of its columns, is that of a copy. */
const isCopied = (copyOf: string, { name, columns }: Table): boolean =>
  copyOf === name || columns.some((column) => copyOf === `${name}.${column.name}`)

const isName = (name: string, reserved: ReadonlySet<string>) => /^[a-z_][a-z0-9_]*$/.test(name) && !reserved.has(name)

/** The field of a column, as a definition usually names it. */
const camelCase = (column: string): string =>
  column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

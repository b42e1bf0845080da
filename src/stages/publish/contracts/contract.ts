/** The data contract: what readers of the published tables may rely on. Every document about the tables is made from it. */
import type { Catalogue } from "../../../catalog/discover.ts"
import { describedTables } from "../../../catalog/dictionary.ts"
import type { PersonalData } from "../../../catalog/personal-data.ts"
import type { Column } from "../../../catalog/tables.ts"

export interface ContractColumn {
  readonly name: string
  /** The type in DuckDB. */
  readonly type: string
  readonly description: string
  readonly personal: PersonalData
  /** The settings keep its values out, or hash them, before they are stored. */
  readonly withheld?: Column["withheld"]
  /** Never NULL. */
  readonly isRequired: boolean
  /** The column whose value this is, if another table has it; some rows may refer to records that no longer exist. */
  readonly refersTo?: ColumnReference
  /** The documented values of an enum. The service may send others, which are stored and reported. */
  readonly documentedValues?: ReadonlyArray<string>
}

interface ColumnReference {
  readonly table: string
  readonly column: string
}

export interface ContractTable {
  readonly name: string
  readonly family: string
  readonly description: string
  /** Columns that identify a row. */
  readonly key: ReadonlyArray<string>
  readonly columns: ReadonlyArray<ContractColumn>
  /** The table to whose rows the rows belong, and the column with the id of that row. The parent always exists. */
  readonly parent?: { readonly table: string; readonly column: string }
}

export const contractOf = (catalogue: Catalogue): ReadonlyArray<ContractTable> => {
  const described = describedTables(catalogue)
  const keys = new Map(described.map(({ table }) => [table.name, table.key]))
  /** A reference is a single value, so the row must have the rest of the key of the other table under the same names. */
  const referenceTo = (table: string, columns: ReadonlyArray<Column>): ColumnReference | undefined => {
    const key = keys.get(table) ?? []
    const column = key.at(-1)
    const isThere = (one: string) => one === column || columns.some(({ name }) => name === one)
    return column !== undefined && key.every(isThere) ? { table, column } : undefined
  }
  return described.map(({ family, resource, table }) => {
    const { name, description, key, parentColumn } = table
    const required = new Set([...key, "location_id", "_synced_at", "_run_id"])
    const column = ({
      name,
      sql,
      description,
      personal,
      references,
      withheld,
      enumValues = []
    }: Column): ContractColumn => {
      const refersTo = references === undefined ? undefined : referenceTo(references, table.columns)
      return {
        name,
        type: sql,
        description,
        personal,
        isRequired: required.has(name),
        ...(withheld && { withheld }),
        ...(refersTo && { refersTo }),
        ...(enumValues.length > 0 && { documentedValues: enumValues })
      }
    }
    return {
      name,
      family,
      description,
      key,
      columns: table.columns.map(column),
      ...(parentColumn !== undefined && { parent: { table: resource.table, column: parentColumn } })
    }
  })
}

/** The part of an ODCS document on which readers rely. */
export interface ReleasedTable {
  readonly name: string
  readonly properties: ReadonlyArray<{
    readonly name: string
    readonly physicalType: string
    readonly primaryKeyPosition?: number
    readonly required?: boolean
  }>
}

/** Each breaking change as the line that CHANGELOG.md needs. Tables and columns that were added break nothing. */
export const breakingChanges = (
  released: ReadonlyArray<ReleasedTable>,
  present: ReadonlyArray<ReleasedTable>
): ReadonlyArray<string> =>
  released.flatMap((before) => {
    const now = present.find(({ name }) => name === before.name)
    if (now === undefined) return [`Table \`${before.name}\` was removed.`]
    const keyBefore = keyOf(before)
    const keyNow = keyOf(now)
    return [
      ...before.properties.flatMap((column) => {
        const path = `\`${before.name}.${column.name}\``
        const other = now.properties.find(({ name }) => name === column.name)
        if (other === undefined) return [`Column ${path} was removed.`]
        if (!accepts(other.physicalType, column.physicalType))
          return [`Column ${path} changed its type from ${column.physicalType} to ${other.physicalType}.`]
        return column.required && !other.required ? [`Column ${path} may be NULL now.`] : []
      }),
      ...(keyBefore === keyNow
        ? []
        : [`The key of table \`${before.name}\` changed from (${keyBefore}) to (${keyNow}).`])
    ]
  })

const keyOf = ({ properties }: ReleasedTable): string =>
  properties
    .flatMap(({ name, primaryKeyPosition: place }) => (place === undefined ? [] : [{ name, place }]))
    .toSorted((one, other) => one.place - other.place)
    .map(({ name }) => name)
    .join(", ")

/** Whether every value of a type fits another, and readers that expect a number still receive one. */
const accepts = (type: string, released: string): boolean => {
  if (type === released) return true
  const [to, from] = [digitsOf(type), digitsOf(released)]
  return to !== undefined && from !== undefined && to.whole >= from.whole && to.fraction >= from.fraction
}

/** The decimal digits that a number may have before and after the point. */
const digitsOf = (type: string): { readonly whole: number; readonly fraction: number } | undefined => {
  if (type === "BIGINT") return { whole: 19, fraction: 0 }
  const [, width, scale] = /^DECIMAL\((\d+),\s*(\d+)\)$/.exec(type) ?? []
  return width === undefined ? undefined : { whole: Number(width) - Number(scale), fraction: Number(scale) }
}

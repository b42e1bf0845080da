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
  /** A reference is a single value, so it can only be to a table that one column identifies within its location. */
  const referenceTo = (table: string): ColumnReference | undefined => {
    const own = keys.get(table)?.filter((column) => column !== "location_id") ?? []
    return own.length === 1 ? { table, column: own[0]! } : undefined
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
      const refersTo = references === undefined ? undefined : referenceTo(references)
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

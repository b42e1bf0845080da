/**
 * Finds the values of enum columns that the definition does not list. It looks at finished rows, so that it finds what the
 * tables store: not the values of a rejected child row, nor those of a second alias.
 */
import type { Resource } from "../../catalog/resource.ts"
import { tablesOf } from "../../catalog/tables.ts"

export interface UnlistedValue {
  /** Whether the definition lists values of the column. If it lists none, every value is unlisted. */
  readonly hasList: boolean
  readonly table: string
  readonly column: string
  readonly value: string
}

type Row = Readonly<Record<string, unknown>>

/** Compiles the enum columns of a resource, and returns the function that finds unlisted values in a row and its child rows. */
export const unlistedValuesOf = (resource: Resource): ((row: Row) => ReadonlyArray<UnlistedValue>) => {
  const enums = tablesOf(resource).flatMap(({ name, parentColumn, columns }) =>
    columns.flatMap((column) =>
      column.enumValues === undefined
        ? []
        : [
            {
              table: name,
              isChild: parentColumn !== undefined,
              column: column.name,
              listed: new Set(column.enumValues)
            }
          ]
    )
  )
  return (row) => {
    let found: Array<UnlistedValue> | undefined
    const look = (table: string, column: string, listed: ReadonlySet<string>, sent: unknown) => {
      if (typeof sent !== "string" || sent === "" || listed.has(sent)) return
      ;(found ??= []).push({ hasList: listed.size > 0, table, column, value: sent.toWellFormed() })
    }
    for (const { table, isChild, column, listed } of enums)
      if (!isChild) look(table, column, listed, row[column])
      else
        for (const item of (row[table] as ReadonlyArray<Row> | undefined) ?? [])
          look(table, column, listed, item[column])
    return found ?? none
  }
}

const none: ReadonlyArray<UnlistedValue> = []

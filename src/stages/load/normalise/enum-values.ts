/**
 * Finds the values of enum columns that the definition does not list. It looks at finished rows, so that it finds what the
 * tables store: not the values of a rejected child row, nor those of a second alias.
 */
import type { Resource } from "../../../catalog/resource.ts"
import { tablesOf } from "../../../catalog/tables.ts"
import { type ChildRows, type Row, valueIn } from "./rows.ts"

export interface UnlistedValue {
  /** Whether the definition lists values of the column. If it lists none, every value is unlisted. */
  readonly hasList: boolean
  readonly table: string
  readonly column: string
  readonly value: string
}

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
  return (record) => {
    let unlisted: Array<UnlistedValue> | undefined
    for (const { table, isChild, column, listed } of enums) {
      const children = isChild ? (record.values[record.shape.places.get(table)!] as ChildRows | undefined) : undefined
      for (const { shape, values } of isChild ? (children?.rows ?? none) : [record]) {
        const value = valueIn(values, shape.places.get(column)!)
        if (typeof value === "string" && value !== "" && !listed.has(value))
          (unlisted ??= []).push({ hasList: listed.size > 0, table, column, value: value.toWellFormed() })
      }
    }
    return unlisted ?? none
  }
}

const none: ReadonlyArray<never> = []

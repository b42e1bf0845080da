/** Rows as the normaliser holds them: an array of values, in the order of the columns. */
import type { Shape } from "./compile-fields.ts"
import { special } from "../../../catalog/convert.ts"
import type { Resource } from "../../../catalog/resource.ts"
import { tablesOf } from "../../../catalog/tables.ts"

export interface Row {
  readonly shape: Shape
  /** By place. A string is printed in JSON as it is; all others are `Escaped`. */
  readonly values: Array<unknown>
}

/** A text that JSON escapes, or that is not ASCII. */
export class Escaped {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A value in the form in which a row holds it. */
export const held = (value: unknown): unknown =>
  typeof value === "string" && special.test(value) ? new Escaped(value) : value

/** The value that a row holds. */
export const valueIn = (values: ReadonlyArray<unknown>, place: number): unknown => {
  const value = values[place]
  return value instanceof Escaped ? value.text : value
}

/** The rows of a child table. */
export class ChildRows {
  readonly rows: Array<Row> = []
  /** The number of items so far: a rejected item leaves its position empty. */
  items = 0
  private readonly identities: Array<unknown> = []
  private seen: Set<unknown> | undefined

  /** Whether the identity exists already; adds it if not. Most lists are short, some have thousands of items. */
  isDuplicate(identity: unknown): boolean {
    if (this.seen ? this.seen.has(identity) : this.identities.includes(identity)) return true
    if (this.seen) this.seen.add(identity)
    else if (this.identities.push(identity) > 16) this.seen = new Set(this.identities)
    return false
  }
}

/**
 * Finds the values of enum columns that the definition does not list. It looks at finished rows, so that it finds what the
 * tables store: not the values of a rejected child row, nor those of a second alias.
 */
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
      const children = isChild ? (record.values[record.shape.places.of(table)] as ChildRows | undefined) : undefined
      for (const { shape, values } of isChild ? (children?.rows ?? none) : [record]) {
        const value = valueIn(values, shape.places.of(column))
        if (typeof value === "string" && value !== "" && !listed.has(value))
          (unlisted ??= []).push({ hasList: listed.size > 0, table, column, value: value.toWellFormed() })
      }
    }
    return unlisted ?? none
  }
}

const none: ReadonlyArray<never> = []

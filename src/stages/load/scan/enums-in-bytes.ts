/** Finds the values of enum columns that the definition does not list, in rows as bytes. `normalise/rows.ts` finds them in rows as values. */
import type { Limit, Limits } from "../../../values/limits.ts"
import type { Resource } from "../../../catalog/resource.ts"
import { tablesOf } from "../../../catalog/tables.ts"
import type { UnlistedValue } from "../normalise/rows.ts"
import { isSame } from "../../../catalog/json-bytes.ts"
import { type RowsInBytes, absent, copied, owned } from "./rows-in-bytes.ts"

interface Known {
  readonly bytes: Uint8Array
  /** Absent if the definition lists the value. */
  readonly unlisted: UnlistedValue | undefined
}

class EnumColumn {
  readonly column: string
  private readonly table: string
  private readonly listed: ReadonlySet<string>
  /** A column has few values, so each is compared with those before it. */
  private readonly known: Array<Known> = []
  private readonly limit: Limit

  constructor(table: string, column: string, listed: ReadonlyArray<string>, limit: Limit) {
    this.limit = limit
    this.table = table
    this.column = column
    this.listed = new Set(listed)
  }

  unlistedIn(rows: RowsInBytes, row: number, place: number): UnlistedValue | undefined {
    const how = rows.howOf(row, place)
    if (how === absent) return undefined
    if (how === owned) return this.of(JSON.parse(rows.textAt(row, place)))
    const quotes = how === copied ? 1 : 0
    const [from, to] = [rows.fromOf(row, place) + quotes, rows.toOf(row, place) - quotes]
    const { source } = rows
    for (const { bytes, unlisted } of this.known) if (isSame(bytes, source, from, to)) return unlisted
    const value = JSON.parse(`"${source.toString("utf8", from, to)}"`)
    const unlisted = this.of(value)
    if (!this.limit.isReachedBy(this.known.length))
      this.known.push({ bytes: Buffer.from(source.subarray(from, to)), unlisted })
    return unlisted
  }

  private of(value: unknown): UnlistedValue | undefined {
    return typeof value !== "string" || value === "" || this.listed.has(value)
      ? undefined
      : { hasList: this.listed.size > 0, table: this.table, column: this.column, value }
  }
}

/** Compiles the enum columns of a resource, and returns the function that finds unlisted values in the rows of a record. */
export const unlistedInBytes = (
  resource: Resource,
  { enumValues }: Limits["load"]
): ((rows: RowsInBytes) => ReadonlyArray<UnlistedValue>) => {
  const columns = new Map(
    tablesOf(resource).flatMap(({ name, columns }) => {
      const enums = columns.flatMap((column) =>
        column.enumValues === undefined ? [] : [new EnumColumn(name, column.name, column.enumValues, enumValues)]
      )
      return enums.length === 0 ? [] : [[name, enums] as const]
    })
  )
  return (rows) => {
    let found: Array<UnlistedValue> | undefined
    if (columns.size > 0)
      for (let row = 0; row < rows.rowsEnd; row++) {
        const { places, table } = rows.shapeOf(row)
        for (const column of columns.get(table) ?? none) {
          const unlisted = column.unlistedIn(rows, row, places.of(column.column))
          if (unlisted !== undefined) (found ??= []).push(unlisted)
        }
      }
    return found ?? none
  }
}

const none: ReadonlyArray<never> = []

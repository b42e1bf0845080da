/** The wide tables of the published DuckDB file: the rows of the wide views of the warehouse, so that reading some does not gather all. */
import { Effect } from "effect"
import { isChanged } from "../../stores/warehouse/meta/content-versions.ts"
import { partsOf } from "../../stores/warehouse/parts.ts"
import { name } from "../../stores/warehouse/sql.ts"
import type { StoredTables } from "../../stores/warehouse/columns.ts"
import type { TableChange, TableName } from "./changes.ts"

/** INSERT statements of the rows that a part of memory holds, for the wide tables that have rows and columns of their own. */
export const insertWide = Effect.fnUntraced(function* (
  tables: ReadonlyArray<TableName>,
  stored: StoredTables,
  copyOf: (path: string) => string
) {
  const inserts = yield* Effect.forEach(tables, (table) =>
    hasTable(table) && rowsOf(table, stored) > 0
      ? Effect.map(partsOf(table, "crm", false), (parts) =>
          parts.map((part) => `INSERT INTO ${copyOf(pathOfWide(table))} FROM ${part}`)
        )
      : Effect.succeed([])
  )
  return inserts.flat()
})

/** Replaces the rows of the records that have changed, or all. */
export const updateWide = Effect.fnUntraced(function* (
  tables: ReadonlyArray<TableChange>,
  stored: StoredTables,
  copyOf: (path: string) => string
) {
  const statements = yield* Effect.forEach(tables, (table) => {
    if (!hasTable(table) || table.change === "none") return Effect.succeed([])
    const copy = copyOf(pathOfWide(table))
    if (table.change === "all")
      return Effect.map(insertWide([table], stored, copyOf), (inserts) => [`DELETE FROM ${copy}`, ...inserts])
    const changed = `(SELECT id FROM crm.${name(table.wide.table)} WHERE ${isChanged(table)})`
    return Effect.succeed([
      `DELETE FROM ${copy} WHERE ${isChanged(table)}`,
      `INSERT INTO ${copy} FROM (${table.wide.among("crm", changed)})`
    ])
  })
  return statements.flat()
})

/** One without columns of its own stays a view. */
export const hasTable = <One extends TableName>(table: One): table is One & Wide =>
  table.wide !== undefined && table.wide.columns.length > 0
type Wide = { readonly [Name in "wide"]: NonNullable<TableName[Name]> }
const pathOfWide = ({ wide }: Wide): string => `crm.${name(wide.view)}`
const rowsOf = ({ wide }: Wide, stored: StoredTables): number => stored.get(`crm.${name(wide.table)}`)?.rows ?? 0

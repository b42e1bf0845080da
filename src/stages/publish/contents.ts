/** The checksums of the tables of a release. Those of unchanged rows are taken from the previous release. */
import { Effect } from "effect"
import {
  type Content,
  type StoredColumn,
  contentOf,
  contentOfRows,
  contentOfTexts,
  empty,
  untouched
} from "../../stores/warehouse/content.ts"
import { name } from "../../stores/warehouse/sql.ts"
import { changedRows } from "../../stores/warehouse/changed-rows.ts"
import type { TableChange } from "./changes.ts"
import type { CsvRow, StoredTable } from "../../stores/warehouse/columns.ts"
import type { TableContent } from "../../output/manifest.ts"
import type { Making } from "./release.ts"

/** The content of the changed records in the previous release, by `schema.table`. */
export type OldContents = ReadonlyMap<string, Content>

/**
 * `forSpreadsheets`: also compute the checksums of the columns that the CSV
 * profile for spreadsheets does not alter.
 */
export const contentsOf = Effect.fn("publish.contents")(function* (
  tables: ReadonlyArray<TableChange>,
  old: OldContents,
  { previous, small, stored }: Making,
  forSpreadsheets: boolean
) {
  const contents = yield* Effect.forEach(
    tables.filter(({ wide }) => !wide),
    (table) =>
      Effect.forEach(["crm", "crm_history"] as const, (schema) => {
        const path = pathOf(schema, table)
        const whole = wholeContent(schema, table, stored.get(path)!, small.get(path), forSpreadsheets)
        const before = previous?.manifest.tables.find((one) => pathOf(one.schema, { name: one.table }) === path)
        if (!before || (forSpreadsheets && before.untouchedSum === undefined)) return whole
        if (table.change === "none") return Effect.succeed(before)
        const replaced = old.get(path)
        return replaced && !forSpreadsheets && !small.has(path)
          ? Effect.map(changedContent(path, table, before), (present) => ({
              ...before,
              ...sumOf(before, replaced, present)
            }))
          : whole
      })
  )
  return contents.flat()
})

/** The changed records of a table, with the columns of the previous release. `path`: the table, in any database. */
export const changedContent = (path: string, table: TableChange, { columns }: TableContent) =>
  contentOf(
    changedRows(path, table),
    Object.entries(columns).map(([column, type]) => ({ name: column, type }))
  )

export const pathOf = (schema: string, table: { readonly name: string }): string => `${schema}.${name(table.name)}`

const wholeContent = Effect.fnUntraced(function* (
  schema: TableContent["schema"],
  table: TableChange,
  { columns, rows }: StoredTable,
  small: ReadonlyArray<CsvRow> | undefined,
  forSpreadsheets: boolean
) {
  const path = pathOf(schema, table)
  const content = (some: ReadonlyArray<StoredColumn>) =>
    rows === 0 ? Effect.succeed(empty) : contentOfRows(path, some)
  const spreadsheets = forSpreadsheets ? yield* content(untouched(columns)) : undefined
  return {
    schema,
    table: table.name,
    ...(small ? contentOfTexts(columns, small) : yield* content(columns)),
    ...(spreadsheets && { untouchedSum: spreadsheets.sum }),
    columns: Object.fromEntries(columns.map((column) => [column.name, column.type]))
  }
})

/** The checksum is a sum over the rows. */
const sumOf = (before: Content, old: Content, present: Content): Content => ({
  rows: before.rows - old.rows + present.rows,
  sum: String(BigInt(before.sum) - BigInt(old.sum) + BigInt(present.sum))
})

/** Writes CSV for programs; see format.ts. */
import { Effect } from "effect"
import type { PublishedTable } from "../../../catalog/published-tables.ts"
import { appendTo, onDisk, writeSmall } from "../../../output/files.ts"
import { changedKeys, changedRows, isChanged } from "../../warehouse/changed-rows.ts"
import { type CsvRow, columnsOf, selectText } from "../../warehouse/columns.ts"
import type { StoredColumn } from "../../warehouse/content.ts"
import { literal, name } from "../../warehouse/sql.ts"
import { Warehouse } from "../../warehouse/warehouse.ts"
import type { Earlier, Rows, Written } from "../format.ts"
import { copyWithout } from "./delta.ts"

/** A cell that is not NULL, quoted as DuckDB does: also if it is empty, or has a `#`, which begins a comment for some readers. */
const csvCell = (text: string): string => (/^$|[",#\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** Writes the file `target`. Returns the number of rows. */
export const writeCsv = Effect.fnUntraced(function* (rows: Rows, target: string) {
  if (rows.isEmpty) return yield* Effect.as(writeSmall(target, headerOf(rows.columns)), 0)
  return yield* copyCsv(rows.from, yield* columnsIn(rows.from, rows), target, true)
})

/** Writes the file `target`: that of the previous release without the rows of changed records, and their present rows. */
export const updateCsv = Effect.fnUntraced(function* (
  rows: Rows,
  { table, files: [previous] }: Earlier,
  target: string
) {
  const { from, wide } = rows
  const kept = yield* copyUnchanged(table, rows.columns, previous!, target)
  const changed = wide
    ? `(${wide.among("crm", `(SELECT id FROM crm.${name(wide.table)} WHERE ${isChanged(table)})`)})`
    : changedRows(from, table)
  const added = yield* copyCsv(changed, yield* columnsIn(changed, rows), `${target}.part`, false)
  yield* onDisk(target, "written", () => appendTo(target, `${target}.part`))
  return kept + added
})

/** A wide view has more columns than its table. */
const columnsIn = (from: string, { columns, wide }: Rows) => (wide ? columnsOf(from) : Effect.succeed(columns))

/** Whether an earlier file can be updated: the text of keys of other types differs from that in the file. */
export const hasTextKey = ({ recordKey }: PublishedTable, columns: ReadonlyArray<StoredColumn>): boolean =>
  recordKey.every((column) => (columns.find((one) => one.name === column)?.type ?? "VARCHAR") === "VARCHAR")

/** Copies a CSV file without the rows of changed records, and returns the number of its rows. */
const copyUnchanged = Effect.fnUntraced(function* (
  table: PublishedTable,
  columns: ReadonlyArray<StoredColumn>,
  previous: Pick<Written, "path" | "rows">,
  target: string
) {
  const keyColumns = table.recordKey.map((column) => columns.findIndex((one) => one.name === column))
  const keys = yield* changedKeys(table.resource)
  const removed = yield* onDisk(target, "written", () =>
    copyWithout({ from: previous.path, to: target, keyColumns, keys })
  )
  return previous.rows - removed
})

/** DuckDB itself writes the rows, ten times faster than this process would. Returns their number. */
const copyCsv = Effect.fnUntraced(function* (
  part: string,
  columns: ReadonlyArray<StoredColumn>,
  path: string,
  hasHeader: boolean
) {
  const [copied] = yield* (yield* Warehouse).rows(
    `COPY (${selectText(part, columns)}) TO ${literal(path)} (FORMAT csv, HEADER ${hasHeader}, DELIMITER ',', NEW_LINE '\\r\\n')`
  )
  return Number(copied?.["Count"])
})

export const headerOf = (columns: ReadonlyArray<StoredColumn>): string =>
  machineText([columns.map((column) => column.name)])

export const machineText = (rows: ReadonlyArray<CsvRow>) =>
  rows.map((row) => `${row.map((cell) => (cell === null ? "" : csvCell(cell))).join(",")}\r\n`).join("")

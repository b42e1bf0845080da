/** Writes CSV for programs; see format.ts. */
import { Effect } from "effect"
import { kindOf } from "../../../catalog/kinds.ts"
import type { PublishedTable } from "../../../catalog/published-tables.ts"
import { appendTo, onDisk, writeSmall } from "../../../output/files.ts"
import { changedKeys, changedRows } from "../../warehouse/changed-rows.ts"
import { type CsvRow, selectText } from "../../warehouse/columns.ts"
import { type StoredColumn, shortDecimalText } from "../../warehouse/content.ts"
import { literal } from "../../warehouse/sql.ts"
import { Warehouse } from "../../warehouse/warehouse.ts"
import type { Earlier, Rows, Written } from "../format.ts"
import { copyWithout } from "./delta.ts"

/** A cell that is not NULL, quoted as DuckDB does: also if it is empty, or has a `#`, which begins a comment for some readers. */
export const csvCell = (text: string): string => (/^$|[",#\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** Writes the file `target`. Returns the number of rows. */
export const writeCsv = Effect.fnUntraced(function* ({ columns, from, texts }: Rows, target: string) {
  if (!texts) return yield* copyCsv(from, columns, target, true)
  // Of few rows, a statement would cost more than the file.
  yield* writeSmall(target, smallCsv(columns, texts))
  return texts.length
})

/** Writes the file `target`: that of the previous release without the rows of changed records, and their present rows. */
export const updateCsv = Effect.fnUntraced(function* (
  { columns, from }: Rows,
  { table, files: [previous] }: Earlier,
  target: string
) {
  const kept = yield* copyUnchanged(table, columns, previous!, target)
  const added = yield* copyCsv(changedRows(from, table), columns, `${target}.part`, false)
  yield* onDisk(target, "written", () => appendTo(target, `${target}.part`))
  return kept + added
})

/** Whether an earlier file can be updated: the text of keys of other types differs from that in the file. */
export const hasTextKey = ({ recordKey }: PublishedTable, columns: ReadonlyArray<StoredColumn>): boolean =>
  recordKey.every((column) => (columns.find((one) => one.name === column)?.type ?? "VARCHAR") === "VARCHAR")

/** Copies a CSV file without the rows of changed records, and returns the number of its rows. */
export const copyUnchanged = Effect.fnUntraced(function* (
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
export const copyCsv = Effect.fnUntraced(function* (
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

/** The file of a small table. `texts`: those that `jsonOfRow` makes. */
export const smallCsv = (columns: ReadonlyArray<StoredColumn>, texts: ReadonlyArray<CsvRow>): string => {
  const decimals = columns.map(({ type }) => kindOf(type) === "decimal")
  const cells = (row: CsvRow): CsvRow =>
    row.map((text, index) => (text !== null && decimals[index] ? shortDecimalText(text) : text))
  return headerOf(columns) + machineText(decimals.includes(true) ? texts.map(cells) : texts)
}

export const headerOf = (columns: ReadonlyArray<StoredColumn>): string =>
  machineText([columns.map((column) => column.name)])

export const machineText = (rows: ReadonlyArray<CsvRow>) =>
  rows.map((row) => `${row.map((cell) => (cell === null ? "" : csvCell(cell))).join(",")}\r\n`).join("")

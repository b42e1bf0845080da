/** The CSV file of a wide table: the lines of the base table, each followed by the cells of its custom fields. */
import { Effect, Stream } from "effect"
import { open, rm } from "node:fs/promises"
import type { Failure } from "../../../values/failure.ts"
import { appendTo, onDisk } from "../../../output/files.ts"
import { name } from "../../warehouse/sql.ts"
import { Warehouse } from "../../warehouse/warehouse.ts"
import type { WideView } from "../../warehouse/wide-views.ts"
import { isChanged } from "../../warehouse/changed-rows.ts"
import { columnsOf } from "../../warehouse/columns.ts"
import { copyCsv, copyUnchanged, csvCell } from "./write.ts"
import { BufferedFile, type Lines, linesOf } from "./lines.ts"
import type { Earlier, Rows } from "../format.ts"
import { type WideValue, csvForm, wideValues, wideValuesSql } from "../wide-values.ts"

type WideRows = Rows & { readonly wide: WideView }

/** Writes the file `target`, with the rows in the order of the warehouse. Returns their number. */
export const writeWideCsv = Effect.fn("formats.wideCsv")(
  ({ wide }: WideRows, target: string): Effect.Effect<number, Failure, Warehouse> =>
    writeRows(wide, `crm.${name(wide.table)}`, target, true)
)

/** Writes the file `target`: that of the previous release without the rows of changed records, and their present rows. */
export const updateWideCsv = Effect.fn("formats.updateWideCsv")(function* (
  { columns, wide }: WideRows,
  { table, files: [previous] }: Earlier,
  target: string
) {
  const kept = yield* copyUnchanged(table, columns, previous!, target)
  const changed = `(FROM crm.${name(wide.table)} WHERE ${isChanged(table)})`
  const rows = yield* writeRows(wide, changed, `${target}.new`, false)
  yield* onDisk(target, "written", () => appendTo(target, `${target}.new`))
  return kept + rows
})

/** `from`: rows of the base table. Returns their number. */
const writeRows = Effect.fnUntraced(function* (wide: WideView, from: string, target: string, hasHeader: boolean) {
  const warehouse = yield* Warehouse
  const base = `${target}.part`
  const rows = yield* copyCsv(from, yield* columnsOf(from), base, hasHeader)
  const positions = `(SELECT location_id, id, row_number() OVER () - 1 AS position FROM ${from})`
  const values =
    wide.columns.length === 0
      ? Stream.empty
      : wideValues(warehouse.stream(wideValuesSql(wide, positions, csvForm, "position, place")))
  yield* Effect.acquireUseRelease(
    onDisk(target, "written", () => openWideCsv(base, target, wide, hasHeader)),
    (file) =>
      values.pipe(
        Stream.runForEachArray((some) => onDisk(target, "written", () => file.add(some))),
        Effect.andThen(onDisk(target, "written", () => file.end()))
      ),
    (file) => Effect.promise(() => file.close())
  )
  yield* onDisk(base, "removed", () => rm(base))
  return rows
})

const openWideCsv = async (base: string, target: string, { columns }: WideView, hasHeader: boolean) => {
  const source = await open(base, "r")
  const file = await open(target, "wx", 0o600)
  const written = new BufferedFile(file)
  const batches = linesOf(source)
  let lines: Lines = { bytes: Buffer.alloc(0), ends: [] }
  let line = 0
  /** The row of the next line; the header is row -1. */
  let row = hasHeader ? -1 : 0
  /** The cells of the next line, up to this column. */
  let cells = hasHeader ? columns.map(({ column }) => `,${csvCell(column)}`).join("") : ""
  let next = hasHeader ? columns.length : 0

  /** Writes the next line with its cells; returns false after the last. */
  const endLine = async (): Promise<boolean> => {
    if (line === lines.ends.length) {
      const batch = await batches.next()
      if (batch.done) return false
      ;[lines, line] = [batch.value, 0]
    }
    const missing = ",".repeat(columns.length - next)
    const begin = line === 0 ? 0 : lines.ends[line - 1]!
    await written.append(lines.bytes.subarray(begin, lines.ends[line]! - lineEnd.length))
    await written.append(Buffer.from(`${cells}${missing}${lineEnd}`))
    line++
    row++
    ;[cells, next] = ["", 0]
    return true
  }
  return {
    /** Values are sorted by row and column. A second value of a cell is ignored. */
    add: async (values: ReadonlyArray<WideValue>): Promise<void> => {
      for (const { row: of, column, text } of values) {
        while (row < of) if (!(await endLine())) throw new Error(`${base} has no row ${of}`)
        if (column < next) continue
        cells += `${",".repeat(column - next)},${csvCell(text)}`
        next = column + 1
      }
    },
    end: async (): Promise<void> => {
      while (await endLine());
      await written.flush()
    },
    close: async (): Promise<void> => {
      await source.close()
      await file.close()
    }
  }
}

const lineEnd = "\r\n"

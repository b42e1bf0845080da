/**
 * Writes tables as an Excel workbook, a few thousand rows in memory at a time. No package that we found writes several sheets
 * in bounded memory (November 2026): hucre makes sheets of one table only, others take all rows at once, and DuckDB's extension
 * has to be downloaded and writes one sheet. The sheets need little XML, and Effect writes the zip file.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Zip from "effect/encoding/Zip"
import { open } from "node:fs/promises"
import type { CsvRow } from "../../warehouse/columns.ts"
import { type SheetColumn, headerLine, lettersOf, lineOf, sheetLimits } from "./cells.ts"
import { packageParts, sheetPath, sheetSchema } from "./package-parts.ts"

export interface WorkbookTable {
  readonly name: string
  /** What the first sheet says of it. */
  readonly description?: string
  readonly columns: ReadonlyArray<SheetColumn>
  /** Values as text; timestamps in ISO 8601. */
  readonly rows: AsyncIterable<CsvRow>
}

export interface WorkbookOptions {
  /** Lines of the first sheet that say where the data is from. */
  readonly about: ReadonlyArray<string>
  readonly tables: ReadonlyArray<WorkbookTable>
  /** Lines of a sheet, for tests. */
  readonly linesMax?: number
}

/** Fails with the error of the rows, or of the file system. */
export const writeWorkbook = Effect.fn("formats.workbook")(function* (path: string, options: WorkbookOptions) {
  const { about, tables, linesMax = sheetLimits.lines } = options
  const wide = tables.find(({ columns }) => columns.length > sheetLimits.columns)
  if (wide)
    return yield* new Unwritten({
      cause: new Error(
        `${wide.name} has ${wide.columns.length.toLocaleString("en-US")} columns, and a sheet has at most ${sheetLimits.columns.toLocaleString("en-US")}`
      )
    })
  const written: Array<{ readonly table: WorkbookTable; rows: number; cut: Array<string>; cutCount: number }> = []

  async function* entries() {
    for (const table of tables) {
      const rows = lookAhead(table.rows)
      try {
        do {
          const cut: Array<string> = []
          const sheet = { table, rows: 0, cut, cutCount: 0 }
          written.push(sheet)
          yield entry(written.length - 1, sheetXml(sheet, rows, linesMax))
        } while (!(await rows.isAtEnd()))
      } finally {
        await rows.close()
      }
    }
    const names = sheetNames(written.map(({ table }) => table.name))
    yield entry(written.length, aboutXml(about, written, names))
    const parts = packageParts(["About", ...names], [written.length, ...written.keys()])
    for (const [file, content] of parts) yield Zip.file(file, content)
  }

  const failed = (cause: unknown) => new Unwritten({ cause })
  const file = yield* Effect.acquireRelease(
    Effect.tryPromise({ try: () => open(path, "w", 0o600), catch: failed }),
    (file) => Effect.ignore(Effect.tryPromise(() => file.close()))
  )
  yield* Stream.fromAsyncIterable(entries(), failed).pipe(
    Stream.pipeThroughChannel(Zip.encode()),
    Stream.mapError((error) => (error instanceof Unwritten ? error : failed(error))),
    Stream.runForEach((bytes: Uint8Array) => Effect.tryPromise({ try: () => file.writeFile(bytes), catch: failed }))
  )
  const names = sheetNames(written.map(({ table }) => table.name))
  return {
    sheets: written.map(({ table, rows }, index) => ({ name: names[index]!, table: table.name, rows })),
    rows: written.reduce((sum, { rows }) => sum + rows, 0),
    /** The number of values that are longer than a cell. */
    cut: written.reduce((sum, { cutCount }) => sum + cutCount, 0)
  }
}, Effect.scoped)

/** `cause`: the error of the rows, or of the file system. */
export class Unwritten extends Data.TaggedError("Unwritten")<{ readonly cause: unknown }> {}

const entry = (index: number, content: AsyncIterable<string>) =>
  Zip.fileStream(
    sheetPath(index),
    Stream.fromAsyncIterable(encoded(content), (cause) => new Unwritten({ cause }))
  )

/** Joins texts into pieces of some size, because each piece has a cost of its own. */
async function* encoded(content: AsyncIterable<string>) {
  const encoder = new TextEncoder()
  let pending = ""
  for await (const piece of content) {
    pending += piece
    if (pending.length < pieceLength) continue
    yield encoder.encode(pending)
    pending = ""
  }
  yield encoder.encode(pending)
}
const pieceLength = 128 * 1024

interface Sheet {
  readonly table: Pick<WorkbookTable, "name" | "description" | "columns">
  rows: number
  /** The first cells that are cut, and how many there are. */
  cut: Array<string>
  cutCount: number
}

const listedCutsMax = 1000

async function* sheetXml(sheet: Sheet, rows: LookAhead, linesMax: number) {
  const { columns } = sheet.table
  const letters = columns.map((_, index) => lettersOf(index))
  const widths = columns.map(
    ({ kind }, index) => `<col min="${index + 1}" max="${index + 1}" width="${widthOf[kind]}" customWidth="1"/>`
  )
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<worksheet xmlns="${sheetSchema}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>${widths.join("")}</cols><sheetData>${headerLine(columns, letters)}`
  let line = 2
  while (line <= linesMax && !(await rows.isAtEnd())) {
    const current = line
    yield lineOf(line, rows.take(), columns, letters, (column, characters) => {
      sheet.cutCount++
      if (sheet.cut.length < listedCutsMax)
        sheet.cut.push(`${letters[column]}${current}: ${characters.toLocaleString("en-US")} characters`)
    })
    line++
  }
  sheet.rows = line - 2
  yield `</sheetData><autoFilter ref="A1:${letters.at(-1)}${Math.max(line - 1, 1)}"/></worksheet>`
}

const widthOf = { text: 24, number: 14, boolean: 9, date: 12, instant: 24 } as const

async function* aboutXml(about: ReadonlyArray<string>, sheets: ReadonlyArray<Sheet>, names: ReadonlyArray<string>) {
  const columns: ReadonlyArray<SheetColumn> = [
    { name: "About", kind: "text" },
    { name: "", kind: "text" },
    { name: "", kind: "number" },
    { name: "", kind: "text" }
  ]
  const letters = columns.map((_, index) => lettersOf(index))
  const cuts = sheets.flatMap(({ cut }, index) => cut.map((text) => ["", names[index]!, null, text]))
  const cutCount = sheets.reduce((sum, sheet) => sum + sheet.cutCount, 0)
  const lines: ReadonlyArray<CsvRow> = [
    ...about.map((text) => [text]),
    [],
    ["Sheets", "Table", "Rows", "Description"],
    ...sheets.map(({ table, rows }, index) => [names[index]!, table.name, String(rows), table.description ?? null]),
    ...(cutCount === 0
      ? []
      : [
          [],
          [
            `${cutCount.toLocaleString("en-US")} values are longer than ${sheetLimits.characters.toLocaleString("en-US")} characters, which is the most a cell can hold, and are cut${cutCount > cuts.length ? `; the first ${cuts.length.toLocaleString("en-US")}` : ""}:`
          ],
          ...cuts
        ])
  ]
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<worksheet xmlns="${sheetSchema}"><cols><col min="1" max="2" width="32" customWidth="1"/><col min="3" max="3" width="12" customWidth="1"/><col min="4" max="4" width="90" customWidth="1"/></cols><sheetData>`
  for (const [index, row] of lines.entries()) yield lineOf(index + 1, row, columns, letters, () => {})
  yield "</sheetData></worksheet>"
}

interface LookAhead {
  /** Reads the next row if none is waiting. */
  readonly isAtEnd: () => Promise<boolean>
  /** The waiting row. */
  readonly take: () => CsvRow
  readonly close: () => Promise<void>
}

/** A sheet ends when it is full, and the next one begins only if there is a row for it. */
const lookAhead = (rows: AsyncIterable<CsvRow>): LookAhead => {
  const iterator = rows[Symbol.asyncIterator]()
  let next: IteratorResult<CsvRow> | undefined
  return {
    isAtEnd: async () => {
      next ??= await iterator.next()
      return next.done === true
    },
    take: () => {
      const row = next!.value as CsvRow // After isAtEnd, there is one.
      next = undefined
      return row
    },
    close: async () => void (await iterator.return?.())
  }
}

/** The limit for the name of a sheet. */
const lengthMax = 31

/** Names that the workbook, or Excel, uses itself. */
const reserved = ["about", "history"]

/** At most 31 characters, each once whatever its case, without the characters that Excel reserves. */
const sheetNames = (tables: ReadonlyArray<string>): ReadonlyArray<string> => {
  const taken = new Set(reserved)
  return tables.map((table) => {
    const plain = table.replaceAll(/[[\]:*?/\\]/g, "_").replaceAll(/^'|'$/g, "_") || "Sheet"
    for (let number = 1; ; number++) {
      const suffix = number === 1 ? "" : ` (${number})`
      const name = plain.slice(0, lengthMax - suffix.length).toWellFormed() + suffix
      if (taken.has(name.toLowerCase())) continue
      taken.add(name.toLowerCase())
      return name
    }
  })
}

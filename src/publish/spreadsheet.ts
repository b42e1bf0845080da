/**
 * Cells for people who open CSV in a spreadsheet program, which computes a text that begins with `=`, changes others
 * without a word, and stops at a certain size. Quoting does not help against any of it; a leading apostrophe does.
 */
import { stringify } from "csv-stringify/sync"
import { type StoredColumn, isText } from "../warehouse/content.ts"
import type { CsvRow } from "./columns.ts"

/** What Excel and LibreOffice take: lines of a sheet, the header among them, and UTF-16 units of a cell. */
export const spreadsheetLimits = { lines: 1_048_576, characters: 32_767 }

/** Without it Excel reads UTF-8 as the local code page. */
export const byteOrderMark = "\uFEFF"

/** Naming the line end makes csv-stringify leave the others in a cell unquoted, and some readers end the row there. */
export const lines = { record_delimiter: "\r\n", quote_record_delimiter: true } as const

export interface Alteration {
  readonly column: string
  readonly change: "apostrophe" | "cut" | "apostrophe and cut"
  /** UTF-16 units of the text before. */
  readonly characters: number
}

/** The row as a spreadsheet may have it, and what that changed. Numbers, instants and flags are no danger. */
export const safeRow = (
  columns: ReadonlyArray<StoredColumn>,
  row: CsvRow,
  charactersMax: number
): { readonly cells: CsvRow; readonly altered: ReadonlyArray<Alteration> } => {
  const altered: Array<Alteration> = []
  const cells = row.map((text, index) => {
    const column = columns[index]!
    if (text === null || !isText(column)) return text
    const safe = safeText(text)
    const short = cut(safe, charactersMax)
    if (short !== text)
      altered.push({
        column: column.name,
        change: short === safe ? "apostrophe" : safe === text ? "cut" : "apostrophe and cut",
        characters: text.length
      })
    return short
  })
  return { cells, altered }
}

/** Puts an apostrophe before every line that a spreadsheet would compute, and before digits that it would change. */
export const safeText = (text: string): string => {
  const safe = text.replace(computedLine, "'")
  return safe === text && (beginsWithLineEnd.test(text) || changedNumber.test(text)) ? `'${text}` : safe
}

/** Also quotes what separates cells in countries where the comma does not: a cell must not become two. */
export const spreadsheetText = (rows: ReadonlyArray<CsvRow>): string =>
  stringify([...rows], { ...lines, quoted_match: /^$|[;\t|]/ })

/**
 * White space, no-break space among it, may come first, and what is not seen: some programs drop control and format
 * characters. The wide and small signs are what East Asian input makes of `=+-@`.
 */
const computedLine = /^(?=[[\s\p{Cf}\p{Cc}]--[\r\n\t]]*[=+\-@＝＋－＠﹦﹢﹣﹫\t])/gmv
const beginsWithLineEnd = /^\s*[\r\n]/

/** Codes such as 00123, 12E5 and numbers of more than 15 digits come back from a spreadsheet as something else. */
const changedNumber = /^\s*(0\d+|\d{16,}|\d+(\.\d+)?e\d+)\s*$/i

/** Never between the halves of a pair: half a character is no text. */
const cut = (text: string, charactersMax: number): string =>
  text.length <= charactersMax ? text : text.slice(0, charactersMax).replace(/[\uD800-\uDBFF]$/, "")

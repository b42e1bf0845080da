/**
 * Cells for spreadsheet programs, which evaluate texts that begin with `=`, silently change others, and have size limits.
 * Quoting does not prevent this; a leading apostrophe does.
 */
import { stringify } from "csv-stringify/sync"
import { isText } from "../../../catalog/kinds.ts"
import type { StoredColumn } from "../../warehouse/content.ts"
import type { CsvRow } from "../../warehouse/columns.ts"

/** Limits of Excel and LibreOffice: lines of a sheet, including the header, and UTF-16 units of a cell. */
export const spreadsheetLimits = { lines: 1_048_576, characters: 32_767 }

/** Without it, Excel reads UTF-8 as the local code page. */
export const byteOrderMark = "\uFEFF"

/** With a `record_delimiter`, csv-stringify would not quote other line ends in a cell, where some readers end the row. */
export const lines = { record_delimiter: "\r\n", quote_record_delimiter: true } as const

export interface Alteration {
  readonly column: string
  readonly change: "apostrophe" | "cut" | "apostrophe and cut"
  /** UTF-16 units of the original text. */
  readonly characters: number
}

/** The row with safe cells, and the list of alterations. Numbers, timestamps and flags are safe. */
export const safeRow = (
  columns: ReadonlyArray<StoredColumn>,
  row: CsvRow,
  charactersMax: number
): { readonly cells: CsvRow; readonly altered: ReadonlyArray<Alteration> } => {
  const altered: Array<Alteration> = []
  const cells = row.map((text, index) => {
    const column = columns[index]!
    if (text === null || !isText(column.type)) return text
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

/** Puts an apostrophe before every line that a spreadsheet would evaluate, and before digits that it would change. */
export const safeText = (text: string): string => {
  const safe = text.replace(formulaLine, "'")
  return safe === text && (beginsWithLineEnd.test(text) || changedNumber.test(text)) ? `'${text}` : safe
}

/** Also quotes the separators of countries that do not use the comma, so that one cell does not become two. */
export const spreadsheetText = (rows: ReadonlyArray<CsvRow>): string =>
  stringify([...rows], { ...lines, quoted_match: /^$|[;\t|]/ })

/**
 * White space (including no-break space) and invisible characters may come first, because some programs remove control and
 * format characters. East Asian input methods produce the wide and small forms of `=+-@`.
 */
const formulaLine = /^(?=[[\s\p{Cf}\p{Cc}]--[\r\n\t]]*[=+\-@＝＋－＠﹦﹢﹣﹫\t])/gmv
const beginsWithLineEnd = /^\s*[\r\n]/

/** A spreadsheet changes codes such as 00123 and 12E5, and numbers of more than 15 digits. */
const changedNumber = /^\s*(0\d+|\d{16,}|\d+(\.\d+)?e\d+)\s*$/i

/** Never cuts between two surrogates of one character. */
const cut = (text: string, charactersMax: number): string =>
  text.length <= charactersMax ? text : text.slice(0, charactersMax).replace(/[\uD800-\uDBFF]$/, "")

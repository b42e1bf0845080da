/** Values as cells of SpreadsheetML. Nothing is a formula: every text is an inline string with the format for texts. */
import { type KindName, kindOf, kinds } from "../../../catalog/kinds.ts"
import { dayMs } from "../../../catalog/timestamps.ts"
import type { CsvRow } from "../../warehouse/columns.ts"

export type CellKind = (typeof kinds)[KindName]["cell"]

export interface SheetColumn {
  readonly name: string
  readonly kind: CellKind
}

/** Limits of Excel. */
export const sheetLimits = { lines: 1_048_576, columns: 16_384, characters: 32_767, digits: 15 } as const

/** The kind of the cells of a column, from its DuckDB type, which in models and queries may be any. Lists are texts. */
export const cellOf = (type: string): CellKind => {
  const kind = kindOf(type)
  if (kind) return kinds[kind].cell
  if (type.startsWith("TIMESTAMP") && !type.endsWith("]")) return "instant"
  return /^(DOUBLE|FLOAT|U?(TINY|SMALL|BIG|HUGE)?INT|U?INTEGER)$/.test(type) ? "number" : "text"
}

/** Index in the list of formats; see styles in package-parts.ts. */
export const formats = { text: 1, date: 2, instant: 3, header: 4 } as const

/** The letters of a column: 0 is A, 26 is AA. */
export const lettersOf = (index: number): string =>
  (index >= 26 ? lettersOf(Math.floor(index / 26) - 1) : "") + String.fromCharCode(65 + (index % 26))

/** Called for a text that is longer than a cell. */
export type OnCut = (column: number, characters: number) => void

/** One line of a sheet. `letters`: of each column. */
export const lineOf = (
  line: number,
  row: CsvRow,
  columns: ReadonlyArray<SheetColumn>,
  letters: ReadonlyArray<string>,
  onCut: OnCut
): string => {
  let cells = ""
  for (let index = 0; index < row.length; index++) {
    const value = row[index]
    if (value === null || value === undefined) continue
    const place = `<c r="${letters[index]}${line}"`
    cells += numberCell(place, value, columns[index]!.kind) ?? textCell(place, value, (length) => onCut(index, length))
  }
  return `<row r="${line}">${cells}</row>`
}

export const headerLine = (columns: ReadonlyArray<SheetColumn>, letters: ReadonlyArray<string>): string =>
  `<row r="1">${columns.map(({ name }, index) => textCell(`<c r="${letters[index]}1"`, name, () => {}, formats.header)).join("")}</row>`

/** Absent if the value has to be a text, such as a number with more digits than Excel keeps. */
const numberCell = (place: string, value: string, kind: CellKind): string | undefined => {
  switch (kind) {
    case "text":
      return undefined
    case "boolean":
      return `${place} t="b"><v>${value === "true" ? 1 : 0}</v></c>`
    case "number":
      return isExact(value) ? `${place}><v>${value}</v></c>` : undefined
    default: {
      const day = dayNumberOf(kind === "date" ? value : instantText(value))
      return day === undefined ? undefined : `${place} s="${formats[kind]}"><v>${day}</v></c>`
    }
  }
}

const textCell = (place: string, value: string, onCut: (characters: number) => void, format: number = formats.text) => {
  if (value.length > sheetLimits.characters) onCut(value.length)
  // Never cuts between two surrogates of one character.
  const text =
    value.length > sheetLimits.characters
      ? value.slice(0, sheetLimits.characters).replace(/[\uD800-\uDBFF]$/, "")
      : value
  return `${place} s="${format}" t="inlineStr"><is><t xml:space="preserve">${xmlText(text)}</t></is></c>`
}

const isExact = (value: string): boolean => {
  if (!/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value)) return false
  const mantissa = value.replace(/e.*$/i, "")
  const digits = (mantissa.includes(".") ? mantissa.replace(/0+$/, "") : mantissa).replaceAll(/[-.]/g, "")
  return digits.replace(/^0+/, "").length <= sheetLimits.digits
}

/** A timestamp without a time zone has a space, and no letter at its end. */
const instantText = (value: string): string => (value.endsWith("Z") ? value : `${value.replace(" ", "T")}Z`)

/** Day 0 of Excel, for days from March 1900 (day 61): it counts 29 February 1900, which did not exist. */
const firstDay = Date.UTC(1899, 11, 30)

const dayNumberOf = (text: string): number | undefined => {
  const time = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) return undefined
  const day = (time - firstDay) / dayMs
  return day < 61 ? undefined : day
}

/** Text in XML. Characters that XML does not permit, and carriage returns, are written as Excel writes them: _x0001_. */
export const xmlText = (text: string): string => {
  if (!special.test(text)) return text
  return text
    .toWellFormed()
    .replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, "_x005F_")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(unwritable, (one) => `_x${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}_`)
}

// oxlint-disable-next-line eslint/no-control-regex -- These are the characters to find.
const unwritable = /[\u0000-\u0008\u000B-\u001F\uFFFE\uFFFF]/g
// oxlint-disable-next-line eslint/no-control-regex -- As above.
const special = /[&<>_\u0000-\u0008\u000B-\u001F\uD800-\uDFFF\uFFFE\uFFFF]/

/** Whether a value here and a value there mean the same: instants and numbers by value, JSON by structure. */
import { isDeepStrictEqual } from "node:util"
import { instantMs } from "../catalog/timestamps.ts"
import type { Column } from "../catalog/tables.ts"
import { name } from "../warehouse/sql.ts"

/** The column as the text that `same` compares; instants in epoch milliseconds. */
export const asText = ({ name: column, type }: Column): string =>
  `${type === "instant" ? `epoch_ms(${name(column)})` : name(column)}::VARCHAR AS ${name(column)}`

/** `theirs` as the normaliser made it. */
export const same = ({ type }: Column, ours: string, theirs: unknown): boolean => {
  const sent = textOf(theirs)
  switch (type) {
    case "instant":
      return Number(ours) === epochMs(theirs)
    case "decimal":
    case "count":
      return plainNumber(ours) === plainNumber(sent)
    case "json":
      return isDeepStrictEqual(parsed(ours), typeof theirs === "string" ? parsed(sent) : theirs)
    default:
      return withoutMark(ours) === withoutMark(sent)
  }
}

/** Of what the normaliser takes for a moment; a day alone is its first one. */
export const epochMs = (value: unknown): number => instantMs(value) ?? Date.parse(textOf(value))

/** For people. */
export const shown = ({ type }: Column, text: string): string =>
  JSON.stringify(
    type === "instant" && /^-?\d+$/.test(text)
      ? new Date(Number(text)).toISOString()
      : text.length > 60
        ? `${text.slice(0, 60)}…`
        : text
  )

/** Text that has all digits: a double would not. */
export const textOf = (value: unknown): string => (JSON.isRawJSON(value) ? value.rawJSON : String(value))

/** `7.5000` and `7.5` are one number, `-0` and `0` too. */
const plainNumber = (text: string): string => {
  const short = text.includes(".") ? text.replace(/\.?0+$/, "") : text
  return short === "-0" ? "0" : short
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The driver drops a byte order mark at the beginning of a text. */
const withoutMark = (text: string): string => text.replace(/^\uFEFF/, "")

/** Compares a value of the warehouse with one of the service: timestamps and numbers by value, JSON by structure. */
import { isDeepStrictEqual } from "node:util"
import { instantMs } from "../../catalog/timestamps.ts"
import type { Column } from "../../catalog/tables.ts"
import { name } from "../../stores/warehouse/sql.ts"

/** SQL for the column as the text that `same` compares; timestamps in epoch milliseconds. */
export const asText = ({ name: column, type }: Column): string =>
  `${type === "instant" ? `epoch_ms(${name(column)})` : name(column)}::VARCHAR AS ${name(column)}`

/** `theirs` is the value that the normaliser returned. */
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

/** Epoch milliseconds of a value that the normaliser accepts as a timestamp; a date is its first moment. */
export const epochMs = (value: unknown): number => instantMs(value) ?? Number.NaN

/** The value for people. */
export const shown = ({ type }: Column, text: string): string =>
  JSON.stringify(
    type === "instant" && /^-?\d+$/.test(text)
      ? new Date(Number(text)).toISOString()
      : text.length > 60
        ? `${text.slice(0, 60)}…`
        : text
  )

/** Keeps all digits of a number, which a double would not. */
export const textOf = (value: unknown): string => (JSON.isRawJSON(value) ? value.rawJSON : String(value))

/** `7.5000` and `7.5` are the same number, and so are `-0` and `0`. */
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

/** The driver removes a byte order mark at the beginning of a text. */
const withoutMark = (text: string): string => text.replace(/^\uFEFF/, "")

/**
 * Turns one value as the service sent it into the text DuckDB reads for a column's type, or refuses it.
 * Everything accepted here casts without an error: one refused cast would stop a whole batch.
 */
import { decimalOf, scale, wholeDigits } from "../../catalog/decimals.ts"
import type { ColumnType } from "../../catalog/fields.ts"
import { instantText, isDay } from "../../catalog/timestamps.ts"

/** What a converter answers when the value does not fit; the value then goes to `meta.rejected_values`. */
export const refused = Symbol("refused")
type Converted = string | number | boolean | null | typeof refused
/** What enters the column is not quite what was sent, or nothing does, for a reason that has to be told. */
export class Adjusted {
  readonly value: string | typeof refused
  readonly reason: string
  constructor(value: string | typeof refused, reason: string) {
    this.value = value
    this.reason = reason
  }
}
export type Convert = (value: unknown) => Converted | Adjusted

/** Numbers whose text a double cannot hold arrive as raw JSON (see parse.ts) and are read as their text. */
const scalar = (value: unknown): unknown => (JSON.isRawJSON(value) ? value.rawJSON : value)

const text: Convert = (value) => {
  if (typeof value === "string") return value
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  return JSON.isRawJSON(value) ? value.rawJSON : refused
}

const flag: Convert = (value) => {
  if (typeof value === "boolean") return value
  if (value === "") return null
  const word = typeof value === "string" ? value.toLowerCase() : ""
  return word === "true" ? true : word === "false" ? false : refused
}

const count: Convert = (sent) => {
  const value = scalar(sent)
  if (typeof value === "number") return Number.isSafeInteger(value) ? value : refused
  if (value === "") return null
  if (typeof value !== "string" || !/^-?\d{1,19}$/.test(value)) return refused
  return BigInt.asIntN(64, BigInt(value)) === BigInt(value) ? value : refused
}

const decimal: Convert = (sent) => {
  const value = scalar(sent)
  if (value === "") return null
  const read = typeof value === "number" || typeof value === "string" ? decimalOf(String(value)) : undefined
  if (read === undefined) return refused
  if (read.text === undefined) return new Adjusted(refused, `has more than ${wholeDigits} digits before the point`)
  return read.rounded ? new Adjusted(read.text, `rounded to ${scale} decimals`) : read.text
}

/** See instants.ts; a day alone is its first moment. */
const instant: Convert = (value) => {
  if (value === "") return null
  return instantText(value) ?? (typeof value === "string" && value.length === 10 ? date(value) : refused)
}

const yearFirst = /^(\d{4})[/\-._](\d\d)[/\-._](\d\d)(?:[T ](.*))?$/
const yearLast = /^(\d\d)[/\-._](\d\d)[/\-._](\d{4})$/

/** The eight documented spellings (A 2.2), the day part of an instant, or epoch milliseconds (its day in UTC). */
const date: Convert = (value) => {
  if (value === "") return null
  if (typeof value !== "string" || /^-?\d{11,16}$/.test(value)) return instantText(value)?.slice(0, 10) ?? refused
  const first = yearFirst.exec(value)
  const [year, month, day, time] = first
    ? first.slice(1)
    : ((last) => [last?.[3], last?.[1], last?.[2]])(yearLast.exec(value))
  if (!isDay(Number(year), Number(month), Number(day))) return refused
  const written = `${year}-${month}-${day}`
  return time === undefined || instantText(`${written}T${time}`) !== undefined ? written : refused
}

const json: Convert = (value) => wellFormed(value)

export const converters: Readonly<Record<ColumnType, Convert>> = {
  text,
  instant,
  date,
  decimal,
  count,
  flag,
  json
}

/** What people read: text as it is, lists of words with commas, everything else as JSON. */
export const readable = (value: unknown): string => {
  const own = text(value)
  if (typeof own === "string") return own
  if (Array.isArray(value) && value.every((item) => typeof text(item) === "string")) return value.map(text).join(", ")
  return JSON.stringify(value)
}

/** JSON that DuckDB can read: a lone surrogate is no text in any encoding and becomes U+FFFD. */
export const wellFormed = (value: unknown): string => mended(JSON.stringify(value))

/** Half a character, which JSON prints as an escape, in values and keys alike; after a backslash it only looks like one. */
const mended = (body: string): string =>
  body.includes("\\ud")
    ? body.replaceAll(/\\(u[dD][89a-fA-F][0-9a-fA-F]{2}|.)/g, (escape) => (/^\\u[dD]/.test(escape) ? "\ufffd" : escape))
    : body

/** Whether a value holds half a character anywhere, which its column then shows as U+FFFD. */
export const hasLoneSurrogates = (value: unknown): boolean =>
  typeof value === "string"
    ? !value.isWellFormed()
    : typeof value === "object" && value !== null && mended(JSON.stringify(value)) !== JSON.stringify(value)

/** What identifies a row has to be the same text everywhere. */
export const unfitForKey = (value: unknown): boolean =>
  typeof value === "string" && (!value.isWellFormed() || value.includes("\0"))

/**
 * Decides about every value: of main columns, custom fields and answers of forms alike. Converts it into text that DuckDB reads
 * as the column's type, or rejects it. DuckDB must be able
 * to cast every accepted value, because one failed cast would fail the whole batch.
 */
import { decimalOf, wholeDigits } from "./decimals.ts"
import type { ColumnType } from "./fields.ts"
import { dayText, instantText } from "./timestamps.ts"

/** Returned for a value that does not fit; it is then recorded in `meta.rejected_values`. */
export const rejected = Symbol("rejected")
export type Converted = string | number | boolean | null | typeof rejected
/** The column gets a changed value, or none, and the reason is recorded. */
export class Adjusted {
  readonly value: string | typeof rejected
  readonly reason: string
  constructor(value: string | typeof rejected, reason: string) {
    this.value = value
    this.reason = reason
  }
}
/** The number that the column gets in place of one with more decimals. */
export class Rounded {
  readonly value: string
  constructor(value: string) {
    this.value = value
  }
}
export type Convert = (value: unknown) => Converted | Adjusted | Rounded

/** Numbers that a double cannot represent arrive as raw JSON (see json.ts) and are used as text. */
const scalar = (value: unknown): unknown => (JSON.isRawJSON(value) ? value.rawJSON : value)

const text: Convert = (value) => {
  if (typeof value === "string") return value
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  return JSON.isRawJSON(value) ? value.rawJSON : rejected
}

const flag: Convert = (value) => {
  if (typeof value === "boolean") return value
  if (value === "") return null
  const lower = typeof value === "string" ? value.toLowerCase() : ""
  return lower === "true" ? true : lower === "false" ? false : rejected
}

const count: Convert = (sent) => {
  const value = scalar(sent)
  if (typeof value === "number") return Number.isSafeInteger(value) ? value : rejected
  if (value === "") return null
  if (typeof value !== "string" || !/^-?\d{1,19}$/.test(value)) return rejected
  return BigInt.asIntN(64, BigInt(value)) === BigInt(value) ? value : rejected
}

const decimal: Convert = (sent) => {
  const value = scalar(sent)
  if (value === "") return null
  const read = typeof value === "number" || typeof value === "string" ? decimalOf(String(value)) : undefined
  if (read === undefined) return rejected
  if (read.text === undefined) return new Adjusted(rejected, `has more than ${wholeDigits} digits before the point`)
  return read.rounded ? new Rounded(read.text) : read.text
}

/** See timestamps.ts. */
const instant: Convert = (value) => (value === "" ? null : (instantText(value) ?? rejected))

const date: Convert = (value) => (value === "" ? null : (dayText(value) ?? rejected))

/** Most values are texts and numbers, which need no JSON.stringify. */
const json: Convert = (value) => {
  if (typeof value === "string" && !special.test(value)) return `"${value}"`
  return typeof value === "number" ? String(value) : wellFormed(value)
}

export const converters: Readonly<Record<ColumnType, Convert>> = {
  text,
  instant,
  date,
  decimal,
  count,
  flag,
  json
}

/** Text for people: text unchanged, lists of plain values separated by commas, everything else as JSON. */
export const readable = (value: unknown): string => {
  const plain = text(value)
  if (typeof plain === "string") return plain
  if (Array.isArray(value) && value.every((item) => typeof text(item) === "string")) return value.map(text).join(", ")
  return JSON.stringify(value)
}

/** JSON that DuckDB can read: a lone surrogate is invalid in every encoding and becomes U+FFFD. */
export const wellFormed = (value: unknown): string => replaceSurrogates(JSON.stringify(value))

/** A character other than those that JSON prints, and a column stores, as they are sent, in one byte. */
export const special = /[^ !#-[\]-~]/

/** Replaces lone surrogates, which JSON.stringify escapes, in values and keys. After a backslash, \\ud800 is plain text. */
const replaceSurrogates = (body: string): string =>
  body.includes("\\ud")
    ? body.replaceAll(/\\(u[dD][89a-fA-F][0-9a-fA-F]{2}|.)/g, (escape) => (/^\\u[dD]/.test(escape) ? "\ufffd" : escape))
    : body

/** Whether a value has a lone surrogate anywhere, which the column stores as U+FFFD. */
export const hasLoneSurrogates = (value: unknown): boolean =>
  typeof value === "string"
    ? !value.isWellFormed()
    : typeof value === "object" && value !== null && replaceSurrogates(JSON.stringify(value)) !== JSON.stringify(value)

/** A key must be the same text everywhere, so it may contain neither a lone surrogate nor a NUL. */
export const unfitForKey = (value: unknown): boolean =>
  typeof value === "string" && (!value.isWellFormed() || value.includes("\0"))

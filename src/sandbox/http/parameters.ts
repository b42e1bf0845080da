import { invalid, malformed } from "./errors.ts"
import type { Data } from "../account/collection.ts"

/** Readers for values that their description leaves open. Absent and empty mean the default; errors are those of A 7. */

/** A whole number of a checked request: one above the maximum is a 400 like a wrong type (field-notes 1), any other a 422. */
export const wholeNumber = (
  body: Data,
  name: string,
  { fallback, minimum = 1, maximum = Number.MAX_SAFE_INTEGER }: { fallback: number; minimum?: number; maximum?: number }
): number => {
  const number = body[name] ?? fallback
  if (typeof number !== "number" || !Number.isInteger(number)) throw malformed(`${name} must be an integer number`)
  if (number > maximum) throw malformed(`${name} must not be greater than ${maximum}`)
  if (number < minimum) throw invalid(`${name} must not be less than ${minimum}`)
  return number
}

export const oneOf = <T extends string>(value: unknown, name: string, choices: ReadonlyArray<T>): T | undefined => {
  if (value === undefined || value === null || value === "") return undefined
  if (!choices.includes(value as T)) {
    throw invalid(`${name} must be one of the following values: ${choices.join(", ")}`)
  }
  return value as T
}

/** Search text, at most 75 characters (A 8). */
export const searchText = (value: unknown, name: string): string | undefined => {
  if (value === null || value === undefined || value === "") return undefined
  if (typeof value !== "string") throw malformed(`${name} must be a string`)
  if (value.length > 75) throw invalid(`${name} must be shorter than or equal to 75 characters`)
  return value.toLowerCase()
}

/** The first instant of a day given as mm-dd-yyyy (A 4.4). */
export const americanDay = (value: unknown, name: string): number | undefined => {
  if (typeof value !== "string" || value === "") return undefined
  const instant = /^\d{2}-\d{2}-\d{4}$/.test(value) ? dayOf(value) : undefined
  if (instant === undefined) throw invalid(`${name} must be a valid date in the format mm-dd-yyyy`)
  return instant
}

/** The first instant of a day there is, with the year first or the month, and one of the separators twice. */
export const dayOf = (value: string, separators = "-/._"): number | undefined => {
  const [first, second, third] = separators.split("").flatMap((separator) => {
    const parts = value.split(separator)
    return parts.length === 3 ? parts : []
  }) as [string, string, string]
  const [year, month, day] = first?.length === 4 ? [first, second, third] : [third, first, second]
  const text = `${year}-${month}-${day}`
  const instant = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN
  // February 30 is read as a day of March.
  return new Date(instant).getUTCDate() === Number(day) ? instant : undefined
}

/** An instant as ISO 8601 or as epoch milliseconds, in digits or as a number; undefined when it is neither. */
export const instant = (value: unknown): number | undefined => {
  if (typeof value === "number") return Math.abs(value) <= lastInstant ? value : undefined
  if (typeof value !== "string") return undefined
  const parsed = /^\d{10,}$/.test(value) ? Number(value) : isIso(value) ? Date.parse(value) : Number.NaN
  return Math.abs(parsed) <= lastInstant ? parsed : undefined
}

export const list = (value: unknown): ReadonlyArray<string> | undefined =>
  typeof value !== "string" || value === "" ? undefined : value.split(",").map((part) => part.trim())

export const dayMs = 86_400_000

/** The end of the year 9999: what lies beyond has no date of four digits. */
const lastInstant = 253_402_300_799_999

const isIso = (value: string): boolean => isoShape.test(value) && dayOf(value.slice(0, 10)) !== undefined

const isoShape = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/

import { invalid, malformed } from "./errors.ts"
import type { Data } from "../account/collection.ts"

/** Readers for values that a `Shape` cannot check. An absent or empty value is the default; errors are those of A 7. */

/** An integer. Above the maximum it is a 400, like a wrong type (field-notes 1); below the minimum it is a 422. */
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

/** A search text in lower case, of at most 75 characters (A 8). */
export const searchText = (value: unknown, name: string): string | undefined => {
  if (value === null || value === undefined || value === "") return undefined
  if (typeof value !== "string") throw malformed(`${name} must be a string`)
  if (value.length > 75) throw invalid(`${name} must be shorter than or equal to 75 characters`)
  return value.toLowerCase()
}

/** The start of a UTC day in the format mm-dd-yyyy (A 4.4), in epoch milliseconds. */
export const americanDay = (value: unknown, name: string): number | undefined => {
  if (typeof value !== "string" || value === "") return undefined
  const instant = /^\d{2}-\d{2}-\d{4}$/.test(value) ? dayOf(value) : undefined
  if (instant === undefined) throw invalid(`${name} must be a valid date in the format mm-dd-yyyy`)
  return instant
}

/**
 * The start of a UTC day in epoch milliseconds, from year, month, day or month, day, year with one of the separators;
 * undefined if there is no such day.
 */
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

/** Epoch milliseconds of a timestamp in ISO 8601, or in epoch milliseconds as number or text; undefined for anything else. */
export const instant = (value: unknown): number | undefined => {
  if (typeof value === "number") return Math.abs(value) <= lastInstant ? value : undefined
  if (typeof value !== "string") return undefined
  const parsed = /^\d{10,}$/.test(value) ? Number(value) : isIso(value) ? Date.parse(value) : Number.NaN
  return Math.abs(parsed) <= lastInstant ? parsed : undefined
}

export const list = (value: unknown): ReadonlyArray<string> | undefined =>
  typeof value !== "string" || value === "" ? undefined : value.split(",").map((part) => part.trim())

export const dayMs = 86_400_000

/** The end of the year 9999, because later years have more than four digits. */
const lastInstant = 253_402_300_799_999

const isIso = (value: string): boolean => isoShape.test(value) && dayOf(value.slice(0, 10)) !== undefined

const isoShape = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/

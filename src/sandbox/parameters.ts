import { invalid, malformed } from "./errors.ts"
import type { Data } from "./world/collection.ts"

/** Readers for query and body values. Absent and empty mean the default; the refusals are those of A 7. */

/** A whole number. Text that is none is of the wrong type (400); one above the maximum is refused by name (400). */
export const whole = (
  value: unknown,
  name: string,
  { fallback, least = 1, most = Number.MAX_SAFE_INTEGER }: { fallback: number; least?: number; most?: number }
): number => {
  if (value === null || value === undefined || value === "") return fallback
  const number = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value
  if (typeof number !== "number" || !Number.isInteger(number)) throw malformed(`${name} must be an integer number`)
  if (number > most) throw malformed(`${name} must not be greater than ${most}`)
  if (number < least) throw invalid(`${name} must not be less than ${least}`)
  return number
}

/** A number in a JSON body: a numeric text is of the wrong type there. */
export const wholeInBody = (body: Data, name: string, bounds: { fallback: number; least?: number; most?: number }) => {
  if (typeof body[name] === "string") throw malformed(`${name} must be an integer number`)
  return whole(body[name], name, bounds)
}

export const oneOf = <T extends string>(
  value: string | null,
  name: string,
  choices: ReadonlyArray<T>
): T | undefined => {
  if (value === null || value === "") return undefined
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
export const americanDay = (value: string | null, name: string): number | undefined => {
  if (value === null || value === "") return undefined
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

export const list = (value: string | null): ReadonlyArray<string> | undefined =>
  value === null || value === "" ? undefined : value.split(",").map((part) => part.trim())

export const dayMs = 86_400_000

/** The end of the year 9999: what lies beyond has no date of four digits. */
const lastInstant = 253_402_300_799_999

const isIso = (value: string): boolean => isoShape.test(value) && dayOf(value.slice(0, 10)) !== undefined

const isoShape = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/

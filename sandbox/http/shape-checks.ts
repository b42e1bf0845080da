import { invalid, malformed } from "./errors.ts"
import { dayOf, instant } from "./parameters.ts"
import type { Field, Shape } from "./shape.ts"
import type { Data } from "../account/collection.ts"

/**
 * The members of a body that its shape describes; others are ignored. Throws 400 for the first wrong type, else 422 with all
 * invalid values.
 */
export const checkBody = (shape: Shape, body: Data): Data => {
  const problems: Array<string> = []
  checkMembers(shape, body, "", problems)
  if (problems.length > 0) throw invalid(...problems)
  const sent = Object.entries(shape).filter(
    ([name, field]) =>
      Object.hasOwn(body, name) && body[name] !== undefined && (body[name] !== null || isClearable(field))
  )
  return Object.fromEntries(sent.map(([name]) => [name, body[name]]))
}

/** A null clears a text, number or boolean; for a list, an object or a timestamp it counts as not sent. */
const isClearable = ({ format, type }: Field): boolean =>
  type !== "array" && type !== "object" && format !== "date-time"

/** Checks a query in the same order; its numbers and booleans are texts. */
export const checkQuery = (shape: Shape, query: URLSearchParams): void => {
  const problems: Array<string> = []
  for (const [name, field] of Object.entries(shape)) {
    const sent = query.get(name) ?? ""
    if (sent === "") {
      if (field.required) problems.push(`${name} should not be empty`)
    } else if (field.type !== "array" && field.type !== "any") {
      checkValue(field, fromText(field, sent, name), name, problems)
    }
  }
  if (problems.length > 0) throw invalid(...problems)
}

const fromText = (field: Field, sent: string, name: string): unknown => {
  if (field.type === "boolean") {
    if (sent !== "true" && sent !== "false") throw malformed(`${name} must be ${typeNames.boolean}`)
    return sent === "true"
  }
  if (field.type !== "integer" && field.type !== "number") return sent
  if (!/^-?\d+(\.\d+)?$/.test(sent)) throw malformed(`${name} must be ${typeNames[field.type]}`)
  return Number(sent)
}

const checkMembers = (shape: Shape, data: Data, path: string, problems: Array<string>): void => {
  for (const [name, field] of Object.entries(shape)) {
    const value = Object.hasOwn(data, name) ? data[name] : undefined
    const label = `${path}${name}`
    if (field.forbidden) {
      if (value !== undefined) problems.push(`property ${label} should not exist`)
      continue
    }
    if (value === undefined || value === null) {
      if (field.required) problems.push(`${label} should not be empty`)
    } else checkValue(field, value, label, problems)
  }
}

const checkValue = (field: Field, value: unknown, label: string, problems: Array<string>): void => {
  if (!hasType(field, value)) throw malformed(`${label} must be ${typeNames[field.type]}`)
  if (typeof value === "string" && field.type === "string") problems.push(...textProblems(field, value, label))
  if (typeof value === "number") {
    const { minimum = -Infinity, maximum = Infinity } = field
    // An integer above its maximum, such as a page size, is a 400 (field-notes 1); other numbers out of range are a 422.
    if (value > maximum && field.type === "integer") throw malformed(`${label} must not be greater than ${maximum}`)
    if (value > maximum) problems.push(`${label} must not be greater than ${maximum}`)
    if (value < minimum) problems.push(`${label} must not be less than ${minimum}`)
  }
  if (Array.isArray(value)) {
    const { items } = field
    if (items !== undefined) value.forEach((item, index) => checkValue(items, item, `${label}.${index}`, problems))
  } else if (typeof value === "object" && field.fields !== undefined) {
    checkMembers(field.fields, value as Data, `${label}.`, problems)
  }
}

const textProblems = (field: Field, value: string, label: string): Array<string> => {
  // An empty text clears a field, but is not a valid timestamp.
  if (value === "" && field.required) return [`${label} should not be empty`]
  if (value === "" && field.format !== "date-time") return []
  if (field.choices !== undefined && !field.choices.includes(value)) {
    return [`${label} must be one of the following values: ${field.choices.join(", ")}`]
  }
  if (value.length > (field.maxLength ?? Infinity)) {
    return [`${label} must be shorter than or equal to ${field.maxLength} characters`]
  }
  const [fits, description] = formats[field.format ?? "none"]
  return fits(value) ? [] : [`${label} must ${description}`]
}

const formats: Record<NonNullable<Field["format"]> | "none", readonly [(value: string) => boolean, string]> = {
  none: [() => true, ""],
  email: [(value) => /^[^\s@]+@[^\s@]+$/.test(value), "be an email"],
  // "Phone without country code" is a documented 422 (A 7).
  phone: [(value) => /^\+\d{5,15}$/.test(value), "have a country code"],
  "date-time": [(value) => !/^\d+$/.test(value) && instant(value) !== undefined, "be a valid ISO 8601 date string"],
  date: [(value) => /^\d{4}-\d{2}-\d{2}$/.test(value) && dayOf(value) !== undefined, "be a date, YYYY-MM-DD"]
}

const hasType = ({ type }: Field, value: unknown): boolean => {
  if (type === "any") return true
  if (type === "integer") return Number.isInteger(value)
  if (type === "number") return Number.isFinite(value)
  if (type === "array") return Array.isArray(value)
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value)
  return typeof value === type
}

const typeNames: Record<Field["type"], string> = {
  string: "a string",
  number: "a number",
  integer: "an integer number",
  boolean: "a boolean value",
  array: "an array",
  object: "an object",
  any: "anything"
}

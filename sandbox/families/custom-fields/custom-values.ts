import { invalid } from "../../http/errors.ts"
import { dayMs, dayOf, instant } from "../../http/parameters.ts"
import type { Service } from "../../service.ts"
import type { Data, Entry } from "../../account/collection.ts"

/**
 * Reads an item of `customFields` (A 2.2), which has the id or the key of the field, and `fieldValue` or the deprecated
 * `field_value`. A null clears the value, so that nothing is stored.
 */
export const customValues = (
  sent: Data,
  place: number,
  model: "contact" | "opportunity",
  service: Service
): ReadonlyArray<{ id: string; value: unknown }> => {
  const { field_value, fieldValue = field_value, id, key } = sent
  const label = `customFields.${place}`
  if (typeof id !== "string" && typeof key !== "string") throw invalid(`${label}.id should not be empty`)
  const row = fieldOf(id, key, model, service)
  if (row === undefined) throw invalid(`${label} is not a custom field of this location and model`)
  if (fieldValue === undefined) throw invalid(`${label}.fieldValue should not be empty`)
  if (fieldValue === null) return []
  const problem = fieldValue === "" ? undefined : problemOf(service.world.customFields.data(row), fieldValue, service)
  if (problem !== undefined) throw invalid(`${label}.fieldValue must be ${problem}`)
  return [{ id: row.id!, value: fieldValue }]
}

const fieldOf = (id: unknown, key: unknown, model: string, { world: { customFields } }: Service): Entry | undefined => {
  const named =
    typeof id === "string"
      ? customFields.get(id)
      : [...customFields.live()].find((field) =>
          [key, `${model}.${String(key)}`].includes(customFields.data(field)["fieldKey"])
        )
  return named !== undefined && customFields.data(named)["model"] === model ? named : undefined
}

/** The rule that a value violates; undefined if it is valid. */
const problemOf = (field: Data, value: unknown, service: Service): string | undefined => {
  const { dataType, model } = field
  const kind = kinds[dataType as string] ?? "a string"
  // A value of an opportunity is a text, a list or an object (A 2.6), so a number may be sent as text.
  const isNumeral = model === "opportunity" && kind === "a number" && typeof value === "string" && !isNaN(Number(value))
  if (!isNumeral && !fits(kind, value)) return kind
  if (dataType === "DATE" || dataType === "DATE_TIME") return dateProblem(field, String(value), service)
  return dataType === "URL" ? urlProblem(field, String(value)) : optionProblem(field, value)
}

/** A value that is not an option is not valid (A 7), unless the field allows custom options. */
const optionProblem = ({ isAllowedCustomOption, picklistOptions }: Data, value: unknown): string | undefined => {
  const options = (picklistOptions ?? []) as ReadonlyArray<unknown>
  if (isAllowedCustomOption === true || options.length === 0) return undefined
  const isKnown = (Array.isArray(value) ? value : [value]).every((own) => options.includes(own))
  return isKnown ? undefined : `one of the following values: ${options.join(", ")}`
}

const urlProblem = ({ urlValidation }: Data, value: string): string | undefined => {
  const { allowedDomains, blockedDomains, mode } = (urlValidation ?? {}) as Data
  const host = (URL.parse(value) ?? URL.parse(`https://${value}`))?.hostname
  if (host === undefined) return "a URL address"
  const isIn = (domains: unknown): boolean =>
    ((domains ?? []) as ReadonlyArray<string>).some((domain) => host === domain || host.endsWith(`.${domain}`))
  if (mode === "allow_only" && !isIn(allowedDomains)) return "of an allowed domain"
  return mode === "block" && isIn(blockedDomains) ? "of a domain that is not blocked" : undefined
}

/** The rules of A 2.4, in UTC days. Today is both past and future. */
const dateProblem = (field: Data, value: string, { clock }: Service): string | undefined => {
  const at = dayOf(value) ?? (/^\d+$/.test(value) ? undefined : instant(value))
  if (at === undefined) return "a date"
  const rules = (field["dateTimeValidation"] ?? {}) as Data
  const { bufferDays, daysAllowed, mode, rangeMax, rangeMin, rollingDays } = rules as Record<string, any>
  const [day, today] = [Math.floor(at / dayMs), Math.floor(clock.now() / dayMs)]
  const last = rollingDays === undefined ? Infinity : today + rollingDays
  if (mode === "future_only" && (day < today + (bufferDays ?? 0) || day > last)) return "a date to come"
  if (mode === "past_only" && day > today) return "a date in the past"
  // If the end of the range is a day, the whole day is included.
  const end = (instant(rangeMax) ?? Infinity) + (String(rangeMax).includes("T") ? 0 : dayMs - 1)
  if (mode === "range" && (at < (instant(rangeMin) ?? -Infinity) || at > end)) return "a date within the range"
  const isDayAllowed = mode === "any" || daysAllowed === undefined || daysAllowed.includes(new Date(at).getUTCDay())
  return isDayAllowed ? undefined : "on an allowed day of the week"
}

const fits = (kind: string, value: unknown): boolean => {
  if (kind === "a number") return typeof value === "number"
  if (kind === "an array") return Array.isArray(value) && value.every((item) => typeof item === "string")
  return kind === "an object" ? typeof value === "object" && !Array.isArray(value) : typeof value === "string"
}

/** The type of a value, by the data type of its field (A 2.2). Data types that the table omits have texts. */
const kinds: Record<string, string> = {
  NUMERICAL: "a number",
  MONETORY: "a number",
  FLOAT: "a number",
  CHECKBOX: "an array",
  MULTIPLE_OPTIONS: "an array",
  FILE_UPLOAD: "an object",
  TEXTBOX_LIST: "an object"
}

import { invalid, malformed } from "../errors.ts"
import type { Service } from "../route.ts"
import { type Shape, anything, email, flag, forbidden, list, object, phone, text } from "../shape.ts"
import type { Data } from "../world/collection.ts"
import { checkedUser } from "./references.ts"

/** The dates a birthday may be written as (A 2.2). */
const birthday = /^(\d{4}([-/._])\d{2}\2\d{2}|\d{2}([-/._])\d{2}\3\d{4})$/

/** The contact fields a body may set (A 2.2). */
export const contactShape: Shape = {
  firstName: text,
  lastName: text,
  name: text,
  email,
  phone,
  gender: text,
  address1: text,
  city: text,
  state: text,
  postalCode: text,
  country: text,
  website: text,
  timezone: text,
  dateOfBirth: text,
  companyName: text,
  assignedTo: text,
  source: text,
  tags: list(text),
  customFields: list(object({ id: text, key: text, fieldValue: anything, field_value: anything })),
  dnd: flag,
  dndSettings: object(),
  inboundDndSettings: object()
}

/** On update three of them are not accepted (A 4.2). */
export const contactChangeShape: Shape = {
  ...contactShape,
  locationId: forbidden,
  gender: forbidden,
  companyName: forbidden
}

/** The contact fields of a body that has passed its shape, as they are stored. */
export const readContact = (body: Data, service: Service): Data => {
  const fields = Object.fromEntries(Object.entries(body).filter(([name]) => name in contactShape))
  const { assignedTo, country, customFields, dateOfBirth, dndSettings, inboundDndSettings } = fields
  if (typeof country === "string" && country !== "" && !/^[A-Z]{2}$/.test(country)) {
    throw invalid("country must be a valid ISO31661 Alpha2 code")
  }
  if (typeof dateOfBirth === "string" && dateOfBirth !== "" && !birthday.test(dateOfBirth)) {
    throw invalid("dateOfBirth must be a date in one of the accepted formats")
  }
  checkedUser(assignedTo, "assignedTo", service)
  checkChannels(dndSettings, "dndSettings", ["active", "inactive", "permanent"])
  checkChannels(inboundDndSettings, "inboundDndSettings", ["active", "inactive"])
  if (!Array.isArray(customFields)) return fields
  return { ...fields, customFields: customFields.map((sent: Data, place) => storedValue(sent, place, service)) }
}

const checkChannels = (settings: unknown, name: string, statuses: ReadonlyArray<string>): void => {
  for (const [channel, value] of Object.entries((settings ?? {}) as Data)) {
    if (typeof value !== "object" || value === null) throw malformed(`${name}.${channel} must be an object`)
    if (!statuses.includes((value as Data)["status"] as string)) {
      throw invalid(`${name}.${channel}.status must be one of the following values: ${statuses.join(", ")}`)
    }
  }
}

/** Sent with the id or the key of the field, as `fieldValue` or the deprecated `field_value`; read as `value` (A 2.2). */
const storedValue = (sent: Data, place: number, { world }: Service): Data => {
  const { field_value, fieldValue, id, key } = sent
  if (typeof id !== "string" && typeof key !== "string") throw invalid(`customFields.${place}.id should not be empty`)
  const row =
    typeof id === "string"
      ? world.customFields.get(id)
      : [...world.customFields.live()].find((field) => isKey(world.customFields.data(field)["fieldKey"], key))
  if (row === undefined) throw invalid(`customFields.${place} is not a custom field of this location`)
  const value = fieldValue ?? field_value ?? null
  const kind = kinds[world.customFields.data(row)["dataType"] as string] ?? "a string"
  if (value !== null && value !== "" && !fits(kind, value)) {
    throw invalid(`customFields.${place}.fieldValue must be ${kind}`)
  }
  return { id: row.id, value }
}

const isKey = (fieldKey: unknown, sent: unknown): boolean =>
  fieldKey === sent || String(fieldKey).replace(/^\w+\./, "") === sent

const fits = (kind: string, value: unknown): boolean => {
  if (kind === "a number") return typeof value === "number"
  if (kind === "an array") return Array.isArray(value) && value.every((item) => typeof item === "string")
  return kind === "an object" ? typeof value === "object" && !Array.isArray(value) : typeof value === "string"
}

/** What the value of a field is, by its data type (A 2.2); text where the table is silent. */
const kinds: Record<string, string> = {
  NUMERICAL: "a number",
  MONETORY: "a number",
  FLOAT: "a number",
  CHECKBOX: "an array",
  MULTIPLE_OPTIONS: "an array",
  FILE_UPLOAD: "an object",
  TEXTBOX_LIST: "an object"
}

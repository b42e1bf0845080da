import type { Random } from "./random.ts"

export interface CustomField {
  id: string
  name: string
  fieldKey: string
  dataType: string
  model: "contact" | "opportunity"
  picklistOptions?: ReadonlyArray<string>
}

/** The custom fields of the account (A 2.4), one of each kind of value, and perhaps those with difficult keys. */
export const customFields = (random: Random, malformed: boolean, files: boolean): ReadonlyArray<CustomField> => [
  ...definitions.map(([model, name, dataType, picklistOptions]) => ({
    id: random.id(),
    name,
    fieldKey: keyOf(model, name),
    dataType,
    model,
    ...(picklistOptions !== undefined && { picklistOptions })
  })),
  ...(malformed ? difficult : []).map(([key, dataType = "TEXT"]) => {
    const [model, name] = key.split(".") as [CustomField["model"], string]
    return { id: random.id(), name, fieldKey: key, dataType, model }
  }),
  ...(files ? forFiles : []).map(([model, name, dataType]) => ({
    id: random.id(),
    name,
    fieldKey: keyOf(model, name),
    dataType,
    model
  }))
]

export const keyOf = (model: string, name: string): string =>
  `${model}.${name.toLowerCase().replaceAll(/[^a-z]+/g, "_")}`

/** A value of the type that A 2.2 gives for the data type of the field. */
export const customValue = (random: Random, field: CustomField): unknown => {
  const options = field.picklistOptions ?? []
  switch (field.dataType) {
    case "NUMERICAL":
      return random.between(1, 4000)
    case "MONETORY":
      return random.between(500, 9_000_000) / 100
    case "CHECKBOX":
    case "MULTIPLE_OPTIONS":
      return random.some(options, options.length, 0.6)
    case "SINGLE_OPTIONS":
    case "RADIO":
      return random.pick(options)
    case "DATE":
      return `20${random.between(21, 27)}-0${random.between(1, 9)}-1${random.int(10)}`
    // Only a malformed account has fields of these types.
    case "DATE_TIME":
      return random.pick(times)
    case "FLOAT":
      return random.pick(numbers)
    case "FILE_UPLOAD":
      return file(random)
    default:
      return random.pick(["yes", "side door", "2 cats, 1 dog", "=1+1", "mornings\nonly", "Grün", ""])
  }
}

const file = (random: Random): Record<string, unknown> => {
  const id = random.id()
  return {
    [id]: {
      meta: { fieldname: id, originalname: "plan.pdf", mimetype: "application/pdf", size: random.between(900, 90_000) },
      url: `https://files.example/${id}/plan.pdf`,
      documentId: id
    }
  }
}

const times = [
  "2026-01-31T10:00:00.000Z",
  "2026-01-01 10:00:00+00",
  "20260101T100000Z",
  "2026-01-01T24:00:00Z",
  "1/31/2026",
  "2026-01-01T10:00:00,5+05",
  " 2026-01-01 ",
  "1767261600000",
  "7776000000",
  "soon",
  "2026-02-30",
  "31.12.2026",
  "0001-01-01T00:00:00+14:00",
  "9999-12-31T23:59:59-12:00",
  "Thu, 01 Jan 2026 10:00:00 GMT",
  "2026-01-01 or so",
  1_767_261_600_000,
  1_767_261_600_000.5,
  1_767_261_600,
  7_776_000_000,
  0,
  -86_400_000,
  5,
  true,
  ["2026-01-01"]
]
const numbers = [
  12.5,
  0,
  -1e-9,
  1e30,
  33.333333333333336,
  "12.50",
  " +7 ",
  "1e3",
  "1,234.50",
  "NaN",
  "infinity",
  true,
  [5],
  "0x10"
]

const longKey = "what_the_customer_said_on_the_phone_when_we_called_about_the"

/** Keys of which the account has several that look alike, and types. */
const difficult: ReadonlyArray<readonly [key: string, dataType?: string]> = [
  ["contact.home_phone"],
  ["contact.homePhone"],
  ["contact.住所"],
  ["contact.会社"],
  ["contact.한국어"],
  ["contact.😀"],
  ["contact.❤️"],
  ["contact.Plan"],
  ["contact.plan"],
  ["contact.prénom"],
  ["contact.pre\u0301nom"],
  [`contact.${longKey}_first_visit`],
  [`contact.${longKey}_second_visit`],
  ["contact.moment", "DATE_TIME"],
  ["contact.score", "FLOAT"],
  ["opportunity.budget", "FLOAT"],
  ["opportunity.Budget", "FLOAT"],
  ["opportunity.moment", "DATE_TIME"]
]

/** Fields of an account whose links lead to files. */
const forFiles: ReadonlyArray<readonly ["contact" | "opportunity", string, string]> = [
  ["contact", "Signature", "SIGNATURE"],
  ["opportunity", "Site photos", "FILE_UPLOAD"],
  ["opportunity", "Sign-off", "SIGNATURE"]
]

const definitions: ReadonlyArray<["contact" | "opportunity", string, string, ReadonlyArray<string>?]> = [
  ["contact", "Gate instructions", "TEXT"],
  ["contact", "House history", "LARGE_TEXT"],
  ["contact", "Lot size sq ft", "NUMERICAL"],
  ["contact", "Lifetime value", "MONETORY"],
  ["contact", "Interested in", "MULTIPLE_OPTIONS", ["Kitchen", "Bath", "Deck", "Garden", "Other: see notes"]],
  ["contact", "Consents", "CHECKBOX", ["Email", "Text", "Photos"]],
  ["contact", "Home type", "SINGLE_OPTIONS", ["House", "Condo", "Commercial"]],
  ["contact", "Owner or renter", "RADIO", ["Owner", "Renter"]],
  ["contact", "Last service", "DATE"],
  ["contact", "Floor plan", "FILE_UPLOAD"],
  ["opportunity", "Crew size", "NUMERICAL"],
  ["opportunity", "Permit number", "TEXT"],
  ["opportunity", "Materials", "MULTIPLE_OPTIONS", ["Cedar", "Composite", "Stone", "Steel"]],
  ["opportunity", "Deposit", "MONETORY"]
]

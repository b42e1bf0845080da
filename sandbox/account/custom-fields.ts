import type { Random } from "./random.ts"

export interface CustomField {
  id: string
  name: string
  fieldKey: string
  dataType: string
  model: "contact" | "opportunity"
  picklistOptions?: ReadonlyArray<string>
}

/** The custom fields of the account (A 2.4), one of each kind of value. */
export const customFields = (random: Random): ReadonlyArray<CustomField> =>
  definitions.map(([model, name, dataType, picklistOptions]) => ({
    id: random.id(),
    name,
    fieldKey: keyOf(model, name),
    dataType,
    model,
    ...(picklistOptions !== undefined && { picklistOptions })
  }))

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

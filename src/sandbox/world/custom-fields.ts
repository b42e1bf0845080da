import { Collection, entry } from "./collection.ts"
import { Random, streams } from "./random.ts"
import type { Setting } from "./setting.ts"
import { undocumentedOfCustomField } from "./undocumented.ts"

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

const keyOf = (model: string, name: string): string => `${model}.${name.toLowerCase().replaceAll(/[^a-z]+/g, "_")}`

/** The same fields as records (A 2.4). */
export const createCustomFields = (setting: Setting): Collection => {
  const collection = new Collection({ build: () => ({}) })
  setting.customFields.forEach((field, index) => {
    const choices = field.picklistOptions !== undefined && { isAllowedCustomOption: index % 2 === 0 }
    const display = ["RADIO", "CHECKBOX"].includes(field.dataType) && { optionDisplayType: "TEXT_ONLY" }
    const files = field.dataType === "FILE_UPLOAD" && {
      isMultiFileAllowed: true,
      maxFileLimit: 5,
      acceptedFormat: [".pdf", ".jpg"]
    }
    const placeholder = index % 3 === 0 ? `e.g. ${field.name.toLowerCase()}` : undefined
    const source = {
      ...field,
      locationId: setting.locationId,
      placeholder,
      position: index * 50,
      ...choices,
      ...display,
      ...files,
      ...undocumentedOfCustomField(setting, index)
    }
    collection.add(entry({ id: field.id, created: setting.begin + index, source }))
  })
  unused.forEach(({ model, name, ...more }, index) => {
    const id = unusedId(setting, index)
    const position = (setting.customFields.length + index) * 50
    const source = { id, name, fieldKey: keyOf(model, name), model, locationId: setting.locationId, position, ...more }
    collection.add(entry({ id, created: setting.begin + setting.customFields.length + index, source }))
  })
  return collection
}

/** A value of the type A 2.2 gives for the kind of field. */
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

const unusedId = (setting: Setting, index: number) => new Random(setting.seed, streams.setup, index + 200).id()

/** The field for a day and time, which deals of the nasty world fill. */
export const inspectionId = (setting: Setting): string =>
  unusedId(
    setting,
    unused.findIndex(({ name }) => name === "Inspection")
  )

/** Fields nothing has a value of yet, for what else a field can say (A 2.4). */
const unused = [
  {
    model: "contact",
    name: "Roof shape",
    dataType: "RADIO",
    picklistOptions: ["Gable", "Flat"],
    picklistImageOptions: ["https://files.example/gable.png", "https://files.example/flat.png"],
    optionDisplayType: "TEXT_WITH_IMAGE"
  },
  {
    model: "contact",
    name: "Room sizes",
    dataType: "TEXTBOX_LIST",
    textBoxListOptions: [{ label: "Kitchen", prefillValue: "10 x 12" }, { label: "Hall" }]
  },
  {
    model: "contact",
    name: "Plans online",
    dataType: "URL",
    urlValidation: { mode: "block", blockedDomains: ["social.example"] }
  },
  {
    model: "opportunity",
    name: "Inspection",
    dataType: "DATE_TIME",
    dateTimeValidation: { mode: "future_only", bufferDays: 2, daysAllowed: [1, 2, 3, 4, 5], inputType: "date_and_time" }
  },
  { model: "opportunity", name: "Crew", dataType: "USER", userFieldConfig: { multiSelect: true } }
]

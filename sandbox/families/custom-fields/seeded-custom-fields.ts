import { keyOf } from "../../account/custom-fields.ts"
import { Collection, entry } from "../../account/collection.ts"
import { Random, streams } from "../../account/random.ts"
import type { AccountContext } from "../../account/context.ts"
import { undocumentedOfCustomField } from "../../account/undocumented.ts"

/** The custom fields of the account as records (A 2.4). */
export const createCustomFields = (context: AccountContext): Collection => {
  const collection = new Collection({ build: () => ({}) })
  context.customFields.forEach((field, index) => {
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
      locationId: context.locationId,
      placeholder,
      position: index * 50,
      ...choices,
      ...display,
      ...files,
      ...undocumentedOfCustomField(context, index)
    }
    collection.add(entry({ id: field.id, created: context.begin + index, source }))
  })
  unused.forEach(({ model, name, ...more }, index) => {
    const id = unusedId(context, index)
    const position = (context.customFields.length + index) * 50
    const source = { id, name, fieldKey: keyOf(model, name), model, locationId: context.locationId, position, ...more }
    collection.add(entry({ id, created: context.begin + context.customFields.length + index, source }))
  })
  return collection
}

const unusedId = (context: AccountContext, index: number) => new Random(context.seed, streams.setup, index + 200).id()

/** The field for a day and time, which has values in opportunities with the malformed variant. */
export const inspectionId = (context: AccountContext): string =>
  unusedId(
    context,
    unused.findIndex(({ name }) => name === "Inspection")
  )

/** Fields without values, for the other members of a field (A 2.4). */
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

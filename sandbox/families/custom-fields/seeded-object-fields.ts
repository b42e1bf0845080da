import { iso } from "../../account/clock.ts"
import { Collection, type Data, entry } from "../../account/collection.ts"
import { Random, streams } from "../../account/random.ts"
import type { AccountContext } from "../../account/context.ts"

/** The fields of custom objects and company records, and their folders (A 2.5). */
export const createObjectFields = (context: AccountContext): { objectFields: Collection; folders: Collection } => {
  const objectFields = new Collection({ build: () => ({}) })
  const folders = new Collection({ build: () => ({}) })
  const { begin: created, locationId, seed } = context
  let index = 0
  for (const [objectKey, folderNames] of Object.entries(objects)) {
    const folderIds = folderNames.map((name) => {
      const id = new Random(seed, streams.objectField, index++).id()
      folders.add(entry({ id, parent: objectKey, created, source: { id, locationId, name, objectKey } }))
      return id
    })
    for (const [name, dataType, more] of fieldsOf[objectKey]!) {
      const random = new Random(seed, streams.objectField, index++)
      const id = random.id()
      const key = name.toLowerCase().replaceAll(/[^a-z]+/g, "_")
      const source = {
        id,
        locationId,
        name,
        description: random.chance(0.4) ? `${name} of the record` : undefined,
        placeholder: random.chance(0.4) ? name : undefined,
        fieldKey: `custom_object.${objectKey.replace("custom_objects.", "")}.${key}`,
        dataType,
        objectKey,
        parentId: random.pick(folderIds),
        showInForms: random.chance(0.7),
        ...more,
        dateAdded: iso(created),
        dateUpdated: iso(created + random.int(context.end - created))
      }
      objectFields.add(entry({ id, parent: objectKey, created: created + index, source }))
    }
  }
  return { objectFields, folders }
}

const objects: Record<string, ReadonlyArray<string>> = {
  "custom_objects.project": ["Site", "Money"],
  business: ["Company details"]
}

const options = (...labels: ReadonlyArray<string>): Data => ({
  options: labels.map((label) => ({ key: label.toLowerCase().replaceAll(" ", "_"), label }))
})

const fieldsOf: Record<string, ReadonlyArray<[string, string, Data?]>> = {
  "custom_objects.project": [
    ["Site code", "TEXT"],
    ["Access notes", "LARGE_TEXT"],
    ["Crew size", "NUMERICAL"],
    ["Contract value", "MONETORY"],
    ["Foreman phone", "PHONE"],
    ["Foreman e-mail", "EMAIL"],
    ["Start", "DATE"],
    ["Phase", "SINGLE_OPTIONS", options("Design", "Permit", "Build", "Done")],
    ["Materials", "MULTIPLE_OPTIONS", options("Cedar", "Stone", "Steel")],
    ["Insured", "CHECKBOX", options("Yes")],
    ["Finish", "RADIO", { ...options("Oil", "Stain"), allowCustomOption: true }],
    ["Room sizes", "TEXTBOX_LIST", options("Kitchen", "Hall")],
    ["Plans", "FILE_UPLOAD", { acceptedFormats: ".pdf", maxFileLimit: 3 }]
  ],
  business: [
    ["Tax number", "TEXT"],
    ["Employees", "NUMERICAL"],
    ["Trade", "RADIO", { ...options("Builder", "Architect"), allowCustomOption: true, description: "What they do" }],
    ["Insurance", "FILE_UPLOAD", { acceptedFormats: "all", maxFileLimit: 2 }]
  ]
}

import { id, text } from "#catalog/fields.ts"
import { defineEmbedded } from "#catalog/resource.ts"

export const objectFolders = defineEmbedded({
  table: "object_folders",
  description: "Folders that the fields of custom objects and company records lie in.",
  source: "A 2.5, A 4.3 GET /custom-fields/object-key/{objectKey}",
  scope: "locations/customFields.readonly",
  embeddedIn: { table: "object_fields", records: "folders" },
  fields: {
    id: id("Folder id"),
    name: text("Name"),
    objectKey: text("Object the folder belongs to")
  }
})

import { count, boolean, id, enumeration, ref, text, changed, created } from "#catalog/fields.ts"
import { defineEmbedded } from "#catalog/resource.ts"

export const emailTemplateFolders = defineEmbedded({
  table: "email_template_folders",
  description: "Folders that email templates lie in.",
  source: "B 2.1, B 4.1 GET /emails/locations/{locationId}/templates",
  scope: "emails/templates.readonly",
  // The list of templates also contains the folders.
  embeddedIn: { table: "email_templates", records: "items" },
  filter: { field: "type", is: "folder" },
  fields: {
    id: id("Folder id"),
    name: text("Name"),
    type: enumeration(["folder"]),
    childCount: count("Number of templates and folders in it"),
    hasChildren: boolean("Something lies in it"),
    parentFolderId: ref("email_template_folders", "Folder it lies in; NULL at the top level"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change")
  }
})

import { count, boolean, id, enumeration, ref, rows, text, changed, created } from "#catalog/fields.ts"
import { get, location } from "#catalog/request.ts"
import { defineList, inOnePage } from "#catalog/resource.ts"

// The API spells it MONETORY.
const dataTypes = (
  "TEXT LARGE_TEXT NUMERICAL PHONE MONETORY CHECKBOX SINGLE_OPTIONS MULTIPLE_OPTIONS DATE " +
  "TEXTBOX_LIST FILE_UPLOAD RADIO EMAIL"
).split(" ")

export const objectFields = defineList({
  table: "object_fields",
  description: "Fields of custom objects and company records.",
  source: "A 2.5, A 4.3 GET /custom-fields/object-key/{objectKey}",
  scope: "locations/customFields.readonly",
  full: [inOnePage(get("/custom-fields/object-key/{partition}", { locationId: location }), { records: "fields" })],
  // Those of the settings, or all objects that the account made.
  partitions: "object_keys",
  partitionColumn: "object_key",
  fields: {
    id: id("Field id"),
    name: text("Name"),
    description: text("What the field is for"),
    placeholder: text("Text shown while the field is empty"),
    fieldKey: text("Key, `custom_object.<object>.<key>`"),
    dataType: enumeration(dataTypes, "Kind of value"),
    objectKey: text("Object the field belongs to"),
    parentId: ref("object_folders", "Folder of the field"),
    showInForms: boolean("Offered in forms"),
    options: rows(
      "object_field_options",
      "Options of each choice field.",
      {
        key: text("Key of the option"),
        label: text("Text shown"),
        url: text("Picture, as a link")
      },
      ["key"]
    ),
    allowCustomOption: boolean("Other values than the options may be entered"),
    acceptedFormats: enumeration(
      ".pdf .docx .doc .jpg .jpeg .png .gif .csv .xlsx .xls all".split(" "),
      "File extension a file field takes"
    ),
    maxFileLimit: count("Files a file field takes at most"),
    dateAdded: created("When the field was made"),
    dateUpdated: changed("Last change")
  }
})

import { alias, openEnum, count, boolean, id, json, object, enumeration, text, values } from "#catalog/fields.ts"
import { created, identifier } from "#catalog/fields.ts"
import { get } from "#catalog/request.ts"
import { defineList, inOnePage } from "#catalog/resource.ts"

// The API spells it MONETORY.
const dataTypes = (
  "TEXT LARGE_TEXT NUMERICAL PHONE MONETORY CHECKBOX SINGLE_OPTIONS MULTIPLE_OPTIONS FLOAT " +
  "DATE TEXTBOX_LIST FILE_UPLOAD SIGNATURE RADIO URL USER TIME DATE_TIME RICH_TEXT"
).split(" ")

export const customFields = defineList({
  table: "custom_fields",
  description: "Fields the account added to contacts and opportunities.",
  source: "A 2.4, A 4.3 GET /locations/{locationId}/customFields",
  scope: "locations/customFields.readonly",
  full: [
    // The default of `model` is not documented.
    inOnePage(get("/locations/{locationId}/customFields", { model: "all" }), { records: "customFields" })
  ],
  getOne: { request: get("/locations/{locationId}/customFields/{id}"), record: "customField" },
  fields: {
    id: id("Field id; `custom_field_id` elsewhere"),
    name: text("Name"),
    fieldKey: text("Key, `<model>.<key>`"),
    dataType: enumeration(dataTypes, "Kind of value"),
    model: enumeration(["contact", "opportunity"]),
    parentId: identifier("Folder of the field"),
    documentType: openEnum("`field` or `folder`"),
    standard: boolean("The service made the field, not the account"),
    dateAdded: created("When the field was made"),
    placeholder: text("Text shown while the field is empty"),
    position: count("Place among the fields"),
    picklistOptions: values("custom_field_options", "Options of each choice field.", "option", text("The option"), {
      key: []
    }),
    picklistImageOptions: json("Options shown as pictures, as sent"),
    isAllowedCustomOption: boolean("Other values than the options may be entered"),
    isMultiFileAllowed: boolean("A file field takes several files"),
    isMultipleFile: alias("isMultiFileAllowed"),
    maxFileLimit: count("Files a file field takes at most"),
    maxNumberOfFiles: alias("maxFileLimit"),
    acceptedFormat: json("File extensions a file field takes"),
    textBoxListOptions: json("Boxes of a list of text boxes: label and text filled in beforehand"),
    urlValidation: object({
      mode: enumeration(["allow_all", "allow_only", "block"], "Which links are taken"),
      allowedDomains: json("Domains allowed"),
      blockedDomains: json("Domains blocked")
    }),
    dateTimeValidation: object({
      mode: enumeration(["any", "future_only", "past_only", "range"], "Which dates are taken"),
      bufferDays: count("Days from today at least"),
      rollingDays: count("Days from today at most"),
      rangeMin: text("Earliest date or moment, ISO 8601"),
      rangeMax: text("Latest date or moment, ISO 8601"),
      daysAllowed: json("Weekdays allowed, 0 Sunday to 6 Saturday"),
      inputType: enumeration(["date_only", "time_only", "date_and_time"])
    }),
    userFieldConfig: object({ multiSelect: boolean("Several users may be chosen") }),
    optionDisplayType: enumeration(["TEXT_ONLY", "TEXT_WITH_ICON", "TEXT_WITH_IMAGE"], "How options are shown")
  }
})

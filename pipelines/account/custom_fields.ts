import { alias, choice, count, flag, id, instant, json, object, oneOf, ref, text, values } from "#catalog/fields.ts"
import { get } from "#catalog/request.ts"
import { define } from "#catalog/resource.ts"

// MONETORY is spelled so.
const dataTypes = (
  "TEXT LARGE_TEXT NUMERICAL PHONE MONETORY CHECKBOX SINGLE_OPTIONS MULTIPLE_OPTIONS FLOAT " +
  "DATE TEXTBOX_LIST FILE_UPLOAD SIGNATURE RADIO URL USER TIME DATE_TIME RICH_TEXT"
).split(" ")

export const customFields = define({
  table: "custom_fields",
  description: "Fields the account added to contacts and opportunities.",
  source: "A 2.4, A 4.3 GET /locations/{locationId}/customFields",
  scope: "locations/customFields.readonly",
  full: [
    {
      // Which fields are shown when no model is named is not documented.
      request: get("/locations/{location}/customFields", { model: "all" }),
      paging: { kind: "once" },
      records: "customFields",
      pageSize: 1000
    }
  ],
  single: get("/locations/{location}/customFields/{parent}"),
  fields: {
    id: id("Field id; `custom_field_id` elsewhere"),
    name: text("Name"),
    fieldKey: text("Key, `<model>.<key>`"),
    dataType: oneOf(dataTypes, "Kind of value"),
    model: oneOf(["contact", "opportunity"]),
    parentId: text("Folder of the field"),
    documentType: choice("`field` or `folder`"),
    standard: flag("The service made the field, not the account"),
    dateAdded: instant("When the field was made"),
    placeholder: text("Text shown while the field is empty"),
    position: count("Place among the fields"),
    picklistOptions: values("custom_field_options", "Options of each choice field.", "option", text("The option"), {
      key: []
    }),
    picklistImageOptions: json("Options shown as pictures, as sent"),
    isAllowedCustomOption: flag("Other values than the options may be entered"),
    isMultiFileAllowed: flag("A file field takes several files"),
    isMultipleFile: alias("isMultiFileAllowed"),
    maxFileLimit: count("Files a file field takes at most"),
    maxNumberOfFiles: alias("maxFileLimit"),
    acceptedFormat: json("File extensions a file field takes"),
    textBoxListOptions: json("Boxes of a list of text boxes: label and text filled in beforehand"),
    urlValidation: object({
      mode: oneOf(["allow_all", "allow_only", "block"], "Which links are taken"),
      allowedDomains: json("Domains allowed"),
      blockedDomains: json("Domains blocked")
    }),
    dateTimeValidation: object({
      mode: oneOf(["any", "future_only", "past_only", "range"], "Which dates are taken"),
      bufferDays: count("Days from today at least"),
      rollingDays: count("Days from today at most"),
      rangeMin: text("Earliest date or moment, ISO 8601"),
      rangeMax: text("Latest date or moment, ISO 8601"),
      daysAllowed: json("Weekdays allowed, 0 Sunday to 6 Saturday"),
      inputType: oneOf(["date_only", "time_only", "date_and_time"])
    }),
    userFieldConfig: object({ multiSelect: flag("Several users may be chosen") }),
    optionDisplayType: oneOf(["TEXT_ONLY", "TEXT_WITH_ICON", "TEXT_WITH_IMAGE"], "How options are shown"),
    locationId: ref("locations", "The location", { column: "location_id" })
  }
})

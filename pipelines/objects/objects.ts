import { boolean, changed, content, created, id, json, object, openEnum, text } from "#catalog/fields.ts"
import { get, location } from "#catalog/request.ts"
import { defineList, inOnePage } from "#catalog/resource.ts"

export const objects = defineList({
  table: "objects",
  description: "Kinds of records: those that every account has, and those that this one made itself.",
  source: "C 1.1 GET /objects/",
  scope: "objects/schema.readonly",
  unproven: true,
  full: [inOnePage(get("/objects/", { locationId: location }), { records: "objects" })],
  fields: {
    id: id("Object id"),
    key: text("Key: `contact`, `opportunity`, `business`, or `custom_objects.` and a name"),
    standard: boolean("Every account has it"),
    labels: object({ singular: text("Name of one record"), plural: text("Name of several records") }),
    description: content("What it is for"),
    primaryDisplayProperty: text("Key of the field that names a record"),
    type: openEnum("`USER_DEFINED` or `SYSTEM_DEFINED`"),
    searchableProperties: json("Keys of the fields that a search looks through"),
    dateAdded: created("When it was made"),
    dateUpdated: changed("Last change")
  }
})

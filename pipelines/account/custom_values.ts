import { id, text } from "#catalog/fields.ts"
import { get } from "#catalog/request.ts"
import { defineList, inOnePage } from "#catalog/resource.ts"

export const customValues = defineList({
  table: "custom_values",
  description: "Texts of the account that templates insert.",
  source: "C 6 GET /locations/{locationId}/customValues",
  scope: "locations/customValues.readonly",
  unproven: true,
  full: [inOnePage(get("/locations/{locationId}/customValues"), { records: "customValues" })],
  getOne: { request: get("/locations/{locationId}/customValues/{id}"), record: "customValue" },
  fields: {
    id: id("Id of the value"),
    name: text("Name"),
    fieldKey: text("Key, as templates name it: `{{ custom_values.<key> }}`"),
    // People put names, numbers and keys of other services here.
    value: text("The text that is inserted", { personal: "direct" })
  }
})

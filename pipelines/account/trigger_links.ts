import { id, text, url } from "#catalog/fields.ts"
import { get, location } from "#catalog/request.ts"
import { defineList, inOnePage } from "#catalog/resource.ts"

export const triggerLinks = defineList({
  table: "trigger_links",
  description: "Links whose click starts something. The API does not list the clicks.",
  source: "C 13 GET /links/",
  scope: "links.readonly",
  unproven: true,
  full: [inOnePage(get("/links/", { locationId: location }), { records: "links" })],
  getOne: { request: get("/links/id/{linkId}", { locationId: location }), record: "link" },
  fields: {
    id: id("Link id"),
    name: text("Name"),
    redirectTo: url("Where it leads"),
    fieldKey: text("Key, as templates name it: `{{trigger_link.<id>}}`")
  }
})

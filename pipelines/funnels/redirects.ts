import { alias, openEnum, id, enumeration, text } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

const request = get("/funnels/lookup/redirect/list", { locationId: location, limit: size, offset: cursorOr(0) })

export const redirects = defineList({
  table: "redirects",
  description: "Addresses that lead to another.",
  source: "B 2.7, B 4.8 GET /funnels/lookup/redirect/list",
  scope: "funnels/redirect.readonly",
  // The documents show an array in `data`; the service also sends an object with the array in `data.data`.
  full: [byOffset(request, { records: "data", elsewhere: ["data.data"], total: "data.count" })],
  fields: {
    id: id("Redirect id"),
    _id: alias("id"),
    domain: text("Domain that is redirected"),
    path: text("Path that is redirected"),
    pathLowercase: text("The same in lower case, as the service compares it"),
    type: openEnum("Kind of redirect"),
    target: text("Where it leads: an address, or the id of a funnel or site"),
    action: enumeration(["funnel", "website", "url", "all"])
  }
})

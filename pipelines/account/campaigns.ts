import { id, openEnum, text } from "#catalog/fields.ts"
import { get, location } from "#catalog/request.ts"
import { defineList, inOnePage } from "#catalog/resource.ts"

export const campaigns = defineList({
  table: "campaigns",
  description: "Campaigns of the kind that workflows have replaced. The API does not list who is in them.",
  source: "C 16 GET /campaigns/",
  scope: "campaigns.readonly",
  unproven: true,
  full: [inOnePage(get("/campaigns/", { locationId: location }), { records: "campaigns" })],
  fields: { id: id("Campaign id"), name: text("Name"), status: openEnum("`draft`, `published`, …") }
})

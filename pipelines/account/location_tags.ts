import { id, tag } from "#catalog/fields.ts"
import { get } from "#catalog/request.ts"
import { defineList, inOnePage } from "#catalog/resource.ts"

export const locationTags = defineList({
  table: "location_tags",
  description: "All tags of the account, also those that no contact has; contact_tags has their names.",
  source: "C 5 GET /locations/{locationId}/tags",
  scope: "locations/tags.readonly",
  unproven: true,
  full: [inOnePage(get("/locations/{locationId}/tags"), { records: "tags" })],
  getOne: { request: get("/locations/{locationId}/tags/{tagId}"), record: "tag" },
  fields: { id: id("Tag id"), name: tag("The tag") }
})

import { count, id, enumeration, text, changed, created } from "#catalog/fields.ts"
import { get, location } from "#catalog/request.ts"
import { defineList, inOnePage } from "#catalog/resource.ts"

export const workflows = defineList({
  table: "workflows",
  description: "Automations of the account. What starts them and what they do is not readable.",
  source: "A 2.10, A 4.7 GET /workflows/",
  scope: "workflows.readonly",
  full: [inOnePage(get("/workflows/", { locationId: location }), { records: "workflows" })],
  fields: {
    id: id("Workflow id"),
    name: text("Name"),
    status: enumeration(["published", "draft"]),
    version: count("Goes up with each change"),
    createdAt: created("When the workflow was made"),
    updatedAt: changed("Last change")
  }
})

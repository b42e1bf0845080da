import { id, text } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

export const forms = defineList({
  table: "forms",
  description: "Forms that visitors fill in.",
  source: "B 2.7, B 4.8 GET /forms/",
  scope: "forms.readonly",
  full: [
    byOffset(get("/forms/", { locationId: location, limit: size, skip: cursorOr(0) }), {
      records: "forms",
      pageSize: 50,
      total: "total"
    })
  ],
  fields: {
    id: id("Form id"),
    name: text("Name")
  }
})

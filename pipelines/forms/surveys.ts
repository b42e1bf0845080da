import { id, text } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

export const surveys = defineList({
  table: "surveys",
  description: "Surveys that visitors fill in.",
  source: "B 2.7, B 4.8 GET /surveys/",
  scope: "surveys.readonly",
  full: [
    byOffset(get("/surveys/", { locationId: location, limit: size, skip: cursorOr(0) }), {
      records: "surveys",
      pageSize: 50,
      total: "total"
    })
  ],
  fields: {
    id: id("Survey id"),
    name: text("Name")
  }
})

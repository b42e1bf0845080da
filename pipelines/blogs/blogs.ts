import { id, text } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

export const blogs = defineList({
  table: "blogs",
  description: "Blog sites.",
  source: "B 2.6, B 4.8 GET /blogs/site/all",
  scope: "blogs/list.readonly",
  full: [
    byOffset(get("/blogs/site/all", { locationId: location, limit: size, skip: cursorOr(0) }), { records: "data" })
  ],
  fields: {
    _id: id("Blog id"),
    name: text("Name")
  }
})

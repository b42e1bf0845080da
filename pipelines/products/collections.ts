import { json, id, text, created } from "#catalog/fields.ts"
import { altLocation, cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"
import { altFields } from "#catalog/shapes.ts"

export const collections = defineList({
  table: "collections",
  description: "Groups of products in the online store.",
  source: "B 2.2, B 4.2 GET /products/collections",
  scope: "products/collection.readonly",
  full: [
    byOffset(get("/products/collections", { ...altLocation, limit: size, offset: cursorOr(0) }), {
      records: "data",
      total: "total"
    })
  ],
  fields: {
    _id: id("Collection id"),
    name: text("Name"),
    slug: text("Name in the collection's web address"),
    image: text("Picture, as a link", { role: "file", personal: "none" }),
    seo: json("What search engines receive, as sent"),
    createdAt: created("When it was made"),
    ...altFields
  }
})

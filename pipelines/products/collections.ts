import { id, text, created } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { defineList } from "#catalog/resource.ts"
import { altFields } from "#catalog/shapes.ts"

export const collections = defineList({
  table: "collections",
  description: "Groups of products in the online store.",
  source: "B 2.2, B 4.2 GET /products/collections",
  scope: "products/collection.readonly",
  full: [
    {
      request: get("/products/collections", {
        altId: location,
        altType: "location",
        limit: size,
        offset: cursorOr(0)
      }),
      paging: { kind: "offset" },
      records: "data",
      pageSize: 100,
      trialPageSize: 500,
      total: "total"
    }
  ],
  fields: {
    _id: id("Collection id"),
    name: text("Name"),
    slug: text("Name in the collection's web address"),
    image: text("Picture, as a link", { role: "file", personal: "none" }),
    createdAt: created("When it was made"),
    ...altFields
  }
})

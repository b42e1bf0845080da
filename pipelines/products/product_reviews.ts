import {
  alias,
  changed,
  content,
  created,
  decimal,
  email,
  id,
  identifier,
  json,
  object,
  openEnum,
  personName,
  ref,
  rows
} from "#catalog/fields.ts"
import { altLocation, cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"
import { altFields } from "#catalog/shapes.ts"

export const productReviews = defineList({
  table: "product_reviews",
  description: "What customers wrote about products.",
  source: "C 15.1 GET /products/reviews",
  scope: "products.readonly",
  unproven: true,
  full: [
    byOffset(
      get("/products/reviews", {
        ...altLocation,
        sortField: "createdAt",
        sortOrder: "asc",
        limit: size,
        offset: cursorOr(0)
      }),
      { records: "data", pageSize: 100, total: "total" }
    )
  ],
  person: {},
  fields: {
    _id: id("Review id"),
    reviewId: alias("_id"),
    productId: ref("products", "The product"),
    storeId: identifier("Store it was written in"),
    status: openEnum("Status, for example `approved`"),
    rating: decimal("Stars given"),
    headline: content("Heading"),
    detail: content("The review"),
    name: personName("Name of who wrote it, where sent"),
    email: email("Address of who wrote it, where sent"),
    user: object(
      { name: alias("name"), email: alias("email") },
      { whole: json("Who wrote it, as sent", { personal: "direct" }) }
    ),
    reply: rows("product_review_replies", "Answers to each review.", {
      headline: content("Heading"),
      comment: content("The answer"),
      user: json("Who answered, as sent", { personal: "direct" })
    }),
    createdAt: created("When it was written"),
    updatedAt: changed("Last change"),
    ...altFields
  }
})

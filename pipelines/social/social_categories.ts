import { alias, boolean, id, text, changed, created } from "#catalog/fields.ts"
import { cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList, succeeded } from "#catalog/resource.ts"
import { actor } from "#catalog/shapes.ts"

export const socialCategories = defineList({
  table: "social_categories",
  description: "Categories that social posts are sorted into.",
  source: "B 2.5, B 4.7 GET /social-media-posting/{locationId}/categories",
  scope: "socialplanner/category.readonly",
  full: [
    byOffset(get("/social-media-posting/{locationId}/categories", { limit: size, skip: cursorOr(0) }), {
      records: "results.categories",
      beside: succeeded,
      total: "results.count"
    })
  ],
  tombstone: "deleted",
  fields: {
    id: id("Category id"),
    _id: alias("id"),
    name: text("Name"),
    primaryColor: text("Colour of its background"),
    secondaryColor: text("Colour of its text"),
    createdBy: actor("created_by", "Who made it"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    deleted: boolean("Removed")
  }
})

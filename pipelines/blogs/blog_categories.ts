import { id, text, changed } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

export const blogCategories = defineList({
  table: "blog_categories",
  description: "Categories that blog posts are sorted into.",
  source: "B 2.6, B 4.8 GET /blogs/categories",
  scope: "blogs/category.readonly",
  full: [
    byOffset(get("/blogs/categories", { locationId: location, limit: size, offset: cursorOr(0) }), {
      records: "categories"
    })
  ],
  fields: {
    _id: id("Category id"),
    label: text("Name"),
    urlSlug: text("Name in the category's web address"),
    canonicalLink: text("Address search engines are to keep"),
    updatedAt: changed("Last change")
  }
})

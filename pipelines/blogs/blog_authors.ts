import { id, changed, personName, url } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

export const blogAuthors = defineList({
  table: "blog_authors",
  description: "Authors that blog posts name.",
  source: "B 2.6, B 4.8 GET /blogs/authors",
  scope: "blogs/author.readonly",
  full: [
    byOffset(get("/blogs/authors", { locationId: location, limit: size, offset: cursorOr(0) }), { records: "authors" })
  ],
  fields: {
    _id: id("Author id"),
    name: personName("Name"),
    canonicalLink: url("Page about the author"),
    updatedAt: changed("Last change")
  }
})

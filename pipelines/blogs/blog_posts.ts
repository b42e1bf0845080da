import { content, count, boolean, id, instant, enumeration, ref, text, values, changed } from "#catalog/fields.ts"
import { cursorOr, get, location, parent, size } from "#catalog/request.ts"
import { byOffset, defineChild } from "#catalog/resource.ts"

export const blogPosts = defineChild({
  table: "blog_posts",
  description: "Posts of blogs, in every state.",
  source: "B 2.6, B 4.8 GET /blogs/posts/all",
  scope: "blogs/posts.readonly",
  // Blogs have no change timestamp, and the list of posts has no filter by one, so all posts are read daily.
  childOf: {
    table: "blogs",
    column: "blog_id",
    refreshAfter: "20 hours",
    // The default of `status` is not documented.
    strategy: byOffset(
      get("/blogs/posts/all", {
        locationId: location,
        blogId: parent,
        status: "ALL",
        limit: size,
        offset: cursorOr(0)
      }),
      { records: "blogs" }
    )
  },
  version: "updatedAt",
  fields: {
    _id: id("Post id"),
    blogId: ref("blogs", "The blog"),
    title: text("Title", { personal: "content" }),
    description: content("What it is about"),
    status: enumeration(["DRAFT", "PUBLISHED", "SCHEDULED", "ARCHIVED"]),
    urlSlug: text("Name in the post's web address"),
    canonicalLink: text("Address search engines are to keep"),
    author: ref("blog_authors", "Who is named as its author", { column: "author_id" }),
    imageUrl: text("Picture, as a link", { role: "file", personal: "none" }),
    imageAltText: text("The picture in words"),
    rawHTML: content("The post itself, as HTML"),
    wordCount: count("Number of words"),
    archived: boolean("Put away"),
    publishedAt: instant("When it appeared or will appear"),
    updatedAt: changed("Last change"),
    categories: values(
      "blog_post_categories",
      "Categories of each post.",
      "category_id",
      ref("blog_categories", "The category")
    ),
    tags: values("blog_post_tags", "Tags of each post.", "tag", text("The tag"))
  }
})

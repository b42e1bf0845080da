import { invalid } from "../../http/errors.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { choice, described, flag, list, record, required, type Shape, text } from "../../http/shape.ts"
import type { Collection, Data } from "../../account/collection.ts"
import { filterBy, containsText, pageNewest, requiredPaging } from "../../http/lists.ts"
import { blogStatuses } from "./seeded-blogs.ts"

/** Blogs (B 4.8). The list of sites is paged by `skip`, the others only by `offset`. No list has a total. */
export const blogRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/blogs/site/all",
    summary: "List blog sites",
    scope: "blogs/list.readonly",
    location: { in: "query", name: "locationId" },
    query: { ...requiredPaging("skip"), searchTerm: text },
    returns: { data: list(record("Blog")) },
    handle: ({ query }, { world }) => {
      const { blogs } = world
      const filter = filterBy(query, "searchTerm", (row) => containsText(query["searchTerm"], blogs.data(row)["name"]))
      return `{"data":${pageNewest(blogs, query, filter).texts}}`
    }
  },
  {
    method: "GET",
    path: "/blogs/posts/all",
    summary: "List blog posts",
    scope: "blogs/posts.readonly",
    location: { in: "query", name: "locationId" },
    query: {
      ...offsetOnly(),
      blogId: required(text),
      searchTerm: described(text, "Part of the title."),
      status: choice("ALL", ...blogStatuses)
    },
    returns: { blogs: list(record("BlogPost")) },
    handle: ({ query }, { world }) => {
      refuseSkip(query)
      const { blogPosts } = world
      const { blogId, searchTerm, status = "ALL" } = query
      const filter = filterBy(query, "blogId searchTerm status", (row) => {
        if (row.parent !== blogId) return false
        if (searchTerm === undefined && status === "ALL") return true
        const data = blogPosts.data(row)
        return (status === "ALL" || data["status"] === status) && containsText(searchTerm, data["title"])
      })
      return `{"blogs":${pageNewest(blogPosts, query, filter).texts}}`
    }
  },
  {
    method: "GET",
    path: "/blogs/posts/url-slug-exists",
    summary: "Check whether a slug is taken",
    scope: "blogs/check-slug.readonly",
    location: { in: "query", name: "locationId" },
    query: { urlSlug: required(text), postId: described(text, "The post being edited, which does not count.") },
    returns: { exists: flag },
    handle: ({ query }, service) => ({
      exists: isTaken(service, query["urlSlug"], query["postId"] as string | undefined)
    })
  },
  ...(["authors", "categories"] as const).map((name): Route => ({
    method: "GET",
    path: `/blogs/${name}`,
    summary: `List blog ${name}`,
    scope: name === "authors" ? "blogs/author.readonly" : "blogs/category.readonly",
    location: { in: "query", name: "locationId" },
    query: offsetOnly(),
    returns: { [name]: list(record(name === "authors" ? "BlogAuthor" : "BlogCategory")) },
    handle: ({ query }, { world }) => {
      refuseSkip(query)
      const collection: Collection = name === "authors" ? world.blogAuthors : world.blogCategories
      return `{"${name}":${pageNewest(collection, query).texts}}`
    }
  }))
]

/** Lists that are paged by offset reject `skip` (field-notes 8). */
function offsetOnly(): Shape {
  return { ...requiredPaging(), skip: described(text, "Refused.") }
}

const refuseSkip = ({ skip }: Data): void => {
  if (skip !== undefined) throw invalid("property skip should not exist")
}

const isTaken = ({ world }: Service, urlSlug: unknown, except: string | null | undefined): boolean => {
  const { blogPosts } = world
  return blogPosts.live().some((row) => row.id !== except && blogPosts.data(row)["urlSlug"] === urlSlug)
}

import { conflict, invalid } from "../../http/errors.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import {
  choice,
  described,
  type Field,
  flag,
  list,
  number,
  record,
  required,
  type Shape,
  text
} from "../../http/shape.ts"
import type { Collection, Data, Entry } from "../../account/collection.ts"
import { iso } from "../../account/clock.ts"
import { entry } from "../../account/collection.ts"
import { filterBy, containsText, pageNewest, requiredPaging } from "../../http/lists.ts"
import { blogStatuses } from "./seeded-blogs.ts"
import { dropUndefined, checkReference, checkReferences, find } from "../records.ts"

const uri: Field = { type: "string", format: "uri" }

const writable: Shape = {
  title: required(text),
  blogId: required(text),
  imageUrl: required(uri),
  description: required(text),
  rawHTML: required(text),
  status: required(choice(...blogStatuses)),
  imageAltText: required(text),
  categories: required(list(text)),
  author: required(text),
  urlSlug: required(text),
  publishedAt: required({ type: "string", format: "date-time" }),
  tags: list(text),
  canonicalLink: uri
}

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
    method: "POST",
    path: "/blogs/posts",
    summary: "Create a blog post",
    scope: "blogs/post.write",
    location: { in: "body", name: "locationId" },
    status: 201,
    body: writable,
    ignoresNull: true,
    returns: { data: record("BlogPost") },
    errors: [409],
    handle: ({ body }, service) => {
      const fields = checked(body, service, undefined)
      const { clock, random, world } = service
      const now = clock.now()
      const id = random.hexId(now)
      const { blogId, ...rest } = fields
      const source = { _id: id, ...rest, archived: rest["status"] === "ARCHIVED", updatedAt: iso(now) }
      const row = world.blogPosts.add(entry({ id, parent: String(blogId), created: now, source }))
      return `{"data":${world.blogPosts.full(row)}}`
    }
  },
  {
    method: "PUT",
    path: "/blogs/posts/:postId",
    summary: "Replace a blog post",
    scope: "blogs/post-update.write",
    location: { in: "body", name: "locationId" },
    body: { ...writable, wordCount: required(number) },
    ignoresNull: true,
    returns: { updatedBlogPost: record("BlogPost") },
    errors: [409],
    handle: ({ body, params }, service) => {
      const { blogPosts } = service.world
      const old = find(blogPosts, params["postId"], "Blog post")
      const { blogId, ...rest } = checked(body, service, old)
      const now = service.clock.now()
      const source = { _id: old.id, ...rest, archived: rest["status"] === "ARCHIVED", updatedAt: iso(now) }
      const row = blogPosts.replace(old, entry({ ...old, parent: String(blogId), updated: now, source }))
      return `{"updatedBlogPost":${blogPosts.full(row)}}`
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

const checked = (body: Data, service: Service, old: Entry | undefined): Data => {
  const { blogAuthors, blogCategories, blogs } = service.world
  checkReference(blogs, body["blogId"], "blogId")
  checkReference(blogAuthors, body["author"], "author")
  checkReferences(blogCategories, body["categories"], "categories")
  const { urlSlug } = body
  if (isTaken(service, urlSlug, old?.id)) throw conflict(`A blog post with the slug ${String(urlSlug)} exists`)
  return dropUndefined(body)
}

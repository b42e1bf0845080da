import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { integer, list, record, text } from "../../http/shape.ts"
import type { Entry } from "../../account/collection.ts"
import { filterBy, containsText, pageNewest, paging } from "../../http/lists.ts"
import { answer, wrapped } from "./post-answers.ts"
import { isDeleted } from "./post-search.ts"
import { changeRecord, find, notFoundById } from "../records.ts"

const path = "/social-media-posting/:locationId"

/** Social posts (B 4.7). Reading and deleting one takes any valid token. */
export const socialRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: `${path}/accounts`,
    summary: "List connected accounts",
    scope: "socialplanner/account.readonly",
    location: { in: "path", name: "locationId" },
    returns: wrapped({ accounts: list(record("SocialAccount")) }),
    handle: (_, { world }) => {
      const { texts } = pageNewest(world.socialAccounts, { limit: Number.MAX_SAFE_INTEGER })
      return answer("Fetched accounts", `{"accounts":${texts}}`)
    }
  },
  {
    method: "GET",
    path: `${path}/posts/:postId`,
    summary: "Get a post",
    location: { in: "path", name: "locationId" },
    returns: wrapped({ post: record("SocialPost") }),
    handle: ({ params }, service) =>
      answer("Fetched post", `{"post":${service.world.socialPosts.full(findPost(service, params))}}`)
  },
  {
    method: "DELETE",
    path: `${path}/posts/:postId`,
    summary: "Delete a post",
    location: { in: "path", name: "locationId" },
    returns: wrapped({ postId: text }),
    handle: ({ params }, service) => {
      const row = findPost(service, params)
      // It stays in the list of `type: "deleted"` (field-notes 8).
      changeRecord(service, service.world.socialPosts, row, { status: "deleted" })
      return answer("Deleted post", { postId: row.id })
    }
  },
  ...(["categories", "tags"] as const).map((name): Route => ({
    method: "GET",
    path: `${path}/${name}`,
    summary: `List ${name}`,
    ...(name === "categories" && { scope: "socialplanner/category.readonly" }),
    location: { in: "path", name: "locationId" },
    query: { searchText: text, ...paging(10, 100, "skip") },
    returns: wrapped({ [name]: list(record(name === "tags" ? "SocialTag" : "SocialCategory")), count: integer }),
    handle: ({ query }, { world }) => {
      const collection = name === "tags" ? world.socialTags : world.socialCategories
      const filter = filterBy(query, "searchText", (row) =>
        containsText(query["searchText"], collection.data(row)["name"])
      )
      const { texts, total } = pageNewest(collection, query, filter)
      return answer(`Fetched ${name}`, `{"${name}":${texts},"count":${total}}`)
    }
  }))
]

const findPost = ({ world }: Service, params: Readonly<Record<string, string>>): Entry => {
  const { socialPosts } = world
  const row = find(socialPosts, params["postId"], "Post")
  if (isDeleted(socialPosts, row)) throw notFoundById("Post", row.id)
  return row
}

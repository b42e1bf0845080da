import { invalid } from "../../http/errors.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import {
  choice,
  type Field,
  flag,
  integer,
  list,
  object,
  record,
  required,
  type Shape,
  text
} from "../../http/shape.ts"
import type { Data, Entry } from "../../account/collection.ts"
import { platformDetails } from "../../description/document-records.ts"
import { filterBy, containsText, pageNewest, paging } from "../../http/lists.ts"
import { answer, wrapped } from "./post-answers.ts"
import { isDeleted } from "./post-search.ts"
import {
  dropUndefined,
  addRecord,
  changeRecord,
  checkReference,
  checkReferences,
  find,
  notFoundById,
  replaceRecord
} from "../records.ts"

const path = "/social-media-posting/:locationId"
const timestamp: Field = { type: "string", format: "date-time" }

const writable: Shape = {
  accountIds: required(list(text, 1)),
  type: required(choice("post", "story", "reel")),
  userId: required(text),
  summary: text,
  media: list(object({ url: required({ type: "string", format: "uri" }), type: required(text) })),
  scheduleDate: timestamp,
  ...platformDetails
}

/** Social posts (B 4.7). Reading, replacing and deleting one takes any valid token. */
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
    method: "POST",
    path: `${path}/posts`,
    summary: "Create a post",
    scope: "socialplanner/post.write",
    location: { in: "path", name: "locationId" },
    status: 201,
    body: writable,
    ignoresNull: true,
    returns: wrapped({ post: record("SocialPost") }),
    handle: ({ body }, service) => {
      const { socialPosts } = service.world
      const row = addRecord(service, socialPosts, checked(body, service), { plain: true })
      return answer("Created post", `{"post":${socialPosts.full(row)}}`, 201)
    }
  },
  {
    method: "PUT",
    path: `${path}/posts/:postId`,
    summary: "Replace a post",
    location: { in: "path", name: "locationId" },
    body: writable,
    ignoresNull: true,
    returns: { success: flag, statusCode: integer, message: text },
    handle: ({ body, params }, service) => {
      const old = findPost(service, params)
      replaceRecord(service, service.world.socialPosts, old, checked(body, service), [])
      return answer("Updated post", undefined)
    }
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

const checked = (body: Data, { world }: Service): Data => {
  const media = (body["media"] ?? []) as ReadonlyArray<Data>
  const wrong = media.findIndex(({ type }) => !/^\w[\w.+-]*\/\w[\w.+-]*$/.test(String(type)))
  if (wrong >= 0) throw invalid(`media.${wrong}.type must be a MIME type`)
  checkReferences(world.socialAccounts, body["accountIds"], "accountIds")
  checkReference(world.users, body["userId"], "userId")
  return { ...dropUndefined(body), status: body["scheduleDate"] === undefined ? "published" : "scheduled" }
}

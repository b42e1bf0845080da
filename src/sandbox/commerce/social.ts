import { invalid } from "../errors.ts"
import type { Route, Service } from "../route.ts"
import { choice, type Field, flag, integer, list, object, record, required, type Shape, text } from "../shape.ts"
import type { Data, Entry } from "../world/collection.ts"
import { platformDetails } from "./description.ts"
import { filterBy, given, holds, operation, pageNewest, paging } from "./operation.ts"
import { answer, wrapped } from "./social-answers.ts"
import { isDeleted } from "./social-search.ts"
import { addRecord, changeRecord, find, refer, referAll, replaceRecord, unknown } from "./write.ts"

const path = "/social-media-posting/:locationId"
const moment: Field = { type: "string", format: "date-time" }

const writable: Shape = {
  accountIds: required(list(text, 1)),
  type: required(choice("post", "story", "reel")),
  userId: required(text),
  summary: text,
  media: list(object({ url: required({ type: "string", format: "uri" }), type: required(text) })),
  scheduleDate: moment,
  ...platformDetails
}

/** Social posts (B 4.7). Reading, replacing and deleting one takes any valid token. */
export const socialRoutes: ReadonlyArray<Route> = [
  operation({
    does: `GET ${path}/accounts`,
    summary: "List connected accounts",
    scope: "socialplanner/account.readonly",
    account: "path",
    returns: wrapped({ accounts: list(record("SocialAccount")) }),
    handle: (_, { world: { commerce } }) => {
      const { texts } = pageNewest(commerce.socialAccounts, { limit: Number.MAX_SAFE_INTEGER })
      return answer("Fetched accounts", `{"accounts":${texts}}`)
    }
  }),
  operation({
    does: `GET ${path}/posts/:postId`,
    summary: "Get a post",
    account: "path",
    returns: wrapped({ post: record("SocialPost") }),
    handle: ({ params }, service) =>
      answer("Fetched post", `{"post":${service.world.commerce.socialPosts.full(findPost(service, params))}}`)
  }),
  operation({
    does: `POST ${path}/posts`,
    summary: "Create a post",
    scope: "socialplanner/post.write",
    account: "path",
    status: 201,
    body: writable,
    returns: wrapped({ post: record("SocialPost") }),
    handle: ({ body }, service) => {
      const { socialPosts } = service.world.commerce
      const row = addRecord(service, socialPosts, checked(body, service), { plain: true })
      return answer("Created post", `{"post":${socialPosts.full(row)}}`, 201)
    }
  }),
  operation({
    does: `PUT ${path}/posts/:postId`,
    summary: "Replace a post",
    account: "path",
    body: writable,
    returns: { success: flag, statusCode: integer, message: text },
    handle: ({ body, params }, service) => {
      const old = findPost(service, params)
      replaceRecord(service, service.world.commerce.socialPosts, old, checked(body, service), [])
      return answer("Updated post", undefined)
    }
  }),
  operation({
    does: `DELETE ${path}/posts/:postId`,
    summary: "Delete a post",
    account: "path",
    returns: wrapped({ postId: text }),
    handle: ({ params }, service) => {
      const row = findPost(service, params)
      // It stays in the list of `type: "deleted"` (field-notes 8).
      changeRecord(service, service.world.commerce.socialPosts, row, { status: "deleted" })
      return answer("Deleted post", { postId: row.id })
    }
  }),
  ...(["categories", "tags"] as const).map((name) =>
    operation({
      does: `GET ${path}/${name}`,
      summary: `List ${name}`,
      ...(name === "categories" && { scope: "socialplanner/category.readonly" }),
      account: "path",
      query: { searchText: text, ...paging(10, 100, "skip") },
      returns: wrapped({ [name]: list(record(name === "tags" ? "SocialTag" : "SocialCategory")), count: integer }),
      handle: ({ query }, { world: { commerce } }) => {
        const collection = name === "tags" ? commerce.socialTags : commerce.socialCategories
        const filter = filterBy(query, "searchText", (row) => holds(query["searchText"], collection.data(row)["name"]))
        const { texts, total } = pageNewest(collection, query, filter)
        return answer(`Fetched ${name}`, `{"${name}":${texts},"count":${total}}`)
      }
    })
  )
]

const findPost = ({ world }: Service, params: Readonly<Record<string, string>>): Entry => {
  const { socialPosts } = world.commerce
  const row = find(socialPosts, params["postId"], "Post")
  if (isDeleted(socialPosts, row)) throw unknown("Post", row.id)
  return row
}

const checked = (body: Data, { world }: Service): Data => {
  const media = (body["media"] ?? []) as ReadonlyArray<Data>
  const wrong = media.findIndex(({ type }) => !/^\w[\w.+-]*\/\w[\w.+-]*$/.test(String(type)))
  if (wrong >= 0) throw invalid(`media.${wrong}.type must be a MIME type`)
  referAll(world.commerce.socialAccounts, body["accountIds"], "accountIds")
  refer(world.users, body["userId"], "userId")
  return { ...given(body), status: body["scheduleDate"] === undefined ? "published" : "scheduled" }
}

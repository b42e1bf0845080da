import { invalid, malformed } from "../../http/errors.ts"
import { extend } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { choice, described, type Field, integer, list, record, required, text } from "../../http/shape.ts"
import type { Collection, Data, Entry, Filter } from "../../account/collection.ts"
import { pageNewest } from "../../http/lists.ts"
import { answer, wrapped } from "./post-answers.ts"

const timestamp: Field = { type: "string", format: "date-time" }

/** The search of social posts (B 4.7), whose numbers are texts. */
export const socialSearchRoutes: ReadonlyArray<Route> = [
  {
    method: "POST",
    path: "/social-media-posting/:locationId/posts/list",
    summary: "Search posts",
    scope: "socialplanner/post.readonly",
    location: { in: "path", name: "locationId" },
    status: 201,
    body: {
      skip: required(described(text, "Digits, as text.")),
      limit: required(described(text, "Digits, as text; at most 100.")),
      fromDate: required(timestamp),
      toDate: required(timestamp),
      includeUsers: required(choice("true", "false")),
      accounts: described(text, "Account ids, separated by commas."),
      type: choice(..."recent all scheduled draft failed in_review published in_progress pending deleted".split(" "))
    },
    ignoresNull: true,
    returns: wrapped({ posts: list(record("SocialPost")), count: integer }),
    handle: ({ body }, service) => {
      const { socialPosts } = service.world
      const { texts, total } = pageNewest(posts(body, service), window(body), listed(body, socialPosts))
      return answer("Fetched posts", `{"posts":${texts},"count":${total}}`, 201)
    }
  }
]

export const isDeleted = (collection: Collection, row: Entry): boolean => {
  // A seeded post is never deleted, so it need not be built.
  return typeof row.source !== "number" && collection.data(row)["status"] === "deleted"
}

/** Paging parameters are texts of digits. */
const window = ({ limit, skip }: Data): { limit: number; skip: number } => {
  const problems = Object.entries({ limit, skip }).filter(([, value]) => !/^\d+$/.test(String(value)))
  if (problems.length > 0) throw invalid(...problems.map(([name]) => `${name} must be a number string`))
  // A limit above the maximum is a 400 (field-notes 1), as in every other list.
  if (Number(limit) > 100) throw malformed("limit must not be greater than 100")
  if (Number(limit) < 1) throw invalid("limit must not be less than 1")
  return { limit: Number(limit), skip: Number(skip) }
}

/** The posts, with the user of each if the request includes users. */
const posts = ({ includeUsers }: Data, { world }: Service): Pick<Collection, "sorted" | "list"> => {
  const { socialPosts } = world
  if (includeUsers !== "true") return socialPosts
  return {
    sorted: (order, filter) => socialPosts.sorted(order, filter),
    list: (row) => {
      const user = world.users.get(String(socialPosts.data(row)["userId"]))
      if (user === undefined) return socialPosts.list(row)
      const { firstName, id, lastName } = world.users.data(user)
      return extend(socialPosts.list(row), { user: { id, firstName, lastName } })
    }
  }
}

/** By the day for which a post is scheduled, or else created; deleted posts only with `type: "deleted"`. */
const listed = (body: Data, collection: Collection): Filter => {
  const { accounts, fromDate, toDate, type = "all" } = body
  const [from, to] = [Date.parse(String(fromDate)), Date.parse(String(toDate))]
  const wanted = accounts === undefined || accounts === "" ? undefined : String(accounts).split(",")
  return {
    key: JSON.stringify([from, to, accounts, type]),
    test: (row) => {
      if (row.created < from || row.created > to || isDeleted(collection, row) !== (type === "deleted")) return false
      const everyStatus = type === "all" || type === "recent" || type === "deleted"
      if (everyStatus && wanted === undefined) return true
      const data = collection.data(row)
      const own = (data["accountIds"] ?? []) as ReadonlyArray<string>
      return (everyStatus || data["status"] === type) && (wanted === undefined || wanted.some((id) => own.includes(id)))
    }
  }
}

import { HttpError, notFound } from "../../http/errors.ts"
import { listed, pageOf } from "../../http/pages.ts"
import { list as split, searchText, wholeNumber } from "../../http/parameters.ts"
import type { Call, Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { between, choice, described, flag, integer, list, record, required, text } from "../../http/shape.ts"
import type { Data, Entry, Filter, Order } from "../../account/collection.ts"
import { slice } from "../../account/position.ts"

const sortable = ["firstName", "lastName", "name", "email"]

/** Finding and reading users (A 4.5). */
export const userRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/users/search",
    scope: "users.readonly",
    summary: "Search users",
    query: {
      companyId: required(text),
      query: { type: "string", maxLength: 75 },
      locationId: text,
      type: text,
      role: text,
      ids: described(text, "Comma-separated."),
      skip: between(integer, 0),
      limit: between(integer, 1, 100),
      sort: choice(...sortable),
      sortDirection: choice("asc", "desc"),
      enabled2waySync: flag
    },
    returns: { users: list(record("User")), count: integer },
    handle: (call, service) => {
      const { query } = call
      const { users } = service.world
      checkAccess(query, service)
      const descending = query["sortDirection"] === "desc"
      const skip = wholeNumber(query, "skip", { fallback: 0, minimum: 0 })
      const limit = Number(query["limit"] ?? 25)
      const rows = users.sorted(order(service, query["sort"]), filter(call, service))
      const shown = slice(rows, skip, limit, descending)
      const isWhole = service.settings.variants.userReads === "missing"
      const texts = isWhole ? shown.map((row) => users.full(row)) : listed(users, shown)
      return pageOf("users", texts, { count: rows.length })
    }
  },
  {
    method: "GET",
    path: "/users/:userId",
    scope: "users.readonly",
    summary: "Get a user",
    returns: record("User"),
    handle: ({ params }, { settings, world }) => {
      const user = world.users.get(params["userId"]!)
      if (user === undefined || settings.variants.userReads === "missing")
        throw notFound(`User with id ${params["userId"]} not found`)
      return world.users.full(user)
    }
  }
]

const checkAccess = (query: Data, { world }: Service): void => {
  const { companyId, locationId } = world.context
  if (query["companyId"] !== companyId) throw new HttpError(403, "The token does not have access to this company")
  const sent = query["locationId"] ?? ""
  if (sent !== "" && sent !== locationId) throw new HttpError(403, "The token does not have access to this location")
}

/** By first name, then last name, unless `sort` names another field. */
const order = ({ world }: Service, sort: unknown): Order => {
  const key = (entry: Entry): string => {
    const { email = "", firstName = "", lastName = "", name = "" } = world.users.data(entry) as Record<string, string>
    const names = `${firstName}\u0000${lastName}`
    return (sort === "email" ? email : sort === "lastName" ? lastName : sort === "name" ? name : names).toLowerCase()
  }
  return { name: `by ${String(sort ?? "")}`, key }
}

const filter = ({ query }: Call, { world }: Service): Filter | undefined => {
  const ids = split(query["ids"])
  const text = searchText(query["query"], "query")
  const { role, type } = { role: query["role"], type: query["type"] }
  if (ids === undefined && text === undefined && !role && !type) return undefined
  const test = (entry: Entry): boolean => {
    const user = world.users.data(entry)
    const roles = user["roles"] as Data
    if (ids !== undefined && !ids.includes(entry.id as string)) return false
    if ((role && roles["role"] !== role) || (type && roles["type"] !== type)) return false
    const texts = [user["name"], user["email"], user["phone"]]
    return (
      text === undefined ||
      texts.some((own) =>
        String(own ?? "")
          .toLowerCase()
          .includes(text)
      )
    )
  }
  return { key: JSON.stringify([ids, text, role, type]), test }
}

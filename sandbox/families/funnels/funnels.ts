import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { integer, list, record, required, text } from "../../http/shape.ts"
import { type Data, type Entry } from "../../account/collection.ts"
import { oldestFirst, filterBy, containsText, pageNewest, paging, requiredPaging, windowOf } from "../../http/lists.ts"
import { find } from "../records.ts"

/** Funnels, their pages, which come as a bare list, and redirects (B 4.8). Funnels and pages take any valid token. */
export const funnelRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/funnels/funnel/list",
    summary: "List funnels",
    location: { in: "query", name: "locationId" },
    query: { name: text, type: text, category: text, parentId: text, ...paging(10) },
    returns: { funnels: list(record("Funnel")), count: integer, traceId: text },
    handle: ({ query, traceId }, { world }) => {
      const { funnels } = world
      const { category, name, parentId, type } = query
      const filter = filterBy(query, "name type category parentId", (row) => {
        const data = funnels.data(row)
        return (
          containsText(name, data["name"]) &&
          Object.entries({ category, parentId, type }).every(
            ([own, value]) => value === undefined || data[own] === value
          )
        )
      })
      const { texts, total } = pageNewest(funnels, query, filter)
      return `{"funnels":${texts},"count":${total},"traceId":${JSON.stringify(traceId)}}`
    }
  },
  {
    method: "GET",
    path: "/funnels/page",
    summary: "List the pages of a funnel",
    location: { in: "query", name: "locationId" },
    query: { funnelId: required(text), ...requiredPaging(), name: text },
    returns: list(record("FunnelPage")),
    handle: ({ query }, service) => {
      const { funnelPages } = service.world
      const shown = windowOf(query, pagesOf(query, service)).map((row) => funnelPages.list(row))
      return `[${shown.join(",")}]`
    }
  },
  {
    method: "GET",
    path: "/funnels/page/count",
    summary: "Count the pages of a funnel",
    location: { in: "query", name: "locationId" },
    query: { funnelId: required(text), name: text },
    returns: { count: integer },
    handle: ({ query }, service) => ({ count: pagesOf(query, service).length })
  },
  {
    method: "GET",
    path: "/funnels/lookup/redirect/list",
    summary: "List redirects",
    scope: "funnels/redirect.readonly",
    location: { in: "query", name: "locationId" },
    query: { ...requiredPaging(), search: text },
    returns: { data: list(record("Redirect")) },
    handle: ({ query }, { settings, world }) => {
      const { redirects } = world
      const filter = filterBy(query, "search", (row) => {
        const { domain, path, target } = redirects.data(row)
        return containsText(query["search"], domain, path, target)
      })
      const { texts, total } = pageNewest(redirects, query, filter)
      // The vendor's own description nests the list once more (field-notes 8).
      return settings.variants.redirectShape === "object"
        ? `{"data":{"count":${total},"data":${texts}}}`
        : `{"data":${texts}}`
    }
  },
  {
    method: "DELETE",
    path: "/funnels/lookup/redirect/:id",
    summary: "Delete a redirect",
    scope: "funnels/redirect.write",
    location: { in: "query", name: "locationId" },
    // The response is undocumented.
    status: 204,
    handle: ({ params }, { world }) => {
      world.redirects.remove(find(world.redirects, params["id"], "Redirect"))
      return ""
    }
  }
]

const pagesOf = ({ funnelId, name }: Data, { world }: Service): ReadonlyArray<Entry> => {
  const { funnelPages } = world
  const rows = oldestFirst(funnelPages.children(String(funnelId)))
  return name === undefined ? rows : rows.filter((row) => containsText(name, funnelPages.data(row)["name"]))
}

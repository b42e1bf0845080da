import type { Route, Service } from "../route.ts"
import { choice, forbidden, integer, list, record, required, text } from "../shape.ts"
import { type Data, type Entry, entry } from "../world/collection.ts"
import {
  byAge,
  conflict,
  filterBy,
  holds,
  operation,
  pageNewest,
  paging,
  requiredPaging,
  windowOf
} from "./operation.ts"
import { find } from "./write.ts"

const action = required(choice("funnel", "website", "url", "all"))

/** Funnels, their pages, which come as a bare list, and redirects (B 4.8). Funnels and pages take any valid token. */
export const funnelRoutes: ReadonlyArray<Route> = [
  operation({
    does: "GET /funnels/funnel/list",
    summary: "List funnels",
    account: "locationId in query",
    query: { name: text, type: text, category: text, parentId: text, ...paging(10) },
    returns: { funnels: list(record("Funnel")), count: integer, traceId: text },
    handle: ({ query, traceId }, { world }) => {
      const { funnels } = world.commerce
      const { category, name, parentId, type } = query
      const filter = filterBy(query, "name type category parentId", (row) => {
        const data = funnels.data(row)
        return (
          holds(name, data["name"]) &&
          Object.entries({ category, parentId, type }).every(
            ([own, value]) => value === undefined || data[own] === value
          )
        )
      })
      const { texts, total } = pageNewest(funnels, query, filter)
      return `{"funnels":${texts},"count":${total},"traceId":${JSON.stringify(traceId)}}`
    }
  }),
  operation({
    does: "GET /funnels/page",
    summary: "List the pages of a funnel",
    account: "locationId in query",
    query: { funnelId: required(text), ...requiredPaging(), name: text },
    returns: list(record("FunnelPage")),
    handle: ({ query }, service) => {
      const { funnelPages } = service.world.commerce
      const shown = windowOf(query, pagesOf(query, service)).map((row) => funnelPages.list(row))
      return `[${shown.join(",")}]`
    }
  }),
  operation({
    does: "GET /funnels/page/count",
    summary: "Count the pages of a funnel",
    account: "locationId in query",
    query: { funnelId: required(text), name: text },
    returns: { count: integer },
    handle: ({ query }, service) => ({ count: pagesOf(query, service).length })
  }),
  operation({
    does: "GET /funnels/lookup/redirect/list",
    summary: "List redirects",
    scope: "funnels/redirect.readonly",
    account: "locationId in query",
    query: { ...requiredPaging(), search: text },
    returns: { data: list(record("Redirect")) },
    handle: ({ query }, { settings, world }) => {
      const { redirects } = world.commerce
      const filter = filterBy(query, "search", (row) => {
        const { domain, path, target } = redirects.data(row)
        return holds(query["search"], domain, path, target)
      })
      const { texts, total } = pageNewest(redirects, query, filter)
      // The vendor's own description nests the list once more (field-notes 8).
      return settings.quirks.redirectShape === "object"
        ? `{"data":{"count":${total},"data":${texts}}}`
        : `{"data":${texts}}`
    }
  }),
  operation({
    does: "POST /funnels/lookup/redirect",
    summary: "Create a redirect",
    scope: "funnels/redirect.write",
    account: "locationId in body",
    body: { domain: required(text), path: required(text), target: required(text), action },
    returns: { data: record("Redirect") },
    errors: [409],
    handle: ({ body }, { clock, random, world }) => {
      const { redirects } = world.commerce
      const pathLowercase = String(body["path"]).toLowerCase()
      const isSame = (row: Entry): boolean => {
        const data = redirects.data(row)
        return data["domain"] === body["domain"] && data["pathLowercase"] === pathLowercase
      }
      if (redirects.live().some(isSame)) throw conflict("A redirect of this domain and path exists")
      const id = random.id()
      const source = { id, locationId: world.setting.locationId, ...body, pathLowercase, type: "Permanent" }
      return `{"data":${redirects.full(redirects.add(entry({ id, created: clock.now(), source })))}}`
    }
  }),
  operation({
    does: "PATCH /funnels/lookup/redirect/:id",
    summary: "Change where a redirect leads",
    scope: "funnels/redirect.write",
    account: "locationId in body",
    body: {
      target: required(text),
      action,
      // They cannot be changed: delete the redirect and make another.
      domain: forbidden,
      path: forbidden
    },
    returns: { data: record("Redirect") },
    handle: ({ body, params }, { clock, world }) => {
      const { redirects } = world.commerce
      const old = find(redirects, params["id"], "Redirect")
      const source = { ...redirects.data(old), ...body }
      return `{"data":${redirects.full(redirects.replace(old, entry({ ...old, updated: clock.now(), source })))}}`
    }
  }),
  operation({
    does: "DELETE /funnels/lookup/redirect/:id",
    summary: "Delete a redirect",
    scope: "funnels/redirect.write",
    account: "locationId in query",
    // The documents show no answer to this one.
    status: 204,
    handle: ({ params }, { world }) => {
      world.commerce.redirects.remove(find(world.commerce.redirects, params["id"], "Redirect"))
      return ""
    }
  })
]

const pagesOf = ({ funnelId, name }: Data, { world }: Service): ReadonlyArray<Entry> => {
  const { funnelPages } = world.commerce
  const rows = byAge(funnelPages.children(String(funnelId)))
  return name === undefined ? rows : rows.filter((row) => holds(name, funnelPages.data(row)["name"]))
}

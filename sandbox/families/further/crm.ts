import type { Route } from "../../http/route.ts"
import { flag, described, integer, list, object, text } from "../../http/shape.ts"
import { containsText, filterBy, paging } from "../../http/lists.ts"
import { find, wrapRecord } from "../records.ts"
import { pageRows } from "./parts.ts"

/** Reasons for lost deals (C 4) and companies (C 3). */
export const crmRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/opportunities/lost-reason",
    scope: "opportunities.readonly",
    location: { in: "query", name: "locationId" },
    summary: "List the reasons for lost deals",
    query: {
      name: text,
      query: text,
      deleted: described(flag, "Default false."),
      getCount: flag,
      ...paging(100, 100, "skip")
    },
    returns: { lostReasons: list(object()), total: integer },
    handle: ({ query }, { settings, world: { lostReasons } }) => {
      const { deleted = false, name, query: words, limit = 100 } = query
      const hasBoth = deleted === true && settings.variants.deletedReasons === "also"
      const { texts, total } = pageRows(
        lostReasons,
        { ...query, limit },
        {
          key: JSON.stringify([deleted, hasBoth, name, words]),
          test: (row) =>
            (hasBoth || (row.kind === 1) === deleted) && containsText(name ?? words, lostReasons.data(row)["name"])
        }
      )
      return `{"lostReasons":${texts}${query["getCount"] === true ? `,"total":${total}` : ""}}`
    }
  },
  {
    method: "GET",
    path: "/businesses/",
    scope: "businesses.readonly",
    location: { in: "query", name: "locationId" },
    summary: "List companies",
    query: paging(100, 100, "skip"),
    returns: { businesses: list(object()) },
    handle: ({ query }, { world: { businesses } }) =>
      `{"businesses":${
        pageRows(
          businesses,
          { ...query, limit: query["limit"] ?? 100 },
          filterBy({}, "", () => true)
        ).texts
      }}`
  },
  {
    method: "GET",
    path: "/businesses/:businessId",
    scope: "businesses.readonly",
    summary: "Get a company",
    returns: { business: object() },
    handle: ({ params }, { world: { businesses } }) =>
      wrapRecord("business", businesses, find(businesses, params["businessId"], "Business"))
  }
]

import { notFound } from "../../http/errors.ts"
import type { Route } from "../../http/route.ts"
import { altType, choice, described, integer, list, record, required, text } from "../../http/shape.ts"
import { filterBy, containsText, pageNewest, paging } from "../../http/lists.ts"
import { find } from "../records.ts"

/** Coupons (B 4.6). No path contains the id of a coupon. */
export const couponRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/payments/coupon/list",
    summary: "List coupons",
    scope: "payments/coupons.readonly",
    location: { in: "query", name: "altId" },
    query: {
      altType,
      status: choice("scheduled", "active", "expired"),
      search: described(text, "Part of the name or the code."),
      ...paging(100)
    },
    returns: { data: list(record("Coupon")), totalCount: integer, traceId: text },
    handle: ({ query, traceId }, { world }) => {
      const { coupons } = world
      const { limit = 100, search, status } = query
      const filter = filterBy(query, "status search", (row) => {
        const data = coupons.data(row)
        return (status === undefined || data["status"] === status) && containsText(search, data["name"], data["code"])
      })
      const { texts, total } = pageNewest(coupons, { ...query, limit }, filter)
      return `{"data":${texts},"totalCount":${total},"traceId":${JSON.stringify(traceId)}}`
    }
  },
  {
    method: "GET",
    path: "/payments/coupon",
    summary: "Get a coupon by its id and code",
    scope: "payments/coupons.readonly",
    location: { in: "query", name: "altId" },
    query: { altType, id: required(text), code: required(text) },
    returns: record("Coupon"),
    handle: ({ query }, { world }) => {
      const { coupons } = world
      const row = find(coupons, query["id"], "Coupon")
      if (coupons.data(row)["code"] !== query["code"]) throw notFound(`Coupon with code ${query["code"]} not found`)
      return coupons.full(row)
    }
  }
]

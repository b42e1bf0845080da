import { conflict, invalid, notFound } from "../../http/errors.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import {
  altType,
  between,
  choice,
  described,
  flag,
  integer,
  list,
  number,
  object,
  record,
  required,
  type Shape,
  text
} from "../../http/shape.ts"
import type { Data, Entry } from "../../account/collection.ts"
import { filterBy, containsText, pageNewest, paging } from "../../http/lists.ts"
import { couponStatus } from "./seeded-payments.ts"
import { dropUndefined, addRecord, checkReferences, find, replaceRecord } from "../records.ts"

const timestamp = { type: "string", format: "date-time" } as const

const writable: Shape = {
  name: required(text),
  code: required(text),
  discountType: required(choice("percentage", "amount")),
  discountValue: required(between(number, 0)),
  startDate: required(timestamp),
  endDate: timestamp,
  usageLimit: between(integer, 1),
  productIds: list(text),
  priceIds: list(text),
  variantIds: list(text),
  applyToFuturePayments: flag,
  applyToFuturePaymentsConfig: object({ type: required(choice("forever", "fixed")) })
}

const [reads, writes] = ["payments/coupons.readonly", "payments/coupons.write"]

/** Coupons (B 4.6). No path contains the id of a coupon. */
export const couponRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/payments/coupon/list",
    summary: "List coupons",
    scope: reads!,
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
    scope: reads!,
    location: { in: "query", name: "altId" },
    query: { altType, id: required(text), code: required(text) },
    returns: record("Coupon"),
    handle: ({ query }, { world }) => {
      const { coupons } = world
      const row = find(coupons, query["id"], "Coupon")
      if (coupons.data(row)["code"] !== query["code"]) throw notFound(`Coupon with code ${query["code"]} not found`)
      return coupons.full(row)
    }
  },
  {
    method: "POST",
    path: "/payments/coupon",
    summary: "Create a coupon",
    scope: writes!,
    location: { in: "body", name: "altId" },
    status: 201,
    body: { altType, ...writable },
    ignoresNull: true,
    returns: record("Coupon"),
    errors: [409],
    handle: ({ body }, service) => {
      const { coupons } = service.world
      return coupons.full(addRecord(service, coupons, { ...checked(body, service, undefined), usageCount: 0 }))
    }
  },
  {
    method: "PUT",
    path: "/payments/coupon",
    summary: "Replace a coupon",
    scope: writes!,
    location: { in: "body", name: "altId" },
    body: { altType, id: required(text), ...writable },
    ignoresNull: true,
    returns: record("Coupon"),
    errors: [409],
    handle: ({ body: { id, ...fields } }, service) => {
      const { coupons } = service.world
      const old = find(coupons, id, "Coupon")
      return coupons.full(replaceRecord(service, coupons, old, checked(fields, service, old), ["usageCount"]))
    }
  },
  {
    method: "DELETE",
    path: "/payments/coupon",
    summary: "Delete a coupon",
    scope: writes!,
    location: { in: "body", name: "altId" },
    body: { altType, id: required(text) },
    ignoresNull: true,
    returns: { success: flag, traceId: text },
    handle: ({ body, traceId }, { world }) => {
      world.coupons.remove(find(world.coupons, body["id"], "Coupon"))
      return { success: true, traceId }
    }
  }
]

const checked = (body: Data, { clock, world }: Service, old: Entry | undefined): Data => {
  const { applyToFuturePayments = false, code, discountType, discountValue, endDate, startDate } = body
  const config = (body["applyToFuturePaymentsConfig"] ?? {}) as Data
  const problems = [
    discountType === "percentage" && Number(discountValue) > 100 && "discountValue must not be greater than 100",
    endDate !== undefined &&
      Date.parse(String(endDate)) < Date.parse(String(startDate)) &&
      "endDate is before startDate",
    ...["duration", "durationType"].map(
      (name) =>
        config["type"] === "fixed" &&
        config[name] === undefined &&
        `applyToFuturePaymentsConfig.${name} should not be empty`
    )
  ].filter((problem) => problem !== false)
  if (problems.length > 0) throw invalid(...problems)
  const { coupons, prices, products } = world
  checkReferences(products, body["productIds"], "productIds")
  checkReferences(prices, body["priceIds"], "priceIds")
  const hasCode = (row: Entry): boolean => row !== old && coupons.data(row)["code"] === code
  if (coupons.live().some(hasCode)) throw conflict(`A coupon with the code ${code} exists`)
  const status = couponStatus(String(startDate), endDate as string | undefined, clock.now())
  return { altId: world.context.locationId, altType: "location", ...dropUndefined(body), applyToFuturePayments, status }
}

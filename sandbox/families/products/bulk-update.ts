import { invalid } from "../../http/errors.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { altType, choice, flag, list, number, object, required, text } from "../../http/shape.ts"
import type { Data, Entry } from "../../account/collection.ts"
import { containsText } from "../../http/lists.ts"
import { deleteProduct, productType } from "./product-rules.ts"
import { amountOf, cents } from "../../account/seeded.ts"
import { changeRecord, checkReferences } from "../records.ts"

const change = object({
  type: required(
    choice("INCREASE_BY_AMOUNT", "REDUCE_BY_AMOUNT", "SET_NEW_PRICE", "INCREASE_BY_PERCENTAGE", "REDUCE_BY_PERCENTAGE")
  ),
  value: required(number),
  roundToWhole: flag
})

/** Bulk changes of products (B 4.2): one type of change for all, with its own member in the body. */
export const productBulkRoutes: ReadonlyArray<Route> = [
  {
    method: "POST",
    path: "/products/bulk-update",
    summary: "Change or delete many products",
    scope: "products.write",
    location: { in: "body", name: "altId" },
    status: 201,
    body: {
      altType,
      type: required(
        choice(
          "bulk-update-price",
          "bulk-update-availability",
          "bulk-update-product-collection",
          "bulk-delete-products",
          "bulk-update-currency"
        )
      ),
      productIds: required(list(text, 1)),
      price: change,
      compareAtPrice: change,
      availability: flag,
      collectionIds: list(text),
      currency: text,
      filters: object({ collectionIds: list(text), productType, availableInStore: flag, search: text })
    },
    ignoresNull: true,
    returns: { status: flag },
    handle: ({ body }, service) => {
      const { collections, products } = service.world
      const needed = needs[body["type"] as keyof typeof needs]
      if (needed !== undefined && body[needed] === undefined) throw invalid(`${needed} should not be empty`)
      if (needed === "currency" && !/^[A-Z]{3}$/.test(String(body["currency"]))) {
        throw invalid("currency must be a code of three capital letters")
      }
      const productIds = body["productIds"] as ReadonlyArray<string>
      checkReferences(products, productIds, "productIds")
      checkReferences(collections, body["collectionIds"], "collectionIds")
      const rows = [...new Set(productIds)].map((id) => products.get(id)!)
      const chosen = rows.filter((row) => matches(row, body["filters"] as Data | undefined, service))
      for (const row of chosen) apply(body, row, service)
      return { status: true }
    }
  }
]

const needs = {
  "bulk-update-price": "price",
  "bulk-update-availability": "availability",
  "bulk-update-product-collection": "collectionIds",
  "bulk-update-currency": "currency",
  "bulk-delete-products": undefined
} as const

const matches = (row: Entry, filters: Data | undefined, { world }: Service): boolean => {
  const data = world.products.data(row)
  const { availableInStore, collectionIds, productType, search } = filters ?? {}
  const own = (data["collectionIds"] ?? []) as ReadonlyArray<string>
  return (
    containsText(search, data["name"]) &&
    (productType === undefined || data["productType"] === productType) &&
    (availableInStore === undefined || data["availableInStore"] === availableInStore) &&
    (collectionIds === undefined || (collectionIds as ReadonlyArray<string>).some((id) => own.includes(id)))
  )
}

const apply = (body: Data, row: Entry, service: Service): void => {
  const { prices, products } = service.world
  const { availability, collectionIds, compareAtPrice, currency, price } = body
  const eachPrice = (fields: (data: Data) => Data): void => {
    for (const child of prices.children(row.id!)) {
      changeRecord(service, prices, child, fields(prices.data(child)))
    }
  }
  switch (body["type"]) {
    case "bulk-update-price":
      return eachPrice((data) => ({
        amount: changed(data["amount"], price as Data),
        ...(compareAtPrice !== undefined && { compareAtPrice: changed(data["compareAtPrice"], compareAtPrice as Data) })
      }))
    case "bulk-update-currency":
      return eachPrice(() => ({ currency }))
    case "bulk-update-availability":
      return void changeRecord(service, products, row, { availableInStore: availability })
    case "bulk-update-product-collection":
      return void changeRecord(service, products, row, { collectionIds })
    default:
      deleteProduct(service, row)
  }
}

/** The new amount, rounded to cents or to a whole number, and at least 0. Only SET_NEW_PRICE changes an absent amount. */
const changed = (old: unknown, { roundToWhole, type, value }: Data): unknown => {
  if (old === undefined && type !== "SET_NEW_PRICE") return undefined
  const [amount, by] = [amountOf(old), Number(value)]
  const next = {
    INCREASE_BY_AMOUNT: amount + by,
    REDUCE_BY_AMOUNT: amount - by,
    SET_NEW_PRICE: by,
    INCREASE_BY_PERCENTAGE: amount * (1 + by / 100),
    REDUCE_BY_PERCENTAGE: amount * (1 - by / 100)
  }[type as string]!
  return Math.max(0, roundToWhole === true ? Math.round(next) : cents(next))
}

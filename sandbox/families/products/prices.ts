import { invalid } from "../../http/errors.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import type { Shape } from "../../http/shape.ts"
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
  text
} from "../../http/shape.ts"
import { type Data, type Entry, byCreated } from "../../account/collection.ts"
import { oldestFirst, containsText, paging, windowOf } from "../../http/lists.ts"
import { findProduct } from "./product-rules.ts"
import { inventoryItem } from "./seeded-products.ts"
import { dropUndefined, addRecord, changeRecord, find, replaceRecord } from "../records.ts"

const writable: Shape = {
  name: required(text),
  type: required(choice("one_time", "recurring")),
  amount: required(between(number, 0)),
  currency: required(text),
  recurring: object({
    interval: required(choice("day", "week", "month", "year")),
    intervalCount: required(between(integer, 1))
  }),
  description: text,
  trialPeriod: described(between(integer, 0), "Days."),
  totalCycles: between(integer, 1),
  setupFee: between(number, 0),
  compareAtPrice: between(number, 0),
  trackInventory: flag,
  availableQuantity: integer,
  allowOutOfStockPurchases: flag,
  sku: text,
  shippingOptions: object({
    weight: object({ value: number, unit: choice("kg", "lb", "g", "oz") }),
    dimensions: object({ height: number, width: number, length: number, unit: choice("cm", "in", "m") })
  }),
  variantOptionIds: list(text),
  isDigitalProduct: flag,
  digitalDelivery: list(text)
}

/** The prices of a product, and the inventory, which has an item for each price (B 4.2). */
export const priceRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/products/:productId/price",
    summary: "List the prices of a product",
    scope: "products/prices.readonly",
    location: { in: "query", name: "locationId" },
    query: { ...paging(10), ids: described(text, "Price ids, separated by commas.") },
    returns: { prices: list(record("Price")), total: integer },
    handle: ({ params, query }, service) => {
      const { prices } = service.world
      const ids = query["ids"] === undefined ? undefined : String(query["ids"]).split(",")
      const all = prices.children(findProduct(service, params["productId"]!).id!)
      const rows = oldestFirst(all).filter((row) => ids === undefined || ids.includes(row.id!))
      const shown = windowOf(query, rows).map((row) => prices.full(row))
      return `{"prices":[${shown.join(",")}],"total":${rows.length}}`
    }
  },
  {
    method: "GET",
    path: "/products/:productId/price/:priceId",
    summary: "Get a price",
    scope: "products/prices.readonly",
    location: { in: "query", name: "locationId" },
    returns: record("Price"),
    handle: ({ params }, service) => service.world.prices.full(findPrice(service, params))
  },
  {
    method: "POST",
    path: "/products/:productId/price",
    summary: "Create a price",
    scope: "products/prices.write",
    location: { in: "body", name: "locationId" },
    status: 201,
    body: writable,
    ignoresNull: true,
    returns: record("Price"),
    handle: ({ body, params }, service) => {
      const { prices } = service.world
      const product = findProduct(service, params["productId"]!)
      const fields = { product: product.id, locationId: service.world.context.locationId, ...checked(body) }
      return prices.full(addRecord(service, prices, fields, { parent: product.id }))
    }
  },
  {
    method: "PUT",
    path: "/products/:productId/price/:priceId",
    summary: "Replace a price",
    scope: "products/prices.write",
    location: { in: "body", name: "locationId" },
    body: writable,
    ignoresNull: true,
    returns: record("Price"),
    handle: ({ body, params }, service) => {
      const { prices } = service.world
      const old = findPrice(service, params)
      return prices.full(replaceRecord(service, prices, old, checked(body), ["product", "locationId"]))
    }
  },
  {
    method: "DELETE",
    path: "/products/:productId/price/:priceId",
    summary: "Delete a price",
    scope: "products/prices.write",
    location: { in: "query", name: "locationId" },
    returns: { status: flag },
    handle: ({ params }, service) => {
      service.world.prices.remove(findPrice(service, params))
      return { status: true }
    }
  },
  {
    method: "GET",
    path: "/products/inventory",
    summary: "List the inventory",
    scope: "products/prices.readonly",
    location: { in: "query", name: "altId" },
    query: { altType, ...paging(10), search: described(text, "Part of the name of a price or of its product.") },
    returns: { inventory: list(record("InventoryItem")), total: object({ total: integer }) },
    handle: ({ query }, { world }) => {
      const { prices, products } = world
      const item = (row: Entry): Data => {
        const price = prices.data(row)
        const product = products.get(String(price["product"]))
        return inventoryItem(price, product && products.data(product))
      }
      const rows = prices.sorted(byCreated)
      const { search } = query
      const found =
        search === undefined
          ? rows
          : rows.filter((row) => containsText(search, item(row)["name"], item(row)["productName"]))
      // Here the total is an object; in the list of products it is an array (B 4.2).
      return { inventory: windowOf(query, found).map(item), total: { total: found.length } }
    }
  },
  {
    method: "POST",
    path: "/products/inventory",
    summary: "Set stock",
    scope: "products/prices.write",
    location: { in: "body", name: "altId" },
    status: 201,
    body: {
      altType,
      items: required(
        list(object({ priceId: required(text), availableQuantity: integer, allowOutOfStockPurchases: flag }), 1)
      )
    },
    ignoresNull: true,
    returns: { status: flag },
    handle: ({ body }, service) => {
      const { prices } = service.world
      const items = body["items"] as ReadonlyArray<Data>
      const unknown = items.findIndex(({ priceId }) => prices.get(String(priceId)) === undefined)
      if (unknown >= 0) throw invalid(`items.${unknown}.priceId is not valid`)
      for (const { allowOutOfStockPurchases, availableQuantity, priceId } of items) {
        const fields = dropUndefined({ availableQuantity, allowOutOfStockPurchases })
        changeRecord(service, prices, prices.get(String(priceId))!, fields)
      }
      return { status: true }
    }
  }
]

/** Finds a price; it is a 404 in the path of another product. */
const findPrice = (service: Service, params: Readonly<Record<string, string>>): Entry => {
  const product = findProduct(service, params["productId"]!)
  const price = find(service.world.prices, params["priceId"], "Price")
  return price.parent === product.id ? price : find(service.world.prices, `other ${price.id}`, "Price")
}

/** A recurring price requires its interval; a one-time price must not have one. */
const checked = (body: Data): Data => {
  const { currency, recurring, type } = body
  if (type === "recurring" && recurring === undefined) throw invalid("recurring should not be empty")
  if (type === "one_time" && recurring !== undefined) throw invalid("property recurring should not exist")
  if (!/^[A-Z]{3}$/.test(String(currency))) throw invalid("currency must be a code of three capital letters")
  return dropUndefined(body)
}

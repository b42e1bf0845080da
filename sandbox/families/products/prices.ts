import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { altType, described, integer, list, object, record, text } from "../../http/shape.ts"
import { type Data, type Entry, byCreated } from "../../account/collection.ts"
import { oldestFirst, containsText, paging, windowOf } from "../../http/lists.ts"
import { findProduct } from "./products.ts"
import { inventoryItem } from "./seeded-products.ts"
import { find } from "../records.ts"

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
  }
]

/** Finds a price; it is a 404 in the path of another product. */
const findPrice = (service: Service, params: Readonly<Record<string, string>>): Entry => {
  const product = findProduct(service, params["productId"]!)
  const price = find(service.world.prices, params["priceId"], "Price")
  return price.parent === product.id ? price : find(service.world.prices, `other ${price.id}`, "Price")
}

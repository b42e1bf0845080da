import { extend } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import { altType, choice, described, flag, integer, list, object, record, text } from "../../http/shape.ts"
import { byCreated } from "../../account/collection.ts"
import { filterBy, paging, windowOf } from "../../http/lists.ts"
import { checkProduct, deleteProduct, findProduct, productFilter, productShape, withTaxes } from "./product-rules.ts"
import { addRecord, replaceRecord } from "../records.ts"

/** Products (B 4.2). */
export const productRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/products/",
    summary: "List products",
    scope: "products.readonly",
    location: { in: "query", name: "locationId" },
    query: {
      ...paging(10),
      search: described(text, "Part of the name."),
      collectionIds: described(text, "Separated by commas."),
      collectionSlug: text,
      productIds: list(text),
      availableInStore: flag,
      storeId: described(text, "The account has one store, whose id is that of the location."),
      includedInStore: described(flag, "Whether the store has it; with storeId, whether that store has it."),
      sortOrder: described(choice("asc", "desc"), "By date; default desc."),
      expand: described(list(text), "`tax` shows taxes in place of their ids.")
    },
    returns: { products: list(record("Product")), total: list(object({ total: integer })) },
    handle: ({ query }, service) => {
      const { products } = service.world
      const names = "search collectionIds collectionSlug productIds availableInStore storeId includedInStore"
      const rows = products.sorted(byCreated, filterBy(query, names, productFilter(query, service)))
      const shown = windowOf(query, query["sortOrder"] === "asc" ? rows : rows.toReversed())
      const taxed = (query["expand"] as ReadonlyArray<string> | undefined)?.includes("tax") ?? false
      const texts = shown.map((row) => (taxed ? JSON.stringify(withTaxes(row, service)) : products.list(row)))
      // Here the total is an array with one object (B 4.2).
      return `{"products":[${texts.join(",")}],"total":[{"total":${rows.length}}]}`
    }
  },
  {
    method: "GET",
    path: "/products/:productId",
    summary: "Get a product by id or slug",
    scope: "products.readonly",
    location: { in: "query", name: "locationId" },
    query: { sendWishlistStatus: flag },
    returns: record("Product"),
    handle: ({ params, query }, service) => {
      const text = service.world.products.full(findProduct(service, params["productId"]!))
      return query["sendWishlistStatus"] === true ? extend(text, { isInWishlist: false }) : text
    }
  },
  {
    method: "POST",
    path: "/products/",
    summary: "Create a product",
    scope: "products.write",
    location: { in: "body", name: "locationId" },
    status: 201,
    body: productShape,
    ignoresNull: true,
    returns: record("Product"),
    errors: [409],
    handle: ({ body }, service) => {
      const fields = checkProduct(body, service, undefined)
      return service.world.products.full(addRecord(service, service.world.products, fields))
    }
  },
  {
    method: "PUT",
    path: "/products/:productId",
    summary: "Replace a product, by id or slug",
    scope: "products.write",
    location: { in: "body", name: "locationId" },
    body: { ...productShape, prices: list(text) },
    ignoresNull: true,
    returns: record("Product"),
    errors: [409],
    handle: ({ body, params }, service) => {
      const { products } = service.world
      const old = findProduct(service, params["productId"]!)
      const { prices: _, ...fields } = body
      return products.full(replaceRecord(service, products, old, checkProduct(fields, service, old), []))
    }
  },
  {
    method: "DELETE",
    path: "/products/:productId",
    summary: "Delete a product",
    scope: "products.write",
    location: { in: "query", name: "locationId" },
    returns: { status: flag },
    handle: ({ params }, service) => {
      deleteProduct(service, findProduct(service, params["productId"]!))
      return { status: true }
    }
  },
  {
    method: "GET",
    path: "/products/collections",
    summary: "List collections",
    scope: "products/collection.readonly",
    location: { in: "query", name: "altId" },
    query: { altType, ...paging(10) },
    returns: { data: list(record("ProductCollection")), total: integer },
    handle: ({ query }, { world }) => {
      const { collections } = world
      const rows = collections.sorted(byCreated)
      const shown = windowOf(query, rows).map((row) => collections.list(row))
      return `{"data":[${shown.join(",")}],"total":${rows.length}}`
    }
  }
]

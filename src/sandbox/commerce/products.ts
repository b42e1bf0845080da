import { extend } from "../pages.ts"
import type { Route } from "../route.ts"
import { choice, described, flag, integer, list, object, record, text } from "../shape.ts"
import { byCreated } from "../world/collection.ts"
import { filterBy, operation, paging, windowOf } from "./operation.ts"
import { checkProduct, deleteProduct, findProduct, productFilter, productShape, withTaxes } from "./product-rules.ts"
import { addRecord, replaceRecord } from "./write.ts"

/** Products (B 4.2). */
export const productRoutes: ReadonlyArray<Route> = [
  operation({
    does: "GET /products/",
    summary: "List products",
    scope: "products.readonly",
    account: "locationId in query",
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
      const { products } = service.world.commerce
      const names = "search collectionIds collectionSlug productIds availableInStore storeId includedInStore"
      const rows = products.sorted(byCreated, filterBy(query, names, productFilter(query, service)))
      const shown = windowOf(query, query["sortOrder"] === "asc" ? rows : rows.toReversed())
      const taxed = (query["expand"] as ReadonlyArray<string> | undefined)?.includes("tax") ?? false
      const texts = shown.map((row) => (taxed ? JSON.stringify(withTaxes(row, service)) : products.list(row)))
      // The total is an array of one object here (B 4.2).
      return `{"products":[${texts.join(",")}],"total":[{"total":${rows.length}}]}`
    }
  }),
  operation({
    does: "GET /products/:productId",
    summary: "Get a product by id or slug",
    scope: "products.readonly",
    account: "locationId in query",
    query: { sendWishlistStatus: flag },
    returns: record("Product"),
    handle: ({ params, query }, service) => {
      const text = service.world.commerce.products.full(findProduct(service, params["productId"]!))
      return query["sendWishlistStatus"] === true ? extend(text, { isInWishlist: false }) : text
    }
  }),
  operation({
    does: "POST /products/",
    summary: "Create a product",
    scope: "products.write",
    account: "locationId in body",
    status: 201,
    body: productShape,
    returns: record("Product"),
    errors: [409],
    handle: ({ body }, service) => {
      const fields = checkProduct(body, service, undefined)
      return service.world.commerce.products.full(addRecord(service, service.world.commerce.products, fields))
    }
  }),
  operation({
    does: "PUT /products/:productId",
    summary: "Replace a product, by id or slug",
    scope: "products.write",
    account: "locationId in body",
    body: { ...productShape, prices: list(text) },
    returns: record("Product"),
    errors: [409],
    handle: ({ body, params }, service) => {
      const { products } = service.world.commerce
      const old = findProduct(service, params["productId"]!)
      const { prices: _, ...fields } = body
      return products.full(replaceRecord(service, products, old, checkProduct(fields, service, old), []))
    }
  }),
  operation({
    does: "DELETE /products/:productId",
    summary: "Delete a product",
    scope: "products.write",
    account: "locationId in query",
    returns: { status: flag },
    handle: ({ params }, service) => {
      deleteProduct(service, findProduct(service, params["productId"]!))
      return { status: true }
    }
  }),
  operation({
    does: "GET /products/collections",
    summary: "List collections",
    scope: "products/collection.readonly",
    account: "altId in query",
    query: paging(10),
    returns: { data: list(record("ProductCollection")), total: integer },
    handle: ({ query }, { world }) => {
      const { collections } = world.commerce
      const rows = collections.sorted(byCreated)
      const shown = windowOf(query, rows).map((row) => collections.list(row))
      return `{"data":[${shown.join(",")}],"total":${rows.length}}`
    }
  })
]

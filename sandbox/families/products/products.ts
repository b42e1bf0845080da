import { notFound } from "../../http/errors.ts"
import { extend } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { altType, choice, described, flag, integer, list, object, record, text } from "../../http/shape.ts"
import { type Data, type Entry, byCreated } from "../../account/collection.ts"
import { containsText, filterBy, paging, windowOf } from "../../http/lists.ts"
import { taxesOf } from "./seeded-products.ts"
import { removeChildren } from "../records.ts"

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
    method: "DELETE",
    path: "/products/:productId",
    summary: "Delete a product",
    scope: "products.write",
    location: { in: "query", name: "locationId" },
    returns: { status: flag },
    // Its prices are deleted with it.
    handle: ({ params }, service) => {
      const { prices, products } = service.world
      const product = findProduct(service, params["productId"]!)
      removeChildren(prices, product.id!)
      products.remove(product)
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

export const findProduct = ({ world }: Service, idOrSlug: string): Entry => {
  const { products } = world
  const found = products.get(idOrSlug) ?? products.live().find((row) => products.data(row)["slug"] === idOrSlug)
  if (found === undefined) throw notFound(`Product with id ${idOrSlug} not found`)
  return found
}

const productFilter = (query: Data, { world }: Service): ((row: Entry) => boolean) => {
  const { availableInStore, collectionIds, collectionSlug, includedInStore, productIds, search, storeId } = query
  const { collections, products } = world
  const wanted = collectionIds === undefined ? undefined : String(collectionIds).split(",")
  const bySlug = collections.live().find((row) => collections.data(row)["slug"] === collectionSlug)?.id ?? "none"
  // Stores are not documented. The sandbox has one, which contains the products with `availableInStore`.
  const isStore = storeId === undefined || storeId === world.context.locationId
  const inStore = includedInStore ?? (storeId === undefined ? undefined : true)
  return (row) => {
    const data = products.data(row)
    const own = (data["collectionIds"] ?? []) as ReadonlyArray<string>
    return (
      containsText(search, data["name"]) &&
      (productIds === undefined || (productIds as ReadonlyArray<unknown>).includes(row.id)) &&
      (availableInStore === undefined || data["availableInStore"] === availableInStore) &&
      (inStore === undefined || (isStore && data["availableInStore"] === true) === inStore) &&
      (wanted === undefined || wanted.some((id) => own.includes(id))) &&
      (collectionSlug === undefined || own.includes(bySlug))
    )
  }
}

const withTaxes = (row: Entry, { world }: Service): Data => {
  const data = JSON.parse(world.products.list(row)) as Data
  const known = taxesOf(world.context)
  const taxes = (data["taxes"] as ReadonlyArray<string> | undefined)?.map(
    (id) => known.find((tax) => tax._id === id) ?? { _id: id }
  )
  return { ...data, taxes }
}

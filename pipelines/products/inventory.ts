import { boolean, decimal, ref, text, changed } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { defineList } from "#catalog/resource.ts"
import { altFields } from "#catalog/shapes.ts"

export const inventory = defineList({
  table: "inventory",
  description: "Stock of each price, as the inventory shows it.",
  source: "B 2.2, B 4.2 GET /products/inventory",
  scope: "products/prices.readonly",
  full: [
    {
      request: get("/products/inventory", {
        altId: location,
        altType: "location",
        limit: size,
        offset: cursorOr(0)
      }),
      paging: { kind: "offset" },
      records: "inventory",
      pageSize: 100,
      trialPageSize: 500,
      total: "total.total"
    }
  ],
  fields: {
    _id: ref("prices", "The price", { column: "id" }),
    name: text("Name of the price"),
    availableQuantity: decimal("Stock left"),
    sku: text("Article number"),
    allowOutOfStockPurchases: boolean("Sold without stock as well"),
    product: ref("products", "The product", { column: "product_id" }),
    productName: text("Name of the product"),
    updatedAt: changed("Last change of the price"),
    ...altFields
  }
})

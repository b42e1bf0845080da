import { boolean, decimal, ref, text, changed } from "#catalog/fields.ts"
import { altLocation, cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"
import { altFields } from "#catalog/shapes.ts"

export const inventory = defineList({
  table: "inventory",
  description: "Stock of each price, as the inventory shows it.",
  source: "B 2.2, B 4.2 GET /products/inventory",
  scope: "products/prices.readonly",
  full: [
    byOffset(get("/products/inventory", { ...altLocation, limit: size, offset: cursorOr(0) }), {
      records: "inventory",
      total: "total.total"
    })
  ],
  fields: {
    _id: ref("prices", "The price", { column: "id" }),
    name: text("Name of the price"),
    availableQuantity: decimal("Stock left; NULL where none is counted"),
    sku: text("Article number"),
    allowOutOfStockPurchases: boolean("Sold without stock as well"),
    product: ref("products", "The product", { column: "product_id" }),
    productName: text("Name of the product"),
    updatedAt: changed("Last change of the price"),
    ...altFields
  }
})

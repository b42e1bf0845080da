import { openEnum, count, boolean, id, instant, object, enumeration, decimal, ref, text } from "#catalog/fields.ts"
import { values, changed, created } from "#catalog/fields.ts"
import { altLocation, column, cursorOr, get, recordId, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"
import { altFields } from "#catalog/shapes.ts"

export const coupons = defineList({
  table: "coupons",
  description: "Discount codes.",
  source: "B 2.4, B 4.6 GET /payments/coupon/list",
  scope: "payments/coupons.readonly",
  full: [
    byOffset(get("/payments/coupon/list", { ...altLocation, limit: size, offset: cursorOr(0) }), {
      records: "data",
      total: "totalCount"
    })
  ],
  getOne: {
    request: get("/payments/coupon", { ...altLocation, id: recordId, code: column("code") }),
    record: ""
  },
  fields: {
    _id: id("Coupon id"),
    name: text("Name"),
    code: text("What customers type"),
    discountType: enumeration(["percentage", "amount"]),
    discountValue: decimal("Discount: per cent from 0 to 100, or a flat amount in the currency of the order", {
      personal: "financial"
    }),
    status: enumeration(["scheduled", "active", "expired"]),
    startDate: instant("When it begins to hold"),
    endDate: instant("When it ends; NULL for never"),
    usageCount: count("Times used"),
    usageLimit: count("Most times it may be used; NULL for no limit"),
    limitPerCustomer: text("Limit of each customer, as sent: a number, or whether there is one"),
    applyToFuturePayments: boolean("Holds for later payments of a subscription"),
    applyToFuturePaymentsConfig: object({
      type: enumeration(["forever", "fixed"]),
      duration: count("How long it holds if `fixed`, in the unit beside"),
      durationType: openEnum("Unit of that duration")
    }),
    userId: ref("users", "Who made it"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    ...altFields,
    productIds: values(
      "coupon_products",
      "Products each coupon is restricted to.",
      "product_id",
      ref("products", "The product")
    ),
    priceIds: values("coupon_prices", "Prices each coupon is restricted to.", "price_id", ref("prices", "The price")),
    variantIds: values(
      "coupon_variants",
      "Variants each coupon is restricted to.",
      "variant_id",
      ref("product_variants", "The variant")
    )
  }
})

import { alias, openEnum, decimal, boolean, id, instant, object, enumeration, ref, rows } from "#catalog/fields.ts"
import { text, ignored, values, changed, created, identifier } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

export const products = defineList({
  table: "products",
  description: "What the account sells.",
  source: "B 2.2, B 4.2 GET /products/",
  scope: "products.readonly",
  full: [
    // Oldest first, so that new products are added at the end. No operation lists taxes, so products are read with theirs.
    byOffset(
      get("/products/", {
        locationId: location,
        expand: "tax",
        sortOrder: "asc",
        limit: size,
        offset: cursorOr(0)
      }),
      { records: "products", total: "total.0.total" }
    )
  ],
  getOne: { request: get("/products/{productId}", { locationId: location }), record: "" },
  fields: {
    _id: id("Product id"),
    name: text("Name"),
    productType: enumeration(["DIGITAL", "PHYSICAL", "SERVICE", "PHYSICAL/DIGITAL"]),
    description: text("Description, as HTML or text", { personal: "content" }),
    availableInStore: boolean("Sold in the online store"),
    image: text("Main picture, as a link", { role: "file", personal: "none" }),
    statementDescriptor: text("How a purchase is called on a bank statement"),
    slug: text("Name in the product's web address"),
    seo: object({ title: text("Title for search engines"), description: text("Description for search engines") }),
    isTaxesEnabled: boolean("Taxed"),
    taxInclusive: boolean("Prices include the tax"),
    automaticTaxCategoryId: identifier("Category for automatic taxes"),
    isLabelEnabled: boolean("Shown with its label"),
    label: object({
      title: text("Label shown with the product"),
      startDate: instant("When the label appears"),
      endDate: instant("When the label disappears")
    }),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    variants: rows(
      "product_variants",
      "Ways in which each product varies, for example its size.",
      {
        id: id("Variant id"),
        _id: alias("id"),
        name: text("What varies"),
        options: rows(
          "product_variant_options",
          "What each variant can be, for example small or large.",
          { id: id("Option id"), _id: alias("id"), name: text("Name") },
          ["id"]
        )
      },
      ["id"]
    ),
    medias: rows(
      "product_media",
      "Pictures and videos of each product.",
      {
        id: id("Picture or video id"),
        url: text("Link to it", { role: "file", personal: "none" }),
        type: enumeration(["image", "video"]),
        title: text("Title"),
        isFeatured: boolean("Shown first"),
        priceIds: values(
          "product_media_prices",
          "Prices that each picture or video belongs to.",
          "price_id",
          ref("prices", "The price")
        )
      },
      ["id"]
    ),
    collectionIds: values(
      "product_collections",
      "Collections each product is in.",
      "collection_id",
      ref("collections", "The collection")
    ),
    taxes: rows(
      "product_taxes",
      "Taxes on each product.",
      {
        _id: id("Tax id"),
        name: text("Name of the tax"),
        rate: decimal("Rate, per cent"),
        calculation: openEnum("Whether prices include it: `inclusive` or `exclusive`"),
        altId: ref("locations", "The location", { column: "location_id" }),
        altType: ignored
      },
      ["id"],
      { plain: "_id" }
    )
  }
})

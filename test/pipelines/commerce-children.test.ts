/** The rows of the child tables of the commerce families, compared with the shapes of the documents. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Account, openAccount, usualScale } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { type Row, families, idOf, list, wellFormed } from "./records.ts"

const words = (value: unknown) => (value ?? []) as ReadonlyArray<string>

/** The rows of a child table that a record of a collection produces. */
const children: ReadonlyArray<
  readonly [table: string, collection: string, rowsOf: (record: Row) => ReadonlyArray<Row>]
> = [
  [
    "email_campaign_variations",
    "email_campaigns",
    ({ id, variations }) =>
      list(variations).map(({ sourceId, isWinner }) => ({
        email_campaign_id: id,
        source_id: sourceId,
        is_winner: isWinner
      }))
  ],
  [
    "product_variants",
    "products",
    ({ _id, variants }) => list(variants).map(({ id, name }) => ({ product_id: _id, id, name }))
  ],
  [
    "product_variant_options",
    "products",
    ({ _id, variants }) =>
      list(variants).flatMap(({ id: variant, options }) =>
        list(options).map(({ id, name }) => ({ product_id: _id, product_variant_id: variant, id, name }))
      )
  ],
  [
    "product_collections",
    "products",
    ({ _id, collectionIds }) => words(collectionIds).map((id) => ({ product_id: _id, collection_id: id }))
  ],
  ["product_taxes", "products", ({ _id, taxes }) => words(taxes).map((id) => ({ product_id: _id, id }))],
  [
    "price_variant_options",
    "prices",
    ({ _id, variantOptionIds }) => words(variantOptionIds).map((id) => ({ price_id: _id, variant_option_id: id }))
  ],
  [
    "price_membership_offers",
    "prices",
    ({ _id, membershipOffers }) =>
      list(membershipOffers).map(({ _id: id, label, value }, position) => ({
        price_id: _id,
        position,
        id,
        label,
        value
      }))
  ],
  [
    "funnel_steps",
    "funnels",
    ({ id, steps }) =>
      list(steps).map(({ id: step, name, url, type, sequence, pages }) => ({
        funnel_id: id,
        id: step,
        name,
        url,
        type,
        sequence,
        pages: JSON.stringify(pages)
      }))
  ],
  [
    "social_post_tags",
    "social_posts",
    ({ id, tags }) => words(tags).map((tag) => ({ social_post_id: id, tag_id: tag }))
  ],
  [
    "invoice_recipients",
    "invoices",
    ({ _id, sentTo }) => {
      const { email, phoneNo } = (sentTo ?? {}) as Row
      const to = (kind: string, addresses: unknown) =>
        words(addresses).map((address) => ({ invoice_id: _id, kind, address }))
      return [...to("email", email), ...to("phone", phoneNo)]
    }
  ],
  ["estimate_template_items", "estimate_templates", ({ _id, items }) => lines({ estimate_template_id: _id }, items)],
  ["invoice_items", "invoices", ({ _id, invoiceItems }) => lines({ invoice_id: _id }, invoiceItems)],
  ["estimate_items", "estimates", ({ _id, items }) => lines({ estimate_id: _id }, items)],
  [
    "fulfillment_items",
    "order_fulfillments",
    ({ _id, items }) =>
      list(items).map(({ _id: id, name, product, price, qty }) => ({
        order_fulfillment_id: _id,
        id,
        name,
        product_id: (product as Row)["_id"],
        product_name: (product as Row)["name"],
        product: JSON.stringify(product),
        price_id: (price as Row)["_id"],
        unit_amount: (price as Row)["amount"],
        currency: (price as Row)["currency"],
        price: JSON.stringify(price),
        qty
      }))
  ],
  [
    "order_items",
    "orders",
    ({ _id, items }) =>
      list(items).map(({ _id: id, name, product, price, qty }, position) => ({
        order_id: _id,
        position,
        id,
        name,
        product_id: (product as Row)["_id"],
        product_name: (product as Row)["name"],
        price_id: (price as Row)["_id"],
        unit_amount: (price as Row)["amount"],
        currency: (price as Row)["currency"],
        qty,
        line_amount: Number((Number(qty) * Number((price as Row)["amount"])).toFixed(2))
      }))
  ],
  [
    "fulfillment_trackings",
    "order_fulfillments",
    ({ _id, trackings }) =>
      list(trackings).map(({ trackingNumber, shippingCarrier, trackingUrl }, position) => ({
        order_fulfillment_id: _id,
        position,
        tracking_number: trackingNumber,
        shipping_carrier: shippingCarrier,
        tracking_url: trackingUrl
      }))
  ],
  [
    "coupon_products",
    "coupons",
    ({ _id, productIds }) => words(productIds).map((id) => ({ coupon_id: _id, product_id: id }))
  ],
  ["coupon_prices", "coupons", ({ _id, priceIds }) => words(priceIds).map((id) => ({ coupon_id: _id, price_id: id }))],
  [
    "coupon_variants",
    "coupons",
    ({ _id, variantIds }) => words(variantIds).map((id) => ({ coupon_id: _id, variant_id: id }))
  ],
  [
    "social_post_accounts",
    "social_posts",
    ({ id, accountIds }) => words(accountIds).map((account) => ({ social_post_id: id, account_id: account }))
  ],
  [
    "social_post_media",
    "social_posts",
    ({ id, media }) => list(media).map(({ url, type }, position) => ({ social_post_id: id, position, url, type }))
  ],
  [
    "blog_post_categories",
    "blog_posts",
    ({ _id, categories }) => words(categories).map((id) => ({ blog_post_id: _id, category_id: id }))
  ],
  ["blog_post_tags", "blog_posts", ({ _id, tags }) => words(tags).map((tag) => ({ blog_post_id: _id, tag }))],
  [
    "survey_submission_answers",
    "survey_submissions",
    ({ id, others }) =>
      Object.entries(others as Row)
        .filter(([field]) => field !== "eventData" && field !== "fieldsOriSequance")
        .map(([field, value]) => ({ survey_submission_id: id, field, value: JSON.stringify(value) }))
  ]
]
const lines = (parent: Row, items: unknown) =>
  list(items).map(({ _id: id, name, productId, priceId, type, currency, amount, qty, taxes }, position) => ({
    ...parent,
    position,
    id,
    name,
    product_id: productId,
    price_id: priceId,
    type,
    currency,
    amount,
    qty,
    taxes: taxes && JSON.stringify(taxes)
  }))

describe("child tables of the commerce of an account with invalid data", () => {
  let account: Account
  beforeAll(async () => {
    account = await openAccount("--world", "nasty", ...usualScale)
    const ran = await account.sync("--only", families)
    assert.strictEqual(ran.code, 0, ran.stderr)
  })
  afterAll(() => account.service.stop())

  it.each(children)("%s has exactly the rows of its parent's records", async (table, parent, rowsOf) => {
    const deletedParents = `(SELECT id FROM crm.${parent} WHERE _deleted_at IS NOT NULL)`
    const deleted = new Set((await query(account.warehouse, deletedParents)).map(idOf))
    const records = (await account.service.records(parent)).filter((record) => !deleted.has(idOf(record)))
    const expected = records.flatMap((record) => rowsOf(wellFormed(record)))
    assert.isNotEmpty(expected)
    const columns = [...new Set(expected.flatMap((row) => Object.keys(row)))]
    const rows = await query(
      account.warehouse,
      `SELECT ${columns.map((column) => `"${column}"`).join(", ")} FROM crm.${table} WHERE ${columns[0]!} NOT IN ${deletedParents}`
    )
    const asText = (row: Row) => JSON.stringify(columns.map((column) => plain(row[column])))
    assert.deepStrictEqual(rows.map(asText).sort(), expected.map(asText).sort())
  })

  it("the line amounts of an order add up to its subtotal", async () => {
    const rows = await query(
      account.warehouse,
      `SELECT o.id, o.subtotal, sum(i.line_amount) AS lines FROM crm.orders AS o
       JOIN crm.order_items AS i ON i.order_id = o.id AND i.currency = o.currency GROUP BY ALL`
    )
    assert.isNotEmpty(rows)
    assert.deepStrictEqual(
      rows.filter(({ subtotal, lines }) => subtotal !== lines),
      []
    )
  })
})

/** Numbers by their value, and missing values as null. */
const plain = (value: unknown) =>
  value === undefined || value === null
    ? null
    : /^-?\d{1,12}(\.\d+)?$/.test(String(value))
      ? Number(value)
      : String(value)

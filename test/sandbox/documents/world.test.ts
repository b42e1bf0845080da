import { assert, describe, it } from "vitest"
import { type Client, ids, type Json, sandbox } from "../client.ts"

const now = Date.UTC(2026, 5, 1)
const plain = await sandbox({ contacts: 1500, now })

const names = (
  "email_templates email_template_folders email_campaigns products prices inventory collections invoices " +
  "invoice_settings invoice_templates estimates estimate_templates orders order_fulfillments order_notes transactions " +
  "subscriptions coupons social_accounts social_posts social_categories social_tags blogs blog_posts blog_authors " +
  "blog_categories funnels funnel_pages redirects forms submissions surveys survey_submissions"
).split(" ")

/** Every optional field of B 2, by collection. */
const optional: Record<string, string> = {
  email_templates: "parentFolderId fromName fromEmail subject previewText",
  email_campaigns: "name source sourceId campaignType campaignCategory variations replyToAddress previewText",
  products: "variants image statementDescriptor collectionIds isTaxesEnabled taxes automaticTaxCategoryId label slug",
  prices:
    "recurring compareAtPrice trackInventory availableQuantity allowOutOfStockPurchases membershipOffers variantOptionIds userId",
  inventory: "availableQuantity sku allowOutOfStockPurchases",
  collections: "image",
  invoices: "title dueDate termsNotes lateFeesConfiguration invoiceNumberPrefix",
  estimates: "traceId expiryDate estimateNumberPrefix",
  orders: "coupon trackingId",
  transactions:
    "contactName contactEmail subscriptionId chargeId chargeSnapshot ipAddress createdBy invoiceId receiptId " +
    "contactSnapshot markAsTest isParent traceId paymentMethod fulfilledAt",
  subscriptions:
    "entityType entityId entitySourceId entitySourceMeta subscriptionId subscriptionSnapshot schedule canceledAt " +
    "paymentProviderConnectedAccount ipAddress createdBy coupon recurringProduct autoPayment meta markAsTest traceId",
  coupons: "endDate usageLimit limitPerCustomer applyToFuturePaymentsConfig productIds priceIds variantIds",
  social_accounts: "avatar",
  social_posts: "summary media scheduleDate userId",
  blog_posts: "tags publishedAt",
  blog_authors: "canonicalLink",
  blog_categories: "canonicalLink",
  submissions: "contactId",
  survey_submissions: "contactId"
}

describe("the seeded records of document 2", () => {
  it("are available as NDJSON by collection, and no other data is", async () => {
    for (const name of names) assert.isNotEmpty(await plain.records(name), name)
    for (const name of ["pricedProducts", "commerce", "context"]) {
      assert.equal((await plain.get(`/__sandbox/records/${name}`)).status, 404, name)
    }
  })

  it("have every optional field in some records but not in all", async () => {
    for (const [collection, fields] of Object.entries(optional)) {
      const rows = await plain.records(collection)
      for (const field of fields.split(" ")) {
        const having = rows.filter((row) => row[field] !== undefined).length
        assert.isTrue(having > 0 && having < rows.length, `${collection} ${field}: ${having} of ${rows.length}`)
      }
    }
  })

  it("have every documented status, and an undocumented one", async () => {
    const known: Array<[string, string, string]> = [
      ["email_campaigns", "status", "draft scheduled processing sent paused cancelled failed archived"],
      ["invoices", "status", "draft sent payment_processing paid void partially_paid"],
      ["estimates", "estimateStatus", "draft sent accepted declined invoiced viewed"],
      ["blog_posts", "status", "DRAFT PUBLISHED SCHEDULED ARCHIVED"],
      ["products", "productType", "DIGITAL PHYSICAL SERVICE PHYSICAL/DIGITAL"]
    ]
    let unknown = 0
    for (const [collection, field, values] of known) {
      const seen = new Set((await plain.records(collection)).map((row) => row[field] as string))
      for (const value of values.split(" ")) assert.isTrue(seen.has(value), `${collection} ${value}`)
      unknown += [...seen].filter((value) => !values.split(" ").includes(value)).length
    }
    assert.isAbove(unknown, 0)
  })

  it("have ties, cents, line breaks and formulas", async () => {
    const text = JSON.stringify(await Promise.all(names.map((name) => plain.records(name))))
    for (const part of ["\\n", '"=', "é", "🌿", "ü", '\\"']) assert.include(text, part)
    for (const name of ["invoices", "transactions", "survey_submissions"]) {
      const dates = (await plain.records(name)).map((row) => row["createdAt"])
      assert.isBelow(new Set(dates).size, dates.length, name)
      assert.isAtMost(Math.max(...dates.map(Date.parse)), now)
    }
    const amounts = (await plain.records("transactions")).map((row) => row["amount"] as number)
    assert.isTrue(amounts.every((amount) => Math.abs(Math.round(amount * 100) - amount * 100) < 1e-6))
    assert.isTrue(amounts.some((amount) => !Number.isInteger(amount)))
  })

  it("refer to records that exist", async () => {
    const known = async (name: string) => new Set(ids(await plain.records(name)))
    const contacts = await known("contacts")
    for (const name of ["invoices", "transactions", "subscriptions"]) {
      for (const row of await plain.records(name)) assert.isTrue(contacts.has(row["contactId"]), name)
    }
    const products = await known("products")
    for (const row of await plain.records("prices")) assert.isTrue(products.has(row["product"]))
    for (const row of await plain.records("invoices")) {
      for (const { productId } of row["invoiceItems"]) assert.isTrue(productId === undefined || products.has(productId))
    }
    const prices = await known("prices")
    for (const row of await plain.records("orders")) {
      for (const { price, product } of row["items"]) assert.isTrue(prices.has(price._id) && products.has(product._id))
    }
    const [authors, categories] = [await known("blog_authors"), await known("blog_categories")]
    for (const row of await plain.records("blog_posts")) {
      assert.isTrue(authors.has(row["author"]) && row["categories"].every((id: string) => categories.has(id)))
    }
  })

  it("have scheduled records in the future only", async () => {
    const posts = (await plain.records("social_posts")).filter((row) => row["status"] === "scheduled")
    const articles = (await plain.records("blog_posts")).filter((row) => row["status"] === "SCHEDULED")
    const dates = [...posts.map((row) => row["scheduleDate"]), ...articles.map((row) => row["publishedAt"])]
    assert.isTrue(posts.length > 0 && articles.length > 0)
    for (const date of dates) assert.isAbove(Date.parse(date), now)
  })

  it("increase with the number of contacts", async () => {
    const [smaller, none] = [await sandbox({ contacts: 100 }), await sandbox({ contacts: 0 })]
    for (const name of ["invoices", "transactions", "survey_submissions", "estimates", "subscriptions"]) {
      assert.isAbove((await plain.records(name)).length, 5 * (await smaller.records(name)).length, name)
      assert.isEmpty(await none.records(name), name)
    }
  })

  it("do not depend on the requests before, and differ for another seed", async () => {
    const text = async (client: Client, name: string) => JSON.stringify(await client.records(name))
    const options = { contacts: 1500, now }
    const [late, other] = [await sandbox(options), await sandbox({ ...options, seed: 2 })]
    const [product] = await late.records("products")
    await late.send("DELETE", `/products/${product!["_id"]}?locationId=${late.locationId}`)
    await late.send("DELETE", `/contacts/${(await late.records("contacts"))[0]!["id"]}`)
    for (const name of ["invoices", "transactions", "coupons", "estimates", "orders", "blog_posts", "funnel_pages"]) {
      assert.equal(await text(late, name), await text(plain, name), name)
      assert.notEqual(await text(other, name), await text(plain, name), name)
    }
  })

  it("can include invalid records", async () => {
    const client = await sandbox({ contacts: 50 })
    const { body } = await client.post("/__sandbox/poison", { collection: "coupons", count: 2 })
    assert.equal(body["poisoned"], 2)
    const { data } = (await client.get(`/payments/coupon/list?altId=${client.locationId}&altType=location`)).body
    assert.equal(data.filter((row: Json) => row["_id"] === null).length, 2)
  })

  it("change by the given shares", async () => {
    const client = await sandbox({ contacts: 300 })
    const by = async (name: string) =>
      new Map((await client.records(name)).map((row) => [row["_id"] ?? row["id"], row]))
    const before = { invoices: await by("invoices"), products: await by("products"), orders: await by("orders") }
    const surveys = (await client.records("survey_submissions")).length
    const { body } = await client.post("/__sandbox/change", { invoices: 0.1, products: 0.1, orders: 0.1, delete: 0.05 })
    for (const [name, old] of Object.entries(before)) {
      const rows = [...(await by(name))]
      const changed = rows.filter(([id, row]) => old.has(id) && row["updatedAt"] !== old.get(id)!["updatedAt"])
      const counted = body[name === "orders" ? "ordersChanged" : name] as number
      assert.isTrue(changed.length > 0 && changed.length <= counted, name)
    }
    const invoices = await by("invoices")
    const added = [...invoices.keys()].filter((id) => !before.invoices.has(id)).length
    assert.isAtLeast(added, body["invoicesAdded"] - body["invoicesDeleted"])
    assert.equal(new Set([...invoices.values()].map((row) => row["invoiceNumber"])).size, invoices.size)
    assert.equal(invoices.size, before.invoices.size + body["invoicesAdded"] - body["invoicesDeleted"])
    assert.equal((await client.records("survey_submissions")).length, surveys + body["surveySubmissionsAdded"])
    const nothing = { contacts: 0, opportunities: 0, conversations: 0, messages: 0, orders: 0, submissions: 0 }
    const { body: counts } = await client.post("/__sandbox/change", nothing)
    assert.isTrue(Object.values(counts).every((count) => count === 0))
  })
})

describe("the malformed records of document 2", async () => {
  const nasty = await sandbox({ contacts: 1500, now, world: "nasty" })
  const kinds = (rows: Array<Json>, name: string) => new Set(rows.map((row) => typeof row[name]))

  it("have amounts, flags and instants in different types", async () => {
    const [invoices, transactions] = [await nasty.records("invoices"), await nasty.records("transactions")]
    for (const [rows, name] of [
      [invoices, "total"],
      [transactions, "amount"]
    ] as const) {
      assert.isTrue(kinds(rows, name).has("string") && kinds(rows, name).has("number"), name)
    }
    assert.isTrue(transactions.some((row) => row["liveMode"] === "true"))
    assert.isTrue(kinds(transactions, "createdAt").has("number"))
    const products = await nasty.records("products")
    assert.isTrue(products.some((row) => row["availableInStore"] === "false"))
  })

  it("are listed with records without an id and stale copies, and lists and changes work", async () => {
    for (const name of ["invoices", "transactions", "products", "survey_submissions", "social_posts"]) {
      const invalidItems = await nasty.records(name, "?strays=1")
      const key = name.startsWith("s") ? "id" : "_id"
      assert.isTrue(
        invalidItems.some((row) => row[key] === null) && invalidItems.some((row) => row[key] === undefined),
        name
      )
      assert.isTrue(
        invalidItems.some((row) => typeof row[key] === "string"),
        name
      )
    }
    const alt = `altId=${nasty.locationId}&altType=location`
    const invoices = await nasty.records("invoices")
    const { body } = await nasty.get(`/invoices/?${alt}&limit=100&offset=0`)
    assert.equal(body["total"], invoices.length + (await nasty.records("invoices", "?strays=1")).length)
    assert.equal((await nasty.post("/__sandbox/change", { orders: 0.2, delete: 0.1 })).status, 200)
    const [product] = await nasty.records("products")
    assert.equal(
      (await nasty.send("DELETE", `/products/${product!["_id"]}?locationId=${nasty.locationId}`)).status,
      200
    )
  })
})

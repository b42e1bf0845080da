import { assert, describe, it } from "vitest"
import { documentRecordShapes } from "../../../sandbox/description/document-records.ts"
import type { Field, Shape } from "../../../sandbox/http/shape.ts"
import { type Json, sandbox } from "../client.ts"

const s = await sandbox({ contacts: 1000 })

const records: Record<string, string> = {
  email_templates: "EmailTemplate",
  email_template_folders: "EmailTemplateFolder",
  email_campaigns: "EmailCampaign",
  products: "Product",
  prices: "Price",
  inventory: "InventoryItem",
  collections: "ProductCollection",
  invoices: "Invoice",
  invoice_templates: "InvoiceTemplate",
  estimates: "Estimate",
  estimate_templates: "EstimateTemplate",
  orders: "Order",
  order_fulfillments: "Fulfillment",
  transactions: "Transaction",
  subscriptions: "Subscription",
  coupons: "Coupon",
  social_accounts: "SocialAccount",
  social_posts: "SocialPost",
  social_categories: "SocialCategory",
  social_tags: "SocialTag",
  blogs: "Blog",
  blog_posts: "BlogPost",
  blog_authors: "BlogAuthor",
  blog_categories: "BlogCategory",
  funnels: "Funnel",
  funnel_pages: "FunnelPage",
  redirects: "Redirect",
  forms: "Form",
  surveys: "Survey",
  submissions: "FormSubmission",
  survey_submissions: "SurveySubmission"
}

/** Undocumented fields that are sent intentionally, because a client must accept them. */
const unknown =
  "blog_posts.readTimeInMinutes collections.createdAt email_templates.aiScore funnels.category funnels.parentId " +
  "funnels.type funnels.updatedAt products.storeRank social_posts.createdAt social_posts.updatedAt submissions.email " +
  "survey_submissions.email transactions.mergedFromContactId"

const recordsOf = async (collection: string, query = ""): Promise<Array<Json>> => {
  const rows = await s.records(collection, query)
  assert.isNotEmpty(rows, collection)
  return rows
}

const fits = (field: Field, value: unknown): boolean => {
  switch (field.type) {
    case "any":
      return true
    case "array":
      return Array.isArray(value) && value.every((item) => fits(field.items!, item))
    case "object":
      return typeof value === "object" && value !== null && wrong(field.fields ?? {}, value as Json).length === 0
    case "integer":
      return Number.isInteger(value)
    default:
      return typeof value === field.type
  }
}

const wrong = (shape: Shape, row: Json): Array<string> =>
  Object.entries(shape).flatMap(([name, field]) => (row[name] === undefined || fits(field, row[name]) ? [] : [name]))

describe("the description of the records of document 2", () => {
  it("fits every record", async () => {
    for (const [collection, name] of Object.entries(records)) {
      for (const row of await recordsOf(collection)) {
        assert.deepEqual(wrong(documentRecordShapes[name]!, row), [], `${collection} ${JSON.stringify(row)}`)
      }
    }
  })

  it("fits the records of lists with another shape", async () => {
    const lists = { invoices: "InvoiceListItem", orders: "OrderListItem", transactions: "TransactionListItem" }
    for (const [collection, name] of Object.entries({ ...lists, subscriptions: "SubscriptionListItem" })) {
      for (const row of await recordsOf(collection, "?form=list")) {
        const shape = documentRecordShapes[name]!
        assert.deepEqual(wrong(shape, row), [], `${collection} ${JSON.stringify(row)}`)
      }
    }
  })

  it("has every field except for the intentionally undocumented ones", async () => {
    const extra = new Set<string>()
    for (const [collection, name] of Object.entries(records)) {
      for (const row of await recordsOf(collection)) {
        for (const field of Object.keys(row))
          if (!(field in documentRecordShapes[name]!)) extra.add(`${collection}.${field}`)
      }
    }
    assert.deepEqual([...extra].sort(), unknown.split(" "))
  })
})

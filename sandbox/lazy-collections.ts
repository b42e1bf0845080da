import type { Collection, Entry } from "./account/collection.ts"
import type { PricedProduct } from "./families/payments/seeded-orders.ts"
import type { AccountContext } from "./account/context.ts"
import { createAuthors, createBlogCategories, createBlogPosts, createBlogs } from "./families/blogs/seeded-blogs.ts"
import { createFunnelPages, createFunnels, createRedirects } from "./families/funnels/seeded-funnels.ts"
import { createEmailCampaigns, createEmailTemplates } from "./families/emails/seeded-emails.ts"
import {
  createDocumentTemplates,
  createEstimates,
  createInvoices,
  createInvoiceSettings
} from "./families/invoices/seeded-invoices.ts"
import { createCoupons, createFulfillments, createOrderNotes } from "./families/payments/seeded-payments.ts"
import {
  pricedProductsOf,
  createPrices,
  createProductCollections,
  createProducts
} from "./families/products/seeded-products.ts"
import { placeLinks } from "./files/places.ts"
import { Owners, rowsOf, streams } from "./account/seeded.ts"
import {
  createSocialAccounts,
  createSocialCategories,
  createSocialPosts,
  createSocialTags
} from "./families/social/seeded-social.ts"
import { createSubscriptions, type Purchases } from "./families/payments/seeded-subscriptions.ts"
import { createSurveys, createSurveySubmissions } from "./families/forms/seeded-surveys.ts"
import { createTransactions } from "./families/payments/seeded-transactions.ts"

/**
 * The collections that are created on first use, from the initial contacts and orders, so that a benchmark that does not
 * read them does not pay for them.
 */
export class LazyCollections {
  readonly #context: AccountContext
  readonly #owners: Owners
  readonly #orders: Collection
  readonly #seededOrders: ReadonlyArray<Entry>
  #pricedProducts: ReadonlyArray<PricedProduct> | undefined

  constructor(context: AccountContext, contacts: Collection, orders: Collection) {
    this.#context = context
    this.#owners = new Owners(context, contacts)
    this.#orders = orders
    this.#seededOrders = [...orders.live()]
  }

  get emailTemplates(): Collection {
    return this.#once("emailTemplates", () => createEmailTemplates(this.#context, this.#owners))
  }

  get emailCampaigns(): Collection {
    return this.#once("emailCampaigns", () => createEmailCampaigns(this.#context, this.#owners))
  }

  get products(): Collection {
    return this.#once("products", () => createProducts(this.#context, this.#owners, this.collections))
  }

  get collections(): Collection {
    return this.#once("collections", () => createProductCollections(this.#context))
  }

  get prices(): Collection {
    return this.#once("prices", () => createPrices(this.#context, this.products))
  }

  /** Every price of every product, with its product. */
  get pricedProducts(): ReadonlyArray<PricedProduct> {
    return (this.#pricedProducts ??= pricedProductsOf(this.products, this.prices))
  }

  get invoices(): Collection {
    return this.#once("invoices", () => createInvoices(this.#context, this.#owners, this.products))
  }

  get invoiceSettings(): Collection {
    return this.#once("invoiceSettings", () => createInvoiceSettings(this.#context))
  }

  get invoiceTemplates(): Collection {
    const { invoiceTemplate } = streams
    return this.#once("invoiceTemplates", () => createDocumentTemplates(this.#context, invoiceTemplate, this.products))
  }

  get estimates(): Collection {
    return this.#once("estimates", () => createEstimates(this.#context, this.#owners, this.products))
  }

  get estimateTemplates(): Collection {
    const { estimateTemplate } = streams
    return this.#once("estimateTemplates", () =>
      createDocumentTemplates(this.#context, estimateTemplate, this.products)
    )
  }

  get orderFulfillments(): Collection {
    return this.#once("orderFulfillments", () => createFulfillments(this.#context, this.#orders, this.#seededOrders))
  }

  get orderNotes(): Collection {
    return this.#once("orderNotes", () => createOrderNotes(this.#context, this.#seededOrders))
  }

  get transactions(): Collection {
    const sources = {
      purchases: this.#purchases,
      orders: this.#orders,
      invoices: this.invoices,
      subscriptions: this.subscriptions
    }
    return this.#once("transactions", () => createTransactions(this.#context, this.#owners, sources))
  }

  get #purchases(): Purchases {
    return { order: this.#seededOrders, invoice: rowsOf(this.invoices) }
  }

  get subscriptions(): Collection {
    return this.#once("subscriptions", () => createSubscriptions(this.#context, this.#owners, this.#purchases))
  }

  get coupons(): Collection {
    return this.#once("coupons", () => createCoupons(this.#context, this.#owners, this))
  }

  get socialAccounts(): Collection {
    return this.#once("socialAccounts", () => createSocialAccounts(this.#context))
  }

  get socialPosts(): Collection {
    return this.#once("socialPosts", () => createSocialPosts(this.#context, this.#owners, this.socialAccounts))
  }

  get socialCategories(): Collection {
    return this.#once("socialCategories", () => createSocialCategories(this.#context))
  }

  get socialTags(): Collection {
    return this.#once("socialTags", () => createSocialTags(this.#context, this.#owners))
  }

  get blogs(): Collection {
    return this.#once("blogs", () => createBlogs(this.#context))
  }

  get blogAuthors(): Collection {
    return this.#once("blogAuthors", () => createAuthors(this.#context))
  }

  get blogCategories(): Collection {
    return this.#once("blogCategories", () => createBlogCategories(this.#context))
  }

  get blogPosts(): Collection {
    const parts = { authors: this.blogAuthors, blogs: this.blogs, categories: this.blogCategories }
    return this.#once("blogPosts", () => createBlogPosts(this.#context, this.#owners, parts))
  }

  get funnels(): Collection {
    return this.#once("funnels", () => createFunnels(this.#context, this.#owners))
  }

  get funnelPages(): Collection {
    return this.#once("funnelPages", () => createFunnelPages(this.#context, this.funnels))
  }

  get redirects(): Collection {
    return this.#once("redirects", () => createRedirects(this.#context))
  }

  get surveys(): Collection {
    return this.#once("surveys", () => createSurveys(this.#context))
  }

  get surveySubmissions(): Collection {
    return this.#once("surveySubmissions", () => createSurveySubmissions(this.#context, this.#owners, this.surveys))
  }

  /** Creates a collection, and replaces its getter with it. */
  #once(name: string, make: () => Collection): Collection {
    const made = placeLinks(name, make(), this.#context)
    Object.defineProperty(this, name, { value: made })
    return made
  }
}

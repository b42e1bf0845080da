import type { Collection, Entry } from "../../world/collection.ts"
import type { Good } from "../../world/orders.ts"
import type { Setting } from "../../world/setting.ts"
import {
  createAuthors,
  createBlogCategories,
  createBlogPosts,
  createBlogs,
  createFunnelPages,
  createFunnels,
  createRedirects
} from "./content.ts"
import { createEmailCampaigns, createEmailTemplates } from "./emails.ts"
import { createDocumentTemplates, createEstimates, createInvoices, createInvoiceSettings } from "./invoices.ts"
import { createCoupons, createFulfillments, createOrderNotes } from "./payments.ts"
import { goodsOf, createPrices, createProductCollections, createProducts } from "./products.ts"
import { Owners, rowsOf, streams } from "./seeded.ts"
import { createSocialAccounts, createSocialCategories, createSocialPosts, createSocialTags } from "./social.ts"
import { createSubscriptions, type Sold } from "./subscriptions.ts"
import { createSurveys, createSurveySubmissions } from "./surveys.ts"
import { createTransactions } from "./transactions.ts"

/**
 * What the account holds of document 2 besides orders, forms and form submissions. A collection is made when it is
 * first asked for, from the contacts and orders there were at the start: a bench that asks for none pays for none.
 */
export class Commerce {
  readonly #setting: Setting
  readonly #owners: Owners
  readonly #orders: Collection
  readonly #seededOrders: ReadonlyArray<Entry>
  #goods: ReadonlyArray<Good> | undefined

  constructor(setting: Setting, contacts: Collection, orders: Collection) {
    this.#setting = setting
    this.#owners = new Owners(setting, contacts)
    this.#orders = orders
    this.#seededOrders = [...orders.live()]
  }

  get emailTemplates(): Collection {
    return this.#once("emailTemplates", () => createEmailTemplates(this.#setting, this.#owners))
  }

  get emailCampaigns(): Collection {
    return this.#once("emailCampaigns", () => createEmailCampaigns(this.#setting, this.#owners))
  }

  get products(): Collection {
    return this.#once("products", () => createProducts(this.#setting, this.#owners, this.collections))
  }

  get collections(): Collection {
    return this.#once("collections", () => createProductCollections(this.#setting))
  }

  get prices(): Collection {
    return this.#once("prices", () => createPrices(this.#setting, this.products))
  }

  /** What can be bought: every price of every product. */
  get goods(): ReadonlyArray<Good> {
    return (this.#goods ??= goodsOf(this.products, this.prices))
  }

  get invoices(): Collection {
    return this.#once("invoices", () => createInvoices(this.#setting, this.#owners, this.products))
  }

  get invoiceSettings(): Collection {
    return this.#once("invoiceSettings", () => createInvoiceSettings(this.#setting))
  }

  get invoiceTemplates(): Collection {
    const { invoiceTemplate } = streams
    return this.#once("invoiceTemplates", () => createDocumentTemplates(this.#setting, invoiceTemplate, this.products))
  }

  get estimates(): Collection {
    return this.#once("estimates", () => createEstimates(this.#setting, this.#owners, this.products))
  }

  get estimateTemplates(): Collection {
    const { estimateTemplate } = streams
    return this.#once("estimateTemplates", () =>
      createDocumentTemplates(this.#setting, estimateTemplate, this.products)
    )
  }

  get orderFulfillments(): Collection {
    return this.#once("orderFulfillments", () => createFulfillments(this.#setting, this.#orders, this.#seededOrders))
  }

  get orderNotes(): Collection {
    return this.#once("orderNotes", () => createOrderNotes(this.#setting, this.#seededOrders))
  }

  get transactions(): Collection {
    const sources = {
      sold: this.#sold,
      orders: this.#orders,
      invoices: this.invoices,
      subscriptions: this.subscriptions
    }
    return this.#once("transactions", () => createTransactions(this.#setting, this.#owners, sources))
  }

  get #sold(): Sold {
    return { order: this.#seededOrders, invoice: rowsOf(this.invoices) }
  }

  get subscriptions(): Collection {
    return this.#once("subscriptions", () => createSubscriptions(this.#setting, this.#owners, this.#sold))
  }

  get coupons(): Collection {
    return this.#once("coupons", () => createCoupons(this.#setting, this.#owners, this))
  }

  get socialAccounts(): Collection {
    return this.#once("socialAccounts", () => createSocialAccounts(this.#setting))
  }

  get socialPosts(): Collection {
    return this.#once("socialPosts", () => createSocialPosts(this.#setting, this.#owners, this.socialAccounts))
  }

  get socialCategories(): Collection {
    return this.#once("socialCategories", () => createSocialCategories(this.#setting))
  }

  get socialTags(): Collection {
    return this.#once("socialTags", () => createSocialTags(this.#setting, this.#owners))
  }

  get blogs(): Collection {
    return this.#once("blogs", () => createBlogs(this.#setting))
  }

  get blogAuthors(): Collection {
    return this.#once("blogAuthors", () => createAuthors(this.#setting))
  }

  get blogCategories(): Collection {
    return this.#once("blogCategories", () => createBlogCategories(this.#setting))
  }

  get blogPosts(): Collection {
    const parts = { authors: this.blogAuthors, blogs: this.blogs, categories: this.blogCategories }
    return this.#once("blogPosts", () => createBlogPosts(this.#setting, this.#owners, parts))
  }

  get funnels(): Collection {
    return this.#once("funnels", () => createFunnels(this.#setting, this.#owners))
  }

  get funnelPages(): Collection {
    return this.#once("funnelPages", () => createFunnelPages(this.#setting, this.funnels))
  }

  get redirects(): Collection {
    return this.#once("redirects", () => createRedirects(this.#setting))
  }

  get surveys(): Collection {
    return this.#once("surveys", () => createSurveys(this.#setting))
  }

  get surveySubmissions(): Collection {
    return this.#once("surveySubmissions", () => createSurveySubmissions(this.#setting, this.#owners, this.surveys))
  }

  /** A collection takes the place of its getter once it is made. */
  #once(name: string, make: () => Collection): Collection {
    const made = make()
    Object.defineProperty(this, name, { value: made })
    return made
  }
}

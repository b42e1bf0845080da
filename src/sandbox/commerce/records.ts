import { extend } from "../pages.ts"
import type { Service } from "../route.ts"
import type { Collection, Entry } from "../world/collection.ts"
import { editorContentUrl } from "./email-content.ts"
import type { Commerce } from "./world/commerce.ts"
import { emailKind } from "./world/emails.ts"
import { inventoryItem } from "./world/products.ts"

type Shown = Pick<Collection, "live" | "strays" | "full" | "list">

/** The collections of document 2 by their names below `/__sandbox/records/`; some are views of another. */
export const commerceRecords = (name: string, service: Service): Shown | undefined => {
  const { commerce } = service.world
  const { emailCampaigns, emailTemplates, prices, products } = commerce
  switch (name) {
    case "email_templates":
      return withContentUrl(ofKind(emailTemplates, emailKind.template), "template", service)
    case "email_template_folders":
      return ofKind(emailTemplates, emailKind.folder)
    case "email_campaigns":
      return withContentUrl(emailCampaigns, "campaign", service)
    case "inventory":
      return reshaped(prices, (row) => {
        const price = prices.data(row)
        const product = products.get(String(price["product"]))
        return JSON.stringify(inventoryItem(price, product && products.data(product)))
      })
    default:
      return commerceCollection(name, service)
  }
}

/** The collection behind one of those names, for what adds to it. */
export const commerceCollection = (name: string, { world }: Service): Collection | undefined => {
  if (name === "email_templates" || name === "email_template_folders") return world.commerce.emailTemplates
  if (name === "email_campaigns") return world.commerce.emailCampaigns
  return name in names ? world.commerce[names[name]!] : undefined
}

const names: Readonly<Record<string, Exclude<keyof Commerce, "goods">>> = Object.fromEntries(
  (
    "products prices collections invoices invoiceSettings estimates estimateTemplates invoiceTemplates " +
    "orderFulfillments orderNotes transactions subscriptions coupons socialAccounts socialPosts socialCategories " +
    "socialTags blogs blogPosts blogAuthors blogCategories funnels funnelPages redirects surveys surveySubmissions"
  )
    .split(" ")
    .map((name) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      name as Exclude<keyof Commerce, "goods">
    ])
)

const ofKind = (collection: Collection, kind: number): Shown => ({
  live: () => collection.live().filter((row) => row.kind === kind),
  strays: () => collection.strays().filter((row) => row.kind === kind),
  full: (row) => collection.full(row),
  list: (row) => collection.list(row)
})

const reshaped = (collection: Shown, full: (row: Entry) => string): Shown => ({
  live: () => collection.live(),
  strays: () => collection.strays(),
  full,
  list: (row) => collection.list(row)
})

const withContentUrl = (collection: Shown, kind: "template" | "campaign", service: Service): Shown =>
  reshaped(collection, (row) => {
    return extend(collection.full(row), { editorContentUrl: editorContentUrl(service, kind, row.id!) })
  })

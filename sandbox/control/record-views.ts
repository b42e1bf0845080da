import type { Collection, Entry } from "../account/collection.ts"
import { editorContentUrl } from "../families/emails/content.ts"
import { emailKind } from "../families/emails/seeded-emails.ts"
import { inventoryItem } from "../families/products/seeded-products.ts"
import { extend } from "../http/pages.ts"
import type { Service } from "../service.ts"

type View = Pick<Collection, "live" | "orphans" | "full" | "list">

/** The names under `/__sandbox/records/` that stand for a part of a collection, or for its records in another form. */
export const viewOf = (name: string, service: Service): View | undefined => {
  const { emailCampaigns, emailTemplates, prices, products } = service.world
  switch (name) {
    case "emailTemplates":
      return withContentUrl(ofKind(emailTemplates, emailKind.template), "template", service)
    case "emailTemplateFolders":
      return ofKind(emailTemplates, emailKind.folder)
    case "emailCampaigns":
      return withContentUrl(emailCampaigns, "campaign", service)
    case "inventory":
      return reshaped(prices, (row) => {
        const price = prices.data(row)
        const product = products.get(String(price["product"]))
        return JSON.stringify(inventoryItem(price, product && products.data(product)))
      })
    default:
      return undefined
  }
}

const ofKind = (collection: Collection, kind: number): View => ({
  live: () => collection.live().filter((row) => row.kind === kind),
  orphans: () => collection.orphans().filter((row) => row.kind === kind),
  full: (row) => collection.full(row),
  list: (row) => collection.list(row)
})

const reshaped = (collection: View, full: (row: Entry) => string): View => ({
  live: () => collection.live(),
  orphans: () => collection.orphans(),
  full,
  list: (row) => collection.list(row)
})

const withContentUrl = (collection: View, kind: "template" | "campaign", service: Service): View =>
  reshaped(collection, (row) => {
    return extend(collection.full(row), { editorContentUrl: editorContentUrl(service, kind, row.id!) })
  })

/** Undocumented fields of the records of document 2 that the live service was observed to send; see undocumented.ts. */
import { iso } from "../account/clock.ts"
import type { Data } from "../account/collection.ts"
import { Random } from "../account/random.ts"
import type { AccountContext } from "../account/context.ts"
import { type Draw, cents, streams } from "../account/seeded.ts"

const drawOf = (context: AccountContext, stream: number, index: number) =>
  new Random(context.seed, stream + 8000, index)

/** The sum of the lines and the discount of an invoice. */
export const undocumentedOfInvoice = (items: ReadonlyArray<Data>, total: number): Data => {
  const subTotal = cents(items.reduce((sum, { amount, qty }) => sum + Number(amount) * Number(qty), 0))
  return { totalSummary: { subTotal, discount: cents(subTotal - total), tax: 0 } }
}

export const undocumentedOfLine = (random: Random): Data => ({
  priceId: random.chance(0.5) ? random.hexId(0) : undefined,
  type: random.chance(0.5) ? random.pick(["one_time", "recurring"]) : undefined,
  taxes: random.chance(0.2) ? [{ _id: random.hexId(0), name: "TVA", rate: 20, calculation: "exclusive" }] : undefined
})

/** Lists contain a few deleted estimates. */
export const undocumentedOfEstimate = (context: AccountContext, index: number, total: number): Data => {
  const random = drawOf(context, streams.estimate, index)
  return {
    title: random.chance(0.6) ? "ESTIMATE" : undefined,
    totalamountInUSD: total,
    deleted: random.chance(0.1)
  }
}

export const undocumentedOfPost = (context: AccountContext, { entry, index }: Draw, status: string): Data => {
  const random = drawOf(context, streams.post, index)
  return {
    platform: random.pick(["facebook", "instagram", "linkedin"]),
    postId: status === "published" ? random.id() : undefined,
    displayDate: iso(entry.created),
    publishedAt: status === "published" ? iso(entry.updated) : undefined,
    error: status === "failed" ? "The session has expired" : undefined,
    insights: status === "published" ? { likes: random.int(90), impressions: random.int(4000) } : undefined,
    source: random.pick(["composer", "csv"]),
    tags: random.chance(0.3) ? [random.id()] : undefined,
    createdBy: context.userIds[0]
  }
}

export const undocumentedOfLabel = (context: AccountContext, { entry }: Draw): Data => ({
  primaryColor: "#2a9d8f",
  secondaryColor: "#ffffff",
  createdBy: context.userIds[0],
  createdAt: iso(entry.created),
  updatedAt: iso(entry.updated)
})

export const undocumentedOfFunnel = (context: AccountContext, { entry, index }: Draw): Data => {
  const random = drawOf(context, streams.funnel, index)
  return {
    url: `/start-${index}`,
    domainId: random.chance(0.5) ? random.id() : undefined,
    isStoreActive: random.chance(0.1),
    dateAdded: iso(entry.created),
    steps: Array.from({ length: index % 4 }, (_, sequence) => ({
      id: random.id(),
      name: ["Opt-in", "Offer", "Thank you"][sequence],
      url: `/step-${sequence}`,
      type: "optin_funnel_page",
      sequence,
      pages: [random.id()]
    }))
  }
}

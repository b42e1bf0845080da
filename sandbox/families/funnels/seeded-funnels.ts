import { iso } from "../../account/clock.ts"
import type { Collection, Data } from "../../account/collection.ts"
import type { AccountContext } from "../../account/context.ts"
import { projects } from "../../account/names.ts"
import { type Draw, type Owners, rowsOf, seeded, streams } from "../../account/seeded.ts"
import { undocumentedOfFunnel } from "../undocumented-documents.ts"

/** Funnels, their pages, and redirects (B 2.7). */
export const createFunnels = (context: AccountContext, owners: Owners): Collection =>
  seeded(context, {
    stream: streams.funnel,
    count: owners.share(0.01, 27),
    ids: "plain",
    build: (draw) => ({
      ...funnel(context, draw),
      ...undocumentedOfFunnel(context, draw)
    })
  })

const funnel = (context: AccountContext, { entry, id, index, random }: Draw): Data => ({
  id,
  name: `${random.pick(projects)} ${random.pick(["landing", "– Angebot", "quiz"])} ${index}`,
  locationId: context.locationId,
  type: random.pick(["funnel", "website"]),
  ...(random.chance(0.5) && { category: random.pick(["lead", "sales"]) }),
  ...(random.chance(0.2) && { parentId: "root" }),
  updatedAt: iso(entry.updated)
})

export const createFunnelPages = (context: AccountContext, funnels: Collection): Collection => {
  const funnelIds = rowsOf(funnels).flatMap(({ id }, index) => Array.from({ length: index % 7 }, () => id!))
  return seeded(context, {
    stream: streams.page,
    count: funnelIds.length,
    parent: (index) => funnelIds[index]!,
    build: ({ entry, id, index, random }) => ({
      _id: id,
      locationId: context.locationId,
      funnelId: funnelIds[index],
      name: random.pick(["Opt-in", "Thank you", "Order form", "Merci 🎉", "=Upsell"]),
      stepId: random.id(),
      deleted: random.chance(0.1),
      updatedAt: iso(entry.updated)
    }),
    malform: { instants: "updatedAt", flags: "deleted", texts: "name" }
  })
}

export const createRedirects = (context: AccountContext): Collection =>
  seeded(context, {
    stream: streams.redirect,
    count: 24,
    ids: "plain",
    build: ({ id, index, random }) => {
      const path = random.pick([`/Old-Page-${index}`, `/promo/été-${index}`, `/r${index}?a=b`])
      return {
        id,
        locationId: context.locationId,
        domain: random.pick(["harborandpine.example", "garden.harborandpine.example"]),
        path,
        pathLowercase: path.toLowerCase(),
        type: random.chance(0.9) ? "Permanent" : "temporary_302",
        target: random.chance(0.5) ? `https://harborandpine.example/${index}` : random.id(),
        action: random.pick(["funnel", "website", "url", "all"])
      }
    }
  })

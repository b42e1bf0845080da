import { iso } from "../../clock.ts"
import { type Collection, type Data, without } from "../../world/collection.ts"
import { firstNames, lastNames, projects } from "../../world/names.ts"
import type { Setting } from "../../world/setting.ts"
import { messageText } from "../../world/texts.ts"
import { slugOf } from "./products.ts"
import { type Draw, type Owners, later, rowsOf, seeded, streams } from "./seeded.ts"
import { undocumentedOfFunnel } from "./undocumented.ts"

/** Blog sites, authors, categories and posts (B 2.6). */
export const createBlogs = (setting: Setting): Collection =>
  seeded(setting, {
    stream: streams.blog,
    count: 3,
    ids: "plain",
    build: ({ id, index }) => ({ _id: id, name: ["Workshop notes", "Jardin & terrasse", "Old blog (2019)"][index] })
  })

export const createAuthors = (setting: Setting): Collection =>
  seeded(setting, {
    stream: streams.author,
    count: 14,
    build: ({ entry, id, random }) => ({
      _id: id,
      name: `${random.pick(firstNames)} ${random.pick(lastNames)}`,
      locationId: setting.locationId,
      canonicalLink: random.chance(0.5) ? `https://harborandpine.example/author/${id}` : undefined,
      updatedAt: iso(entry.updated)
    })
  })

export const createBlogCategories = (setting: Setting): Collection =>
  seeded(setting, {
    stream: streams.blogCategory,
    count: 16,
    build: ({ entry, id, index }) => {
      const label = `${projects[index % projects.length]}${index < projects.length ? "" : " – mehr"}`
      return {
        _id: id,
        label,
        locationId: setting.locationId,
        urlSlug: slugOf(label, index),
        canonicalLink: index % 3 === 0 ? `https://harborandpine.example/blog/${slugOf(label, index)}` : undefined,
        updatedAt: iso(entry.updated)
      }
    }
  })

export const createBlogPosts = (
  setting: Setting,
  owners: Owners,
  { authors, blogs, categories }: Record<"authors" | "blogs" | "categories", Collection>
): Collection => {
  const [authorIds, blogIds, categoryIds] = [authors, blogs, categories].map((rows) =>
    rowsOf(rows).map(({ id }) => id!)
  )
  return seeded(setting, {
    stream: streams.blogPost,
    count: owners.share(0.04, 40),
    // The last site has no posts.
    parent: (index) => blogIds![index % 4 === 0 ? 1 : 0]!,
    full: shownPost,
    build: ({ entry, id, index, random }): Data => {
      const title = `${random.pick(projects)}: ${random.pick(["5 mistakes", "avant / après", 'what "low-VOC" means'])}`
      const status = random.chance(0.01) ? "IN_REVIEW" : random.pick([...blogStatuses, "PUBLISHED", "PUBLISHED"])
      return {
        _id: id,
        title,
        description: messageText(random),
        status,
        urlSlug: slugOf(title, index),
        author: random.pick(authorIds!),
        categories: random.some(categoryIds!, 3, 0.6),
        tags: random.chance(0.6) ? random.some(["deck", "garden", "été", "tips, tricks"], 3, 0.6) : undefined,
        archived: status === "ARCHIVED",
        publishedAt:
          status === "SCHEDULED" ? iso(later(setting, random)) : random.chance(0.9) ? iso(entry.created) : undefined,
        rawHTML: `<h1>${title}</h1>`,
        wordCount: random.between(200, 2000),
        readTimeInMinutes: random.chance(0.1) ? random.between(1, 9) : undefined,
        updatedAt: iso(entry.updated)
      }
    },
    spoil: { instants: "publishedAt updatedAt", flags: "archived", texts: "title description status" },
    strays: true
  })
}

const shownPost = without("rawHTML", "imageUrl", "imageAltText", "wordCount")

export const blogStatuses = ["DRAFT", "PUBLISHED", "SCHEDULED", "ARCHIVED"]

/** Funnels, their pages, and redirects (B 2.7). */
export const createFunnels = (setting: Setting, owners: Owners): Collection =>
  seeded(setting, {
    stream: streams.funnel,
    count: owners.share(0.01, 27),
    ids: "plain",
    build: (draw) => ({
      ...funnel(setting, draw),
      ...undocumentedOfFunnel(setting, draw)
    })
  })

const funnel = (setting: Setting, { entry, id, index, random }: Draw): Data => ({
  id,
  name: `${random.pick(projects)} ${random.pick(["landing", "– Angebot", "quiz"])} ${index}`,
  locationId: setting.locationId,
  type: random.pick(["funnel", "website"]),
  ...(random.chance(0.5) && { category: random.pick(["lead", "sales"]) }),
  ...(random.chance(0.2) && { parentId: "root" }),
  updatedAt: iso(entry.updated)
})

export const createFunnelPages = (setting: Setting, funnels: Collection): Collection => {
  const funnelIds = rowsOf(funnels).flatMap(({ id }, index) => Array.from({ length: index % 7 }, () => id!))
  return seeded(setting, {
    stream: streams.page,
    count: funnelIds.length,
    parent: (index) => funnelIds[index]!,
    build: ({ entry, id, index, random }) => ({
      _id: id,
      locationId: setting.locationId,
      funnelId: funnelIds[index],
      name: random.pick(["Opt-in", "Thank you", "Order form", "Merci 🎉", "=Upsell"]),
      stepId: random.id(),
      deleted: random.chance(0.1),
      updatedAt: iso(entry.updated)
    }),
    spoil: { instants: "updatedAt", flags: "deleted", texts: "name" }
  })
}

export const createRedirects = (setting: Setting): Collection =>
  seeded(setting, {
    stream: streams.redirect,
    count: 24,
    ids: "plain",
    build: ({ id, index, random }) => {
      const path = random.pick([`/Old-Page-${index}`, `/promo/été-${index}`, `/r${index}?a=b`])
      return {
        id,
        locationId: setting.locationId,
        domain: random.pick(["harborandpine.example", "garden.harborandpine.example"]),
        path,
        pathLowercase: path.toLowerCase(),
        type: random.chance(0.9) ? "Permanent" : "temporary_302",
        target: random.chance(0.5) ? `https://harborandpine.example/${index}` : random.id(),
        action: random.pick(["funnel", "website", "url", "all"])
      }
    }
  })

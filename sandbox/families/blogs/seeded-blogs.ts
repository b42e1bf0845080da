import { iso } from "../../account/clock.ts"
import { type Collection, type Data, without } from "../../account/collection.ts"
import { firstNames, lastNames, projects } from "../../account/names.ts"
import type { AccountContext } from "../../account/context.ts"
import { messageText } from "../../account/texts.ts"
import { slugOf } from "../products/seeded-products.ts"
import { type Owners, later, rowsOf, seeded, streams } from "../../account/seeded.ts"

/** Blog sites, authors, categories and posts (B 2.6). */
export const createBlogs = (context: AccountContext): Collection =>
  seeded(context, {
    stream: streams.blog,
    count: 3,
    ids: "plain",
    build: ({ id, index }) => ({ _id: id, name: ["Workshop notes", "Jardin & terrasse", "Old blog (2019)"][index] })
  })

export const createAuthors = (context: AccountContext): Collection =>
  seeded(context, {
    stream: streams.author,
    count: 14,
    build: ({ entry, id, random }) => ({
      _id: id,
      name: `${random.pick(firstNames)} ${random.pick(lastNames)}`,
      locationId: context.locationId,
      canonicalLink: random.chance(0.5) ? `https://harborandpine.example/author/${id}` : undefined,
      updatedAt: iso(entry.updated)
    })
  })

export const createBlogCategories = (context: AccountContext): Collection =>
  seeded(context, {
    stream: streams.blogCategory,
    count: 16,
    build: ({ entry, id, index }) => {
      const label = `${projects[index % projects.length]}${index < projects.length ? "" : " – mehr"}`
      return {
        _id: id,
        label,
        locationId: context.locationId,
        urlSlug: slugOf(label, index),
        canonicalLink: index % 3 === 0 ? `https://harborandpine.example/blog/${slugOf(label, index)}` : undefined,
        updatedAt: iso(entry.updated)
      }
    }
  })

export const createBlogPosts = (
  context: AccountContext,
  owners: Owners,
  { authors, blogs, categories }: Record<"authors" | "blogs" | "categories", Collection>
): Collection => {
  const [authorIds, blogIds, categoryIds] = [authors, blogs, categories].map((rows) =>
    rowsOf(rows).map(({ id }) => id!)
  )
  return seeded(context, {
    stream: streams.blogPost,
    count: owners.share(0.04, 40),
    // The last site has no posts.
    parent: (index) => blogIds![index % 4 === 0 ? 1 : 0]!,
    full: context.settings.files ? shownPostWithImage : shownPost,
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
          status === "SCHEDULED" ? iso(later(context, random)) : random.chance(0.9) ? iso(entry.created) : undefined,
        rawHTML: `<h1>${title}</h1>`,
        wordCount: random.between(200, 2000),
        readTimeInMinutes: random.chance(0.1) ? random.between(1, 9) : undefined,
        updatedAt: iso(entry.updated)
      }
    },
    malform: { instants: "publishedAt updatedAt", flags: "archived", texts: "title description status" },
    orphans: true
  })
}

const shownPost = without("rawHTML", "imageUrl", "imageAltText", "wordCount")
const shownPostWithImage = without("rawHTML", "wordCount")

export const blogStatuses = ["DRAFT", "PUBLISHED", "SCHEDULED", "ARCHIVED"]

import { iso } from "../../account/clock.ts"
import type { Collection, Data } from "../../account/collection.ts"
import { projects } from "../../account/names.ts"
import type { AccountContext } from "../../account/context.ts"
import { messageText } from "../../account/texts.ts"
import { type Draw, type Owners, later, rowsOf, seeded, streams } from "../../account/seeded.ts"
import { undocumentedOfLabel, undocumentedOfPost } from "../undocumented-documents.ts"

/** Connected accounts, posts, categories and tags (B 2.5). */
export const createSocialAccounts = (context: AccountContext): Collection =>
  seeded(context, {
    stream: streams.account,
    count: platforms.length + 2,
    ids: "plain",
    build: ({ id, index, random }) => ({
      id,
      platform: platforms[index] ?? random.pick(["facebook", "skylark"]),
      name: random.pick(["Harbor & Pine", "harborandpine", "Harbor & Pine – Garten 🌿"]),
      avatar: random.chance(0.8) ? `https://files.example/avatars/${id}.png` : undefined,
      isActive: index !== 3
    })
  })

const platforms = ["facebook", "instagram", "youtube", "tiktok", "linkedin", "pinterest", "gmb"]

export const createSocialPosts = (context: AccountContext, owners: Owners, accounts: Collection): Collection => {
  const rows = rowsOf(accounts)
  const targets = rows.map((row) => ({ id: row.id!, platform: accounts.shapes.build(row)["platform"] as string }))
  return seeded(context, {
    stream: streams.post,
    count: owners.share(0.08, 40),
    ids: "plain",
    build: (draw) => post(context, draw, targets),
    malform: { instants: "createdAt updatedAt scheduleDate", texts: "summary type status" },
    orphans: true
  })
}

interface Target {
  readonly id: string
  readonly platform: string
}

const post = (context: AccountContext, draw: Draw, targets: ReadonlyArray<Target>): Data => {
  const { entry, id, random } = draw
  const chosen = random.some(targets, 3, 0.6)
  const [first] = chosen.length > 0 ? chosen : [targets[0]!]
  const status = random.chance(0.02) ? "shadowed" : random.pick(postStatuses)
  return {
    id,
    accountIds: chosen.length > 0 ? chosen.map((target) => target.id) : [first!.id],
    type: random.pick(["post", "post", "story", "reel"]),
    summary: random.chance(0.9) ? `${random.pick(projects)} ✨\n\n${messageText(random)} #harborandpine` : undefined,
    media: random.chance(0.6)
      ? [{ url: `https://files.example/${id}.jpg`, type: random.pick(["image/jpeg", "video/mp4"]) }]
      : undefined,
    status,
    scheduleDate:
      status === "scheduled" ? iso(later(context, random)) : random.chance(0.6) ? iso(entry.created) : undefined,
    userId: random.chance(0.95) ? context.userIds[random.int(context.userIds.length)] : undefined,
    ...(random.chance(0.2) && { [`${first!.platform}PostDetails`]: { type: "post" } }),
    ...undocumentedOfPost(context, draw, status),
    createdAt: iso(entry.created),
    updatedAt: iso(entry.updated)
  }
}

const postStatuses = "scheduled published published draft failed in_review in_progress pending".split(" ")

export const createSocialCategories = (context: AccountContext): Collection =>
  seeded(context, {
    stream: streams.category,
    count: 12,
    ids: "plain",
    build: (draw) => ({
      id: draw.id,
      name: `${["Before & after", "Tips", "Équipe", "=Offers"][draw.index % 4]} ${draw.index}`,
      ...undocumentedOfLabel(context, draw)
    })
  })

export const createSocialTags = (context: AccountContext, owners: Owners): Collection =>
  seeded(context, {
    stream: streams.tag,
    count: owners.share(0.005, 25),
    ids: "plain",
    build: (draw) => ({
      id: draw.id,
      name: `${draw.random.pick(["deck", "grün", "kitchen", "#diy"])}-${draw.index}`,
      ...undocumentedOfLabel(context, draw)
    })
  })

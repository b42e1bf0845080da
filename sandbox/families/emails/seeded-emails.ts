import { iso } from "../../account/clock.ts"
import { type Collection, type Data, without } from "../../account/collection.ts"
import type { AccountContext } from "../../account/context.ts"
import { messageText } from "../../account/texts.ts"
import { type Draw, type Owners, rowsOf, seeded, streams } from "../../account/seeded.ts"

/** The kind of an entry: templates and their folders share a list. */
export const emailKind = { template: 0, folder: 1 } as const

const folders = 7

/** Email templates and their folders (B 2.1). The content is stored apart from the record, and read at its own address. */
export const createEmailTemplates = (context: AccountContext, owners: Owners): Collection => {
  const count = folders + owners.share(0.02, 45)
  const templates: Collection = seeded(context, {
    stream: streams.template,
    count,
    ids: "plain",
    kind: (index) => (index < folders ? emailKind.folder : emailKind.template),
    build: (draw) => (draw.index < folders ? folder(draw) : template(context, draw, folderIds)),
    malform: { instants: "createdAt updatedAt", flags: "isPlainText deleted", texts: "name subject previewText" },
    full: singleTemplate
  })
  const folderIds = rowsOf(templates)
    .slice(0, folders)
    .map((row) => row.id!)
  return templates
}

/** A single read omits `archived`, which responses to updates contain. */
const singleTemplate = without("archived", "content", "previewUrl")

const folder = ({ entry, id, index }: Draw): Data => ({
  id,
  name: ["Newsletters", "Estimates", "Seasonal – été", "Reviews", "Old", "Über uns", "Empty drawer"][index],
  createdAt: iso(entry.created),
  updatedAt: iso(entry.updated)
})

const template = (
  context: AccountContext,
  { entry, id, index, random }: Draw,
  folderIds: ReadonlyArray<string>
): Data => {
  const editorType = random.pick(["html", "builder", "text"])
  const name = random.pick(names)
  return {
    id,
    name: `${name} ${index}`,
    editorType,
    isPlainText: editorType === "text",
    // The last folder stays empty.
    parentFolderId: random.chance(0.5) ? random.pick(folderIds.slice(0, -1)) : undefined,
    fromName: random.chance(0.8) ? "Harbor & Pine" : undefined,
    fromEmail: random.chance(0.7) ? "office@harborandpine.example" : undefined,
    subject: random.chance(0.9) ? subjectOf(name, random.int(4)) : undefined,
    previewText: random.chance(0.4) ? messageText(random) : undefined,
    previewUrl: random.chance(0.8) ? `https://previews.example/${context.locationId}/${id}.png` : undefined,
    deleted: false,
    archived: random.chance(0.15),
    content: html(name, messageText(random)),
    aiScore: random.chance(0.05) ? random.int(100) : undefined,
    createdAt: iso(entry.created),
    updatedAt: iso(entry.updated)
  }
}

/** Email campaigns (B 2.1). */
export const createEmailCampaigns = (context: AccountContext, owners: Owners): Collection =>
  seeded(context, {
    stream: streams.campaign,
    count: owners.share(0.02, 30),
    build: (draw) => campaign(draw),
    ids: "plain",
    malform: { instants: "createdAt updatedAt", flags: "deleted", texts: "name status source" },
    full: without("content"),
    list: campaignItem
  })

const campaignItem = without(
  ..."editorType isPlainText fromName fromEmail subject replyToAddress previewText content".split(" ")
)

const campaign = ({ entry, id, index, random }: Draw): Data => {
  const name = random.pick(names)
  const isTest = random.chance(0.15)
  const editorType = random.pick(["html", "builder", "text"])
  return {
    id,
    name: random.chance(0.85) ? `${name} ${index}` : undefined,
    status: random.chance(0.02) ? "warming_up" : random.pick(campaignStatuses),
    source: random.chance(0.9) ? random.pick(["bulk_actions", "email_campaign"]) : undefined,
    sourceId: random.chance(0.9) ? random.id() : undefined,
    campaignType: random.chance(0.7) ? (isTest ? "ab_test" : "regular") : undefined,
    campaignCategory: random.chance(0.5) ? random.pick(["newsletter", "promotion"]) : undefined,
    variations: isTest ? [0, 1].map((place) => ({ sourceId: random.id(), isWinner: place === 1 })) : undefined,
    deleted: random.chance(0.04),
    editorType,
    isPlainText: editorType === "text",
    fromName: "Harbor & Pine",
    fromEmail: "office@harborandpine.example",
    subject: subjectOf(name, random.int(4)),
    replyToAddress: random.chance(0.4) ? "hello@harborandpine.example" : undefined,
    previewText: random.chance(0.5) ? messageText(random) : undefined,
    content: html(name, messageText(random)),
    createdAt: iso(entry.created),
    updatedAt: iso(entry.updated)
  }
}

export const campaignStatuses: ReadonlyArray<string> =
  "draft scheduled processing sent paused cancelled failed archived".split(" ")

export const html = (title: string, text: string): string =>
  `<!doctype html><html><head><title>${escaped(title)}</title></head><body><p>${escaped(text)}</p></body></html>`

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

const subjectOf = (name: string, choice: number): string =>
  [name, `{{contact.first_name}}, ${name.toLowerCase()} 🌿`, `=${name}`, `Re: ${name} – ½ price, "today" only`][choice]!

const names =
  "Spring clean-up|Deck season is here|Your estimate|Merci & à bientôt|Home show follow-up|Warranty, line by line".split(
    "|"
  )

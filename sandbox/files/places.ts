import type { Collection, Data, Entry } from "../account/collection.ts"
import type { AccountContext } from "../account/context.ts"
import { Random, streams } from "../account/random.ts"
import { fileAnswers, fileValues } from "./custom-files.ts"
import { type Drawing, draw, drawAll } from "./drawing.ts"
import { drawnTroubles } from "./troubles.ts"

/** What has links in the seeded records of a collection. */
type Place = (data: Data, drawing: Drawing, entry: Entry) => Data

/** Puts links to the file host into the seeded records of a collection, if the account has files. */
export const placeLinks = <T extends Collection>(name: string, collection: T, context: AccountContext): T => {
  const place = places[name]
  if (!context.settings.files || place === undefined) return collection
  collection.finish((data, entry) => {
    const at = `${name}/${entry.id ?? ""}`
    const random = new Random(context.seed, streams.file + 1000, hashOf(at))
    return { ...data, ...place(data, { context, at, random }, entry) }
  })
  return collection
}

const hashOf = (text: string): number => {
  let hash = 0
  for (let place = 0; place < text.length; place++) hash = (Math.imul(hash, 31) + text.charCodeAt(place)) | 0
  return hash
}

const image = { isImage: true }
const single = { isReadSingly: true }
const picture = { ...image, ...single }

const contact: Place = (data, drawing, { source }) => ({
  profilePhoto: drawing.random.chance(0.2) ? photoOf(drawing.context, data["id"]) : undefined,
  attachments: contactAttachments(drawing, typeof source === "number" ? source : -1),
  customFields: fileValues(data["customFields"], drawing, "value")
})

/** The photo of a contact, which its conversation shows too. */
const photoOf = (context: AccountContext, id: unknown): string =>
  draw({ context, at: `contacts/${String(id)}`, random: new Random(0, 0, 0) }, "profilePhoto", picture).url

/** The first contacts have one link with each trouble, and the very first has the largest file. */
const contactAttachments = (drawing: Drawing, index: number): ReadonlyArray<string> | undefined => {
  const { settings } = drawing.context
  const count = drawing.random.chance(0.15) ? drawing.random.pick([1, 1, 2, 3]) : 0
  const trouble = settings.fileTrouble > 0 ? drawnTroubles[index] : undefined
  const first = trouble === undefined ? [] : [draw(drawing, "attachments/trouble", { ...single, trouble }).url]
  const largest =
    index === 0 && settings.fileMb > 0 ? [draw(drawing, "attachments/largest", { isLargest: true }).url] : []
  const others = drawAll(drawing, "attachments", count, { ...single, mayBeDocument: true }).map(({ url }) => url)
  const all = [...first, ...largest, ...others]
  return all.length > 0 ? all : undefined
}

const message: Place = (data, drawing) => {
  const { context, random } = drawing
  // Calls and voicemail have no attachments (A 2.12).
  const isVoice = data["type"] === 1 || data["type"] === 10
  if (isVoice || !random.chance(context.settings.messagesWithFiles)) return { attachments: [] }
  return { attachments: urls(drawing, "attachments", random.chance(0.1) ? 2 : 1, single) }
}

const urls = (drawing: Drawing, at: string, count: number, wish = {}): ReadonlyArray<string> =>
  drawAll(drawing, at, count, wish).map(({ url }) => url)

/** As many links as the record has without files. */
const sameNumber = (sent: unknown, drawing: Drawing, at: string): ReadonlyArray<string> =>
  urls(drawing, at, Array.isArray(sent) ? sent.length : 0)

const savedTemplate: Place = (data, drawing) => {
  const template = data["template"] as Data
  const attachments = sameNumber(template["attachments"], drawing, "attachments")
  return {
    template: { ...template, attachments },
    ...("urlAttachments" in data && { urlAttachments: attachments })
  }
}

/** The shape of the files of invoices and estimates is not documented. */
const documentFiles =
  (share: number, wish = {}): Place =>
  (_, drawing) =>
    drawing.random.chance(share)
      ? {
          attachments: drawAll(drawing, "attachments", drawing.random.between(1, 2), wish).map(
            ({ id, name, size, type, url }) => ({ id, name, url, type, size })
          )
        }
      : {}

/** A link in place of one that the record has; a malformed value stays. */
const inPlace = (data: Data, drawing: Drawing, member: string, wish = {}): Data =>
  typeof data[member] === "string" && data[member].startsWith("https://")
    ? { [member]: draw(drawing, member, { ...image, ...wish }).url }
    : {}

const product: Place = (data, drawing) => ({
  ...inPlace(data, drawing, "image", single),
  medias: drawing.random.chance(0.4)
    ? drawAll(drawing, "medias", drawing.random.between(1, 3), picture).map(({ id, name, url }, place) => ({
        id,
        title: name,
        url,
        type: "image",
        isFeatured: place === 0
      }))
    : undefined
})

const socialPost: Place = (data, drawing) => {
  if (!Array.isArray(data["media"])) return {}
  const media = drawAll(drawing, "media", drawing.random.between(1, 2), picture)
  const previews = drawAll(drawing, "thumbnail", media.length, picture)
  const items = media.map(({ id, type, url }, place) => ({ url, type, id, thumbnail: previews[place]!.url }))
  return { media: items }
}

const submission: Place = (data, drawing) => ({ others: fileAnswers(data["others"] as Data, drawing) })

const location: Place = (data, drawing) => {
  const wish = { ...picture, locationId: String(data["id"]) }
  const logoUrl = draw(drawing, "logoUrl", wish).url
  return { logoUrl, business: { ...(data["business"] as Data), logoUrl } }
}

const places: Record<string, Place> = {
  contacts: contact,
  conversations: ({ contactId }, { context }) => {
    const random = new Random(context.seed, streams.file + 1000, hashOf(`contacts/${String(contactId)}`))
    return random.chance(0.2) ? { profilePhoto: photoOf(context, contactId) } : {}
  },
  messages: message,
  emails: (data, drawing) => ({ attachments: sameNumber(data["attachments"], drawing, "attachments") }),
  users: (_, drawing) => (drawing.random.chance(0.6) ? { profilePhoto: draw(drawing, "photo", picture).url } : {}),
  locations: location,
  templates: savedTemplate,
  customFields: ({ picklistImageOptions: options }, drawing) =>
    Array.isArray(options) ? { picklistImageOptions: urls(drawing, "options", options.length, picture) } : {},
  opportunities: (data, drawing) => ({ customFields: fileValues(data["customFields"], drawing, "fieldValue") }),
  submissions: submission,
  surveySubmissions: submission,
  products: product,
  collections: (data, drawing) => inPlace(data, drawing, "image"),
  invoices: documentFiles(0.25, single),
  estimates: documentFiles(0.25),
  invoiceTemplates: documentFiles(0.3),
  estimateTemplates: documentFiles(0.3),
  blogPosts: (_, drawing) =>
    drawing.random.chance(0.8)
      ? { imageUrl: draw(drawing, "imageUrl", image).url, imageAltText: "Photo of the deck" }
      : {},
  socialAccounts: (data, drawing) => inPlace(data, drawing, "avatar"),
  socialPosts: socialPost,
  emailTemplates: (data, drawing) => inPlace(data, drawing, "previewUrl")
}

/** The collections whose records have links. */
export const linkedCollections: ReadonlyArray<string> = Object.keys(places)

/**
 * Undocumented fields that the live service was observed to send. Each kind of record draws them from its own stream, so
 * that the documented fields stay the same.
 */
import { iso } from "./clock.ts"
import type { Data, Entry } from "./collection.ts"
import { Random, streams } from "./random.ts"
import type { AccountContext } from "./context.ts"

const dayMs = 86_400_000

const drawOf = (context: AccountContext, stream: number, index: number) =>
  new Random(context.seed, stream + 7000, index)
const userOf = ({ userIds }: AccountContext, random: Random) => (userIds.length > 0 ? random.pick(userIds) : undefined)

export const undocumentedOfContact = (context: AccountContext, entry: Entry): Data => {
  const random = drawOf(context, streams.contact, entry.source as number)
  return {
    profilePhoto: random.chance(0.05) ? `https://files.example/photos/${random.id()}.jpg` : undefined,
    isValidWhatsapp: random.chance(0.2) ? random.chance(0.7) : undefined,
    createdBy: random.chance(0.3)
      ? { source: "WEB_USER", channel: "APP", sourceId: userOf(context, random), timestamp: iso(entry.created) }
      : undefined,
    attributions: random.chance(0.2) ? visits(random, entry) : undefined
  }
}

const visits = (random: Random, { created }: Entry): ReadonlyArray<Data> => {
  const visit = (place: number): Data => ({
    utmSessionSource: random.pick(["Paid Search", "Social media", "Direct traffic", "Referral"]),
    medium: random.pick(["form", "chat_widget", "manual"]),
    ...(random.chance(0.5) && { utmCampaignId: String(random.between(100_000, 999_999)), utmAdId: random.id() }),
    adSource: random.chance(0.3) ? "adwords" : undefined,
    isFirst: place === 0,
    isLast: place === 1,
    dateAdded: iso(created + place * dayMs)
  })
  return random.chance(0.5) ? [visit(0), visit(1)] : [{ ...visit(0), isLast: true }]
}

export const undocumentedOfOpportunity = (context: AccountContext, entry: Entry, contactId: string | null): Data => {
  const random = drawOf(context, streams.opportunity, entry.source as number)
  const slips = random.chance(0.3) ? random.between(1, 4) : 0
  return {
    forecastOriginalCloseDate: slips > 0 ? iso(entry.created + 30 * dayMs).slice(0, 10) : undefined,
    forecastSlippageCount: slips,
    forecastDaysSlipped: slips * 7,
    forecastLastSlippedAt: slips > 0 ? iso(entry.updated) : undefined,
    externalObjectId: random.chance(0.1) ? random.id() : undefined,
    relations: random.chance(0.5)
      ? [{ objectKey: "contact", recordId: contactId, relationId: random.id(), primary: true }]
      : undefined,
    attributions: random.chance(0.2) ? visits(random, entry) : undefined
  }
}

export const undocumentedOfAppointment = (context: AccountContext, entry: Entry): Data => {
  const random = drawOf(context, streams.appointment, entry.source as number)
  return {
    users: random.some(context.userIds, 2, 0.5),
    address: random.chance(0.3) ? "12 Quarry Rd, Portland" : undefined,
    notes: random.chance(0.2) ? "Gate code 4711\nring twice" : undefined,
    createdBy: { userId: userOf(context, random), source: random.pick(["calendar_page", "app"]) }
  }
}

export const undocumentedOfCalendar = (context: AccountContext, index: number): Data => {
  const random = drawOf(context, streams.calendar, index)
  return {
    eventType: "RoundRobin_OptimizeForAvailability",
    slug: `calendar-${index}`,
    slotInterval: 30,
    slotIntervalUnit: "mins",
    slotBuffer: index,
    slotBufferUnit: "mins",
    autoConfirm: index !== 1,
    teamMembers: random
      .some(context.userIds, 3, 0.8)
      .map((userId, place) => ({ userId, priority: 0.5, isPrimary: place === 0 }))
  }
}

export const undocumentedOfUser = (context: AccountContext, index: number): Data => {
  const random = drawOf(context, streams.user, index)
  const added = context.begin + random.int(300) * dayMs
  return { dateAdded: iso(added), dateUpdated: iso(added + random.int(300) * dayMs), totpEnabled: random.chance(0.5) }
}

/** Lists contain a few deleted tasks. */
export const undocumentedOfTask = (context: AccountContext, index: number): Data => {
  const random = drawOf(context, streams.task, index)
  return {
    deleted: random.chance(0.02),
    relations: random.chance(0.2) ? [{ objectKey: "contact", recordId: random.id() }] : undefined
  }
}

export const undocumentedOfConversation = (context: AccountContext, index: number): Data => {
  const random = drawOf(context, streams.conversation, index)
  return {
    attributed: random.chance(0.5),
    lastInternalComment: random.chance(0.1) ? "He is on holiday until Monday" : undefined,
    tags: random.some(["spring promo", "commercial"], 2, 0.3),
    followers: random.some(context.userIds, 2, 0.3)
  }
}

export const undocumentedOfCustomField = (context: AccountContext, index: number): Data => ({
  documentType: "field",
  standard: index === 0,
  parentId: new Random(context.seed, streams.setup + 7000, index % 2).id(),
  dateAdded: iso(context.begin + index * dayMs)
})

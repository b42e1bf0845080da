import { iso } from "../../account/clock.ts"
import { Collection, type Data, type Entry, entry, without } from "../../account/collection.ts"
import { customValue } from "../../account/custom-fields.ts"
import { companies, places, sources, streets, tags } from "../../account/names.ts"
import { idBeside, malformContact, withMalformedValues } from "../../account/malformed.ts"
import { person } from "../../account/people.ts"
import { Random, streams } from "../../account/random.ts"
import { creationTime, type AccountContext } from "../../account/context.ts"
import { undocumentedOfContact } from "../../account/undocumented.ts"

export const createContacts = (context: AccountContext): Collection => {
  const contacts = new Collection({
    build: withMalformedValues(context, (entry) => contact(context, entry), malformContact),
    ...(context.settings.variants.contactShape === "reduced" && { list: reduced })
  })
  const { contacts: count } = context.settings
  let previous: string | null = null
  for (let index = 0; index < count; index++) {
    const random = new Random(context.seed, streams.contact, index)
    const created = creationTime(context, streams.contact, index, count)
    // A third of the contacts never changes; the others changed last at a random time, mostly soon after their creation.
    const updated = random.chance(0.34) ? created : created + Math.floor((context.end - created) * random.unit() ** 3)
    const id = idBeside(context, index, random.id(), previous)
    previous = contacts.add(entry({ id, created, updated, source: index })).id
  }
  return contacts
}

/** A contact (A 2.2). Every optional field is absent in some contacts. */
const contact = (context: AccountContext, entry: Entry): Data => {
  const index = entry.source as number
  const random = new Random(context.seed, streams.shape, index)
  const who = person(context.seed, index)
  const [city, state, postal, country, timezone] = random.pick(places)
  const isCompany = who.companyName !== undefined
  const { busyYear } = context.settings
  const isLocated = random.chance(0.7)
  const lastName = random.chance(0.97) ? who.lastName : undefined
  const email = random.chance(0.92) ? who.email : undefined
  return {
    id: entry.id,
    locationId: context.locationId,
    firstName: who.firstName,
    lastName,
    name: who.name,
    email,
    emailLowerCase: random.chance(0.92) ? email : undefined,
    phone: random.chance(0.85) ? who.phone : undefined,
    companyName: who.companyName,
    gender: random.chance(0.1) ? random.pick(["female", "male", "other"]) : undefined,
    address1: isLocated ? `${random.between(1, 2400)} ${random.pick(streets)}` : undefined,
    city: isLocated ? city : undefined,
    state: isLocated ? state : undefined,
    postalCode: isLocated ? `${postal}${random.chance(0.5) ? String(random.between(10, 99)) : " 2AB"}` : undefined,
    country,
    website: isCompany && random.chance(0.6) ? `https://${who.lastName.toLowerCase()}.example/` : undefined,
    timezone: random.chance(0.4) ? timezone : undefined,
    dateOfBirth: random.chance(0.25) ? birthday(random) : undefined,
    assignedTo: random.chance(0.6) && context.userIds.length > 0 ? random.pick(context.userIds) : undefined,
    source: random.chance(0.8) ? random.pick(busyYear ? sources.slice(0, 3) : sources) : undefined,
    type: random.chance(0.98) ? random.pick(["lead", "customer", "lead"]) : random.pick(["partner_2", "vendor"]),
    tags: pickTags(context, random),
    customFields: pickValues(context, random),
    dnd: random.chance(0.06),
    dndSettings: random.chance(0.1) ? dndSettings(random) : undefined,
    inboundDndSettings: random.chance(0.03) ? { all: { status: "active", message: "asked by phone" } } : undefined,
    businessId: isCompany && random.chance(0.5) ? random.id() : undefined,
    lastActivity: random.chance(0.5) ? iso(entry.updated) : undefined,
    attributionSource: random.chance(0.3) ? attribution(random, busyYear ? 1 : 4) : undefined,
    lastAttributionSource: random.chance(0.1) ? attribution(random, 4) : undefined,
    visitorId: random.chance(0.1) ? random.id() : undefined,
    // An undocumented field, which only a few records have.
    leadScoreBeta: random.chance(0.02) ? { value: random.int(100), model: "v0" } : undefined,
    ...undocumentedOfContact(context, entry),
    dateAdded: iso(entry.created),
    dateUpdated: iso(entry.updated)
  }
}

/** The summary of a contact in an opportunity (A 2.6), as of the time when the opportunity was written. */
export const contactSummary = (contact: Data): Data =>
  Object.fromEntries(["id", "name", "companyName", "email", "phone", "tags"].map((name) => [name, contact[name]]))

/** The reduced form that the live search was observed to return (field-notes 2). */
const reduced = (data: Data): Data => ({
  ...unreduced(data),
  address: data["address1"],
  businessName: data["companyName"],
  firstNameRaw: data["firstName"],
  lastNameRaw: data["lastName"],
  firstName: lower(data["firstName"]),
  lastName: lower(data["lastName"]),
  additionalEmails: [],
  additionalPhones: [],
  followers: []
})

const unreduced = without(
  "dndSettings",
  "inboundDndSettings",
  "attributionSource",
  "lastAttributionSource",
  "address1",
  "companyName"
)

const lower = (value: unknown): unknown => (typeof value === "string" ? value.toLowerCase() : value)

const birthday = (random: Random): string =>
  `${random.between(1938, 2006)}-${two(random.between(1, 12))}-${two(random.between(1, 28))}`

const two = (value: number): string => String(value).padStart(2, "0")

const pickTags = ({ settings }: AccountContext, random: Random): Array<string> =>
  settings.tags === undefined
    ? random.some(tags, 4, 0.4)
    : Array.from({ length: settings.tags }, (_, place) => tags[(place * 7 + random.int(7)) % tags.length]!)

const pickValues = ({ customFields, settings }: AccountContext, random: Random): Array<Data> => {
  const fields = customFields.filter((field) => field.model === "contact")
  const chosen =
    settings.customValues === undefined ? random.some(fields, 6, 0.25) : fields.slice(0, settings.customValues)
  return chosen.map((field) => ({ id: field.id, value: customValue(random, field) }))
}

const dndSettings = (random: Random): Data => {
  const channels = random.some(["call", "email", "sms", "whatsApp", "gmb", "fb"], 5, 0.7)
  const settings = channels.map((channel) => {
    const status = random.pick(["active", "inactive", "permanent"])
    return [channel, { status, message: status === "active" ? "STOP" : "", ...(random.chance(0.5) && { code: "103" }) }]
  })
  return Object.fromEntries(settings)
}

const attribution = (random: Random, sessions: number): Data => ({
  sessionSource: random.pick(["Paid Search", "Social media", "Direct traffic", "Referral"].slice(0, sessions)),
  medium: random.pick(["form", "chat_widget", "manual"]),
  url: "https://harborandpine.example/estimate?utm_source=spring",
  ...(random.chance(0.5) && { campaign: "spring", utmContent: "a=1&b=2" }),
  ...(random.chance(0.2) && { referrer: `https://${random.pick(companies)[0]}.example/` })
})

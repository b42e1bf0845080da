import { membersOf } from "#catalog/json.ts"
import { alias, openEnum, date, map, boolean, id, instant, json, object, enumeration, ref } from "#catalog/fields.ts"
import { rows, text, ignored, values, address, changed, companyName, created, customValue } from "#catalog/fields.ts"
import { email, identifier, personName, phone, place, postalCode, tag, trait } from "#catalog/fields.ts"
import { cursor, cursorOr, get, location, post, since, size, windowEnd, windowStart } from "#catalog/request.ts"
import type { Parameters } from "#catalog/request.ts"
import { type Paging, type Strategy, defineList } from "#catalog/resource.ts"
import { actor, attributions, visitOf } from "#catalog/shapes.ts"

type Dated = "dateAdded" | "dateUpdated"

const search = (parameters: Parameters, paging: Paging, more: Partial<Strategy> = {}): Strategy => ({
  request: post("/contacts/search", { locationId: location, pageLimit: size, ...parameters }),
  paging,
  records: "contacts",
  pageSize: 500,
  total: "total",
  ...more
})
/** The documents do not say how to request the next page. The service sends a cursor with each contact. */
const afterLast = (parameters: Parameters, more: Partial<Strategy> = {}) =>
  search({ ...parameters, searchAfter: cursor }, { kind: "lastRecord", field: "searchAfter" }, more)
/** Page numbers reach 10,000 contacts. */
const numbered = (parameters: Parameters, more: Partial<Strategy> = {}) =>
  search({ ...parameters, page: cursorOr(1) }, { kind: "pageNumber", first: 1 }, { maxRecords: 10_000, ...more })

const oldestFirst = (field: Dated) => ({ sort: [{ field, direction: "asc" }] })
const filtered = (field: Dated, value: Parameters) => ({ filters: [{ field, operator: "range", value }] })
const added = filtered("dateAdded", { gte: windowStart("iso"), lt: windowEnd("iso") })

const readSince = (verifyField: Dated): ReadonlyArray<Strategy> => {
  const sort = oldestFirst(verifyField)
  const after = (as: "iso" | "epochMs") => filtered(verifyField, { gte: since(as) })
  return [
    afterLast({ ...after("iso"), ...sort }, { verifyField }),
    afterLast({ ...after("epochMs"), ...sort }, { verifyField }),
    numbered(after("iso"), { verifyField })
  ]
}

const name = { personal: "direct" } as const
const quasiIdentifier = { personal: "quasi" } as const

export const contacts = defineList({
  table: "contacts",
  description: "People and companies the account talks to.",
  source: "A 2.2, A 4.2 POST /contacts/search",
  scope: "contacts.readonly",
  // The fallbacks are page numbers in time windows, time windows of a single page, and, if the service cannot filter by date
  // either, page numbers alone.
  full: [
    afterLast(oldestFirst("dateAdded")),
    afterLast({}),
    numbered(added, { verifyField: "dateAdded", windows: { from: "2000-01-01" } }),
    search(added, { kind: "once" }, { verifyField: "dateAdded", maxRecords: 500, windows: { from: "2000-01-01" } }),
    numbered({})
  ],
  // Deleted contacts are found by a full reading, which the service's total may make due.
  changes: {
    field: "dateUpdated",
    events: ["contact", "enrollment"],
    overlap: "15 minutes",
    fullEvery: "7 days",
    newest: afterLast(
      { sort: [{ field: "dateUpdated", direction: "desc" }] },
      { stopBefore: "dateUpdated", notSortedBy: "dateAdded", firstPageSize: 100 }
    ),
    strategies: readSince("dateUpdated"),
    added: readSince("dateAdded")
  },
  transform: (contact) => [asTyped(contact)],
  transformedBy: ["firstNameRaw", "lastNameRaw", "contactName"],
  backfill: {
    dateField: "dateAdded",
    strategies: [
      afterLast({ ...added, ...oldestFirst("dateAdded") }, { verifyField: "dateAdded" }),
      numbered(added, { verifyField: "dateAdded" })
    ]
  },
  wide: { table: "contact_custom_values", field: "custom_field_id", model: "contact", prefix: "cf_" },
  getOne: { request: get("/contacts/{contactId}"), record: "contact" },
  // In some accounts the search omits do-not-disturb settings and attribution, which the detail contains. There is no
  // version column: a changed row from the list removes the values of the detail, so every changed row needs it again.
  detail: { enabledBy: "contact_details", refreshAfter: "90 days", fields: {} },
  person: { contacts: ["id"] },
  fields: {
    id: id("Contact id, stable for life"),
    firstName: personName("First name"),
    firstNameRaw: alias("firstName"),
    lastName: personName("Last name"),
    lastNameRaw: alias("lastName"),
    name: personName("Full name"),
    contactName: alias("name"),
    companyName: companyName("Company the contact stands for"),
    email: email("Address, as typed"),
    emailLowerCase: email("Address in lower case, as the service compares it", { copyOf: "contacts.email" }),
    phone: phone("Phone, E.164"),
    type: openEnum("Stage of the relation: `lead`, `customer` or the account's own"),
    source: text("Where the contact came from"),
    assignedTo: text("Who looks after the contact", { references: "users" }),
    gender: text("Gender, as typed", { personal: "sensitive" }),
    dateOfBirth: date("Birthday", quasiIdentifier),
    ssn: text("Social security number", { personal: "sensitive" }),
    address1: address("Street and number"),
    address: alias("address1"),
    city: place("City"),
    state: place("State or region"),
    postalCode: postalCode("Postal code"),
    country: place("Country, ISO 3166-1 alpha-2"),
    website: trait("Web site"),
    timezone: place("IANA time zone"),
    dnd: boolean("Do not disturb, on every channel"),
    dateAdded: created("When the contact was made"),
    dateUpdated: changed("Last change of any field"),
    lastActivity: instant("Last thing that happened with the contact"),
    businessId: ref("businesses", "Company record the contact belongs to"),
    businessName: companyName("Name of that company record"),
    visitorId: identifier("Browser the contact came with", quasiIdentifier),
    validEmail: boolean("The address was checked and works"),
    phoneLabel: text("What kind of phone it is"),
    keyword: text("Search word the contact came by"),
    profilePhoto: text("Picture, as a link", { ...name, role: "file" }),
    isValidWhatsapp: boolean("The phone can be reached by the chat app"),
    createdBy: actor("created_by", "Who made the contact"),
    lastUpdatedBy: actor("last_updated_by", "Who changed the contact last"),
    firstNameLowerCase: ignored,
    lastNameLowerCase: ignored,
    fullNameLowerCase: ignored,
    companyNameLowerCase: ignored,
    opportunities: json("The contact's deals as the search shows them; see opportunities", {
      personal: "content",
      copyOf: "opportunities"
    }),
    attachments: json("Files of the contact, as sent", { role: "file" }),
    attributionSource: visitOf("attribution_source", "The first visit"),
    lastAttributionSource: visitOf("last_attribution_source", "The last visit"),
    attributions: attributions(
      "contact_attributions",
      "Visits of each contact that came through a campaign or a page."
    ),
    inboundDndSettings: object({
      all: object({
        status: enumeration(["active", "inactive"], "Whether the contact opted out"),
        message: text("Why", { personal: "content" })
      })
    }),
    searchAfter: ignored,
    additionalEmails: rows(
      "contact_emails",
      "Further addresses of each contact.",
      { email: email("Address"), validEmail: boolean("The address was checked and works") },
      ["email"],
      { plain: "email" }
    ),
    additionalPhones: rows(
      "contact_phones",
      "Further phones of each contact.",
      { phone: phone("Phone, E.164"), phoneLabel: text("What kind of phone it is") },
      ["phone"],
      { plain: "phone" }
    ),
    followers: values("contact_followers", "Users who follow each contact.", "user_id", ref("users", "The user")),
    tags: values("contact_tags", "Tags of each contact.", "tag", tag("The tag")),
    customFields: rows(
      "contact_custom_values",
      "Filled custom fields of each contact.",
      {
        id: ref("custom_fields", "The custom field", { column: "custom_field_id" }),
        key: text("Key of the field, where sent"),
        value: customValue("The value as sent"),
        "fieldValue*": alias("value"),
        field_value: alias("value")
      },
      ["custom_field_id"]
    ),
    dndSettings: map(
      "contact_dnd_settings",
      "Do-not-disturb of each contact and channel: it holds unless the status is `inactive`.",
      { name: "channel", field: text("Channel, as the service spells it") },
      {
        status: enumeration(["active", "inactive", "permanent"]),
        message: text("Why", { personal: "content" }),
        code: text("Reason code")
      }
    )
  }
})

/**
 * In some accounts the search returns names in lower case, with the original spelling in `firstNameRaw` and `lastNameRaw`,
 * which replaces them, or the full name alone in lower case. It has no such field, so its spelling is taken from its parts.
 */
function asTyped(contact: unknown): unknown {
  if (typeof contact !== "object" || contact === null) return contact
  const sent = membersOf(contact)
  const typed = ["firstName", "lastName"].filter((field) => sent[`${field}Raw`])
  const isSame = (one: unknown, other: unknown) => String(one).toLowerCase() === String(other).toLowerCase()
  const parts = typed.filter((field) => isSame(sent[field], sent[`${field}Raw`]))
  const spelt = typed.length > 0 ? typed.map((field) => `${field}Raw`) : ["firstName", "lastName"]
  const name = spelt.flatMap((field) => sent[field] || []).join(" ")
  const full = ["name", "contactName"].filter(
    (field) => isSame(sent[field], name) && (typed.length > 0 || sent[field] === name.toLowerCase())
  )
  if (parts.length + full.length === 0) return contact
  return {
    ...sent,
    ...Object.fromEntries(parts.map((field) => [field, sent[`${field}Raw`]])),
    ...Object.fromEntries(full.map((field) => [field, name]))
  }
}

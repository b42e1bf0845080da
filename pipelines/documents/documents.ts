import { membersOf } from "#catalog/json.ts"
import {
  alias,
  boolean,
  changed,
  count,
  created,
  decimal,
  email,
  enumeration,
  id,
  identifier,
  instant,
  json,
  object,
  openEnum,
  personName,
  phone,
  place,
  ref,
  rows,
  secret,
  text,
  trait
} from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

const direct = { personal: "direct" } as const

export const documents = defineList({
  table: "documents",
  description: "Proposals and contracts: who has to sign them, and who did. The API does not show their text.",
  source: "C 11.1 GET /proposals/document",
  scope: "any",
  unproven: true,
  full: [
    byOffset(get("/proposals/document", { locationId: location, limit: size, skip: cursorOr(0) }), {
      records: "documents",
      beside: { whiteLabelBaseUrl: "any", whiteLabelBaseUrlForInvoice: "any" },
      pageSize: 100,
      total: "total"
    })
  ],
  version: "updatedAt",
  transform: (document) => [withOneStatus(document)],
  transformedBy: ["status", "paymentStatus"],
  tombstone: "deleted",
  person: {
    contacts: ["document_recipients.id", "document_fields.recipient_id", "document_links.recipient_id"],
    isFinancial: true
  },
  fields: {
    _id: id("Document id"),
    documentId: identifier("Id of the document that its links name"),
    name: text("Name", { personal: "content" }),
    type: openEnum("Kind of document, for example `proposal`"),
    deleted: boolean("Removed"),
    isExpired: boolean("Cannot be signed any more"),
    documentRevision: count("How often it went back to being a draft"),
    status: enumeration(["draft", "sent", "viewed", "completed", "accepted"]),
    paymentStatus: enumeration(["waiting_for_payment", "paid", "no_payment"]),
    statuses: json("All statuses, where a list was sent"),
    paymentStatuses: json("All statuses of payment, where a list was sent"),
    grandTotal: object({
      amount: decimal("Amount before discounts, in `grand_total_currency`", { personal: "financial" }),
      currency: text("Currency, ISO 4217"),
      discountPercentage: decimal("Discount in all, per cent"),
      discounts: json("Discounts, as sent", { personal: "financial" })
    }),
    locale: text("Language"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    recipients: rows("document_recipients", "Who receives each document, and who has signed it.", {
      id: identifier("Contact or user"),
      entityName: openEnum("`contacts` or `users`, where sent"),
      firstName: personName("First name"),
      lastName: personName("Last name"),
      contactName: personName("Name"),
      email: email("Address for e-mail"),
      phone: phone("Phone"),
      phoneNumber: alias("phone"),
      country: place("Country"),
      role: enumeration(["user", "signer"]),
      hasCompleted: boolean("Has filled it in and signed it"),
      isPrimary: boolean("The main one"),
      signingOrder: count("Place in the order of signing"),
      signedDate: instant("When it was signed"),
      lastViewedAt: instant("When it was viewed last"),
      ip: trait("Network address of who signed", direct),
      userAgent: trait("Browser of who signed"),
      // Pictures of signatures, and a link that opens the document for anybody.
      imgUrl: secret,
      initialsImgUrl: secret,
      shareLink: secret
    }),
    fillableFields: rows("document_fields", "Fields of each document that somebody fills in.", {
      id: identifier("Id of the field"),
      fieldId: identifier("Name of the field in the document"),
      isRequired: boolean("It has to be filled in"),
      hasCompleted: boolean("It is filled in"),
      recipient: identifier("Who fills it in", { column: "recipient_id" }),
      entityType: openEnum("`contacts` or `users`"),
      type: openEnum("Kind of field, for example `TextField` or `Signature`"),
      value: text("What was filled in; nothing of a signature", direct)
    }),
    links: rows("document_links", "Links by which each document was sent.", {
      referenceId: secret,
      documentId: identifier("Id of the document, as links name it", { column: "linked_document_id" }),
      recipientId: identifier("Whom it was sent to"),
      entityName: openEnum("`contacts` or `users`"),
      recipientCategory: enumeration(["recipient", "cc", "bcc"]),
      documentRevision: count("Version of the document that was sent"),
      createdBy: ref("users", "Who sent it", { column: "created_by_id" }),
      deleted: boolean("Removed")
    })
  }
})

/** Each status is declared as a list, and shown as a text: the last one of a list counts. */
const withOneStatus = (document: unknown): unknown => {
  const { paymentStatus, status } = membersOf(document)
  return {
    ...membersOf(document),
    ...(Array.isArray(status) && { status: status.at(-1), statuses: status }),
    ...(Array.isArray(paymentStatus) && { paymentStatus: paymentStatus.at(-1), paymentStatuses: paymentStatus })
  }
}

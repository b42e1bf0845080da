import { boolean, changed, created, date, decimal, enumeration, id, json, object, text } from "#catalog/fields.ts"
import { altLocation, cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"
import { rrule } from "#catalog/enums.ts"
import { altFields, businessDetails, contactOn, discount, documentLines, sentTo } from "#catalog/shapes.ts"

const money = { personal: "financial" } as const

export const estimates = defineList({
  table: "estimates",
  description: "Estimates in every state. No operation reads one alone: the list shows all there is.",
  source: "B 2.3, B 4.3 GET /invoices/estimate/list",
  scope: "invoices/estimate.readonly",
  full: [
    byOffset(get("/invoices/estimate/list", { ...altLocation, status: "all", limit: size, offset: cursorOr(0) }), {
      records: "estimates",
      total: "total"
    })
  ],
  version: "updatedAt",
  tombstone: "deleted",
  person: {
    contacts: ["contact_details_id"]
  },
  fields: {
    _id: id("Estimate id"),
    name: text("Name", { personal: "content" }),
    estimateStatus: enumeration(["draft", "sent", "accepted", "declined", "invoiced", "viewed"]),
    estimateNumber: text("Number without its prefix; a name, not a quantity"),
    estimateNumberPrefix: text("What stands before the number"),
    total: decimal("Total in `currency`", money),
    currency: text("Currency, ISO 4217"),
    issueDate: date("Day of issue"),
    expiryDate: date("Day it expires"),
    contactDetails: object(contactOn("the estimate", "Whom it is for")),
    sentTo: sentTo("estimate_recipients", "Whom each estimate goes to."),
    sendEstimateDetails: json("How it was sent, as sent", { personal: "direct" }),
    businessDetails,
    discount,
    title: text("Heading", { personal: "content" }),
    totalamountInUSD: decimal("Total in US dollars", money),
    liveMode: boolean("False for a test estimate"),
    deleted: boolean("Removed by a user"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    frequencySettings: object({
      enabled: boolean("The estimate repeats"),
      schedule: object({ rrule })
    }),
    autoInvoice: json("Invoice made of it when accepted, as sent"),
    paymentScheduleConfig: json("Parts it is paid in, as sent", { personal: "financial" }),
    termsNotes: text("Terms and notes at the end", { personal: "content" }),
    attachments: json("Files, as sent", { role: "file" }),
    ...altFields,
    items: documentLines("estimate_items", "Lines of each estimate.", "What is offered")
  }
})

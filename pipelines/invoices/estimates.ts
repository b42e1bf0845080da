import { date, decimal, flag, id, json, object, ref, rows, text } from "#catalog/fields.ts"
import { oneOf, transport } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { define } from "#catalog/resource.ts"
import { rrule } from "#catalog/rrule.ts"

const person = { personal: "direct" } as const
const money = { personal: "financial" } as const

export const estimates = define({
  table: "estimates",
  description: "Estimates in every state. No operation reads one alone: the list shows all there is.",
  source: "B 2.3, B 4.3 GET /invoices/estimate/list",
  scope: "invoices/estimate.readonly",
  full: [
    {
      request: get("/invoices/estimate/list", {
        altId: location,
        altType: "location",
        status: "all",
        limit: size,
        offset: cursorOr(0)
      }),
      paging: { kind: "offset" },
      records: "estimates",
      pageSize: 100,
      probeSize: 500,
      total: "total"
    }
  ],
  fields: {
    _id: id("Estimate id"),
    name: text("Name"),
    estimateStatus: oneOf(["draft", "sent", "accepted", "declined", "invoiced", "viewed"]),
    estimateNumber: text("Number without its prefix; a name, not a quantity"),
    estimateNumberPrefix: text("What stands before the number"),
    total: decimal("Total in `currency`", money),
    currency: text("Currency, ISO 4217"),
    issueDate: date("Day of issue"),
    expiryDate: date("Day it expires"),
    contactDetails: object({
      id: ref("contacts", "Whom it is for"),
      name: text("Name on the estimate", person),
      phoneNo: text("Phone on the estimate", person),
      email: text("Address on the estimate", person)
    }),
    sentTo: object({ email: json("Addresses it goes to", person), phoneNo: json("Phones it goes to", person) }),
    sendEstimateDetails: json("How it was sent, as sent", { personal: "direct" }),
    businessDetails: object(
      { name: text("Name of the business on the estimate") },
      { whole: json("The business on the estimate, as sent", { personal: "quasi" }) }
    ),
    discount: object({
      type: oneOf(["percentage", "fixed"]),
      value: decimal("Discount: per cent, or in `currency`", money)
    }),
    frequencySettings: object({
      enabled: flag("The estimate repeats"),
      schedule: object({ rrule })
    }),
    autoInvoice: json("Invoice made of it when accepted, as sent"),
    paymentScheduleConfig: json("Parts it is paid in, as sent", { personal: "financial" }),
    termsNotes: text("Terms and notes at the end", { personal: "content" }),
    attachments: json("Files, as sent", { personal: "content" }),
    altId: ref("locations", "The location", { column: "location_id" }),
    altType: transport,
    traceId: transport,
    items: rows("estimate_items", "Lines of each estimate.", {
      _id: text("Line id, where sent", { column: "id" }),
      name: text("What is offered"),
      currency: text("Currency, ISO 4217"),
      amount: decimal("Price of one, in `currency`", money),
      qty: decimal("Quantity")
    })
  }
})

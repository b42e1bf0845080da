import { count, json, text, identifier } from "#catalog/fields.ts"
import { altLocation, get } from "#catalog/request.ts"
import { defineChild, oneRecord } from "#catalog/resource.ts"
import { altFields, lateFees } from "#catalog/shapes.ts"

export const invoiceSettings = defineChild({
  table: "invoice_settings",
  description: "What new invoices and estimates start from: one row per location.",
  source: "B 2.3, B 4.3 GET /invoices/settings",
  scope: "invoices.readonly",
  // The response is a single object without a documented id, so the id of the location is the key.
  childOf: {
    table: "locations",
    column: "id",
    refreshAfter: "20 hours",
    strategy: oneRecord({ request: get("/invoices/settings", altLocation), record: "" })
  },
  fields: {
    title: text("Heading of invoices"),
    estimatesTitle: text("Heading of estimates"),
    termsNote: text("Terms at the end of invoices", { personal: "content" }),
    estimatesTermsNote: text("Terms at the end of estimates", { personal: "content" }),
    invoiceNumberPrefix: text("What stands before the number of an invoice"),
    estimateNumberPrefix: text("What stands before the number of an estimate"),
    dueAfterXDays: count("Days until an invoice is to be paid"),
    estimatesExpireAfterXDays: count("Days until an estimate expires"),
    _id: identifier("Id of the settings, where sent", { column: "settings_id" }),
    // A fixed fee is in the currency of the invoice to which it is added.
    lateFeesConfiguration: lateFees,
    reminders: json("Reminders sent, as sent"),
    tipsConfiguration: json("Tips offered, as sent", { personal: "financial" }),
    paymentMethods: json("Ways to pay, as sent"),
    ...altFields
  }
})

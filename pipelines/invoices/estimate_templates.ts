import { decimal, boolean, id, json, text, changed, created } from "#catalog/fields.ts"
import { altLocation, cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"
import { altFields, businessDetails, discount, documentLines } from "#catalog/shapes.ts"

export const estimateTemplates = defineList({
  table: "estimate_templates",
  description: "Templates that estimates are made from.",
  source: "B 2.3, B 4.3 GET /invoices/estimate/template",
  scope: "invoices/estimate.readonly",
  full: [
    byOffset(get("/invoices/estimate/template", { ...altLocation, limit: size, offset: cursorOr(0) }), {
      records: "data",
      total: "totalCount"
    })
  ],
  fields: {
    _id: id("Template id"),
    name: text("Name"),
    title: text("Heading", { personal: "content" }),
    estimateNumberPrefix: text("What stands before the number"),
    currency: text("Currency, ISO 4217"),
    businessDetails,
    discount,
    total: decimal("Total in `currency`", { personal: "financial" }),
    liveMode: boolean("False for a test template"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    items: documentLines("estimate_template_items", "Lines of each template.", "What is offered"),
    automaticTaxesEnabled: boolean("Taxes are worked out by the service"),
    termsNotes: text("Terms and notes at the end", { personal: "content" }),
    attachments: json("Files, as sent", { role: "file" }),
    miscellaneousCharges: json("Further charges, as sent", { personal: "financial" }),
    ...altFields
  }
})

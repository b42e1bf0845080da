import { boolean, changed, created, decimal, id, text } from "#catalog/fields.ts"
import { altLocation, cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"
import { altFields, businessDetails, discount, documentLines } from "#catalog/shapes.ts"

export const invoiceTemplates = defineList({
  table: "invoice_templates",
  description: "Templates that invoices are made from.",
  source: "C 12.2 GET /invoices/template",
  scope: "invoices/template.readonly",
  unproven: true,
  full: [
    byOffset(get("/invoices/template", { ...altLocation, limit: size, offset: cursorOr(0) }), {
      records: "data",
      pageSize: 100,
      total: "totalCount"
    })
  ],
  version: "updatedAt",
  fields: {
    _id: id("Template id"),
    name: text("Name"),
    title: text("Heading", { personal: "content" }),
    invoiceNumberPrefix: text("What stands before the number"),
    currency: text("Currency, ISO 4217"),
    businessDetails,
    discount,
    total: decimal("Total in `currency`", { personal: "financial" }),
    liveMode: boolean("False for a test template"),
    termsNotes: text("Terms and notes at the end", { personal: "content" }),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    items: documentLines("invoice_template_items", "Lines of each template.", "What is charged"),
    ...altFields
  }
})

import { membersOf } from "#catalog/json.ts"
import { boolean, changed, companyName, created, decimal, id, instant, json } from "#catalog/fields.ts"
import { object, openEnum, ref, rows, text } from "#catalog/fields.ts"
import { altLocation, cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"
import { rrule } from "#catalog/enums.ts"
import { altFields, businessDetails, contactOn, discount, documentLines } from "#catalog/shapes.ts"

export const invoiceSchedules = defineList({
  table: "invoice_schedules",
  description: "Invoices that come again: revenue to come.",
  source: "C 12.1 GET /invoices/schedule",
  scope: "invoices/schedule.readonly",
  unproven: true,
  full: [
    // Each of them has all invoices that it has made.
    byOffset(get("/invoices/schedule", { ...altLocation, limit: size, offset: cursorOr(0) }), {
      records: "schedules",
      pageSize: 20,
      total: "total"
    })
  ],
  getOne: { request: get("/invoices/schedule/{scheduleId}", altLocation), record: "" },
  version: "updatedAt",
  transform: (schedule) => [withoutCopies(schedule)],
  transformedBy: ["invoices"],
  person: { contacts: ["contact_details_id"], isFinancial: true },
  fields: {
    _id: id("Schedule id"),
    status: openEnum("Status, for example `draft` or `scheduled`"),
    liveMode: boolean("False for a test"),
    name: text("Name", { personal: "content" }),
    title: text("Heading of its invoices", { personal: "content" }),
    schedule: object({ executeAt: instant("When it is sent, if once"), rrule }),
    invoices: rows(
      "invoice_schedule_invoices",
      "Invoices that each schedule has made.",
      { _id: ref("invoices", "The invoice", { column: "invoice_id" }) },
      ["invoice_id"]
    ),
    businessDetails,
    contactDetails: object({
      ...contactOn("the invoices", "Whom the invoices are for"),
      companyName: companyName("Company on the invoices", { copyOf: "contacts.company_name" }),
      address: json("Postal address, as sent", { personal: "direct" }),
      additionalEmails: json("Further addresses, as sent", { personal: "direct" }),
      customFields: json("Custom fields on the invoices, as sent", { personal: "direct" })
    }),
    currency: text("Currency, ISO 4217"),
    total: decimal("Total of each invoice, in `currency`", { personal: "financial" }),
    discount,
    items: documentLines("invoice_schedule_items", "Lines of each schedule.", "What is charged"),
    termsNotes: text("Terms and notes at the end", { personal: "content" }),
    compiledTermsNotes: text("The same, filled in", { personal: "content" }),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    ...altFields
  }
})

/** The invoices are in their own table. */
const withoutCopies = (schedule: unknown): unknown => {
  const { invoices } = membersOf(schedule)
  return Array.isArray(invoices)
    ? { ...membersOf(schedule), invoices: invoices.map((one: unknown) => ({ _id: membersOf(one)["_id"] ?? null })) }
    : schedule
}

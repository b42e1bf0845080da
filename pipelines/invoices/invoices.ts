import { date, decimal, boolean, id, json, object, enumeration, ref, text, changed, created } from "#catalog/fields.ts"
import { altLocation, cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"
import { altFields, businessDetails, contactOn, discount, documentLines, lateFees, sentTo } from "#catalog/shapes.ts"

const money = { personal: "financial" } as const

export const invoices = defineList({
  table: "invoices",
  description: "Invoices in every state. The list shows nine fields, a read of one all of them.",
  source: "B 2.3, B 4.3 GET /invoices/, GET /invoices/{invoiceId}",
  scope: "invoices.readonly",
  // Oldest first, so that new invoices are added at the end. Every sync reads all, because invoices are paid or voided long
  // after they were issued.
  full: [
    byOffset(
      get("/invoices/", {
        ...altLocation,
        sortField: "issueDate",
        sortOrder: "ascend",
        limit: size,
        offset: cursorOr(0)
      }),
      { records: "invoices", total: "total" }
    )
  ],
  // The list has no change timestamp, so a change of any column, such as status or total, makes the detail due.
  getOne: { request: get("/invoices/{invoiceId}", altLocation), record: "" },
  detail: {
    refreshAfter: "60 days",
    fields: {
      title: text("Heading", { personal: "content" }),
      description: text("Description", { personal: "content" }),
      invoiceNumberPrefix: text("What stands before the number"),
      contactId: ref("contacts", "Whom it is for"),
      contactDetails: object(contactOn("the invoice", "Whom it is for, as on the invoice")),
      sentTo: sentTo("invoice_recipients", "Whom each invoice goes to."),
      businessDetails,
      discount,
      lateFeesConfiguration: lateFees,
      amountPaid: decimal("What is paid, in `currency`", money),
      totalSummary: object({
        subTotal: decimal("Sum of the lines, in `currency`", money),
        discount: decimal("Discount, in `currency`", money),
        tax: decimal("Taxes, in `currency`", money)
      }),
      createdAt: created("When it was made"),
      updatedAt: changed("Last change"),
      termsNotes: text("Terms and notes at the end", { personal: "content" }),
      automaticTaxesEnabled: boolean("Taxes are worked out by the service"),
      liveMode: boolean("False for a test invoice"),
      tipsConfiguration: json("Tips offered, as sent", { personal: "financial" }),
      paymentSchedule: json("Parts it is paid in, as sent", { personal: "financial" }),
      paymentMethods: json("Ways to pay, as sent"),
      attachments: json("Files, as sent", { role: "file" }),
      miscellaneousCharges: json("Further charges, as sent", { personal: "financial" }),
      invoiceItems: documentLines("invoice_items", "Lines of each invoice.", "What is charged")
    }
  },
  person: {
    contacts: ["contact_id", "contact_details_id"],
    isFinancial: true
  },
  fields: {
    _id: id("Invoice id"),
    status: enumeration(["draft", "sent", "payment_processing", "paid", "void", "partially_paid"]),
    name: text("Name", { personal: "content" }),
    invoiceNumber: text("Number without its prefix; a name, not a quantity"),
    currency: text("Currency, ISO 4217"),
    total: decimal("Total in `currency`", money),
    amountDue: decimal("What is left to pay, in `currency`", money),
    issueDate: date("Day of issue"),
    dueDate: date("Day it is to be paid by"),
    ...altFields
  }
})

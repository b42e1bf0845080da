import { iso } from "../clock.ts"
import type { Route, Service } from "../route.ts"
import { anything, between, choice, flag, list, number, object, record, required, text } from "../shape.ts"
import type { Data, Entry } from "../world/collection.ts"
import {
  checkContact,
  checkPayment,
  checkSending,
  contactDetails,
  day,
  findInvoice,
  lineItems,
  sending,
  sentTo
} from "./document-shapes.ts"
import { createInvoice, openInvoice, updateInvoice } from "./invoice-records.ts"
import { conflict, given, operation } from "./operation.ts"
import { amountOf, cents } from "./world/seeded.ts"
import { addRecord, changeRecord, find, refer } from "./write.ts"

/** What moves an invoice from status to status (B 3, B 4.3): send, text2pay, record payment, void. */
export const invoiceActionRoutes: ReadonlyArray<Route> = [
  operation({
    does: "POST /invoices/:invoiceId/void",
    summary: "Void an invoice",
    scope: "invoices.write",
    account: "altId in body",
    returns: record("Invoice"),
    errors: [409],
    handle: ({ params }, service) => {
      const { invoices } = service.world.commerce
      const row = openInvoice(service, findInvoice(service, params), "voided")
      return invoices.full(changeRecord(service, invoices, row, { status: "void", amountDue: 0 }))
    }
  }),
  operation({
    does: "POST /invoices/:invoiceId/record-payment",
    summary: "Record a payment of an invoice",
    scope: "invoices.write",
    account: "altId in body",
    body: {
      mode: required(choice("cash", "card", "cheque", "bank_transfer", "other")),
      // All of them, whatever the mode (B 4.3).
      card: required(object({ brand: required(text), last4: required(text) })),
      cheque: required(object({ number: required(text) })),
      notes: required(text),
      amount: between(number, 0),
      paymentScheduleIds: list(text),
      fulfilledAt: { type: "string", format: "date-time" },
      meta: anything
    },
    returns: { success: flag, invoice: record("Invoice") },
    errors: [409],
    handle: ({ body, params }, service) => {
      const { invoices } = service.world.commerce
      const row = openInvoice(service, findInvoice(service, params), "paid")
      const data = invoices.data(row)
      const due = amountOf(data["amountDue"])
      const amount = Number(body["amount"] ?? due)
      checkPayment(body["amount"], due)
      const left = cents(due - amount)
      const status = left > 0 ? "partially_paid" : "paid"
      const amountPaid = cents(amountOf(data["amountPaid"]) + amount)
      const next = changeRecord(service, invoices, row, { status, amountPaid, amountDue: left })
      addTransaction(service, next, amount, body)
      service.deliveries.trigger("payment_received", invoices.data(next))
      return `{"success":true,"invoice":${invoices.full(next)}}`
    }
  }),
  operation({
    does: "POST /invoices/:invoiceId/send",
    summary: "Send an invoice",
    scope: "invoices.write",
    account: "altId in body",
    body: { ...sending, autoPayment: object({ enable: required(flag) }) },
    returns: { invoice: record("Invoice"), smsData: object(), emailData: object() },
    errors: [409],
    handle: ({ body, params }, service) => {
      const { invoices } = service.world.commerce
      checkSending(service, body)
      const row = findInvoice(service, params)
      const data = invoices.data(row)
      if (data["status"] === "void") throw conflict("An invoice that is void cannot be sent")
      const next = send(service, row, { liveMode: body["liveMode"] })
      const { email, name, phoneNo } = (data["contactDetails"] ?? {}) as Data
      const action = String(body["action"])
      const smsData = action.startsWith("sms") ? { to: phoneNo, message: `Invoice for ${String(name)}` } : {}
      const emailData = action.endsWith("email") ? { to: email, subject: `Invoice for ${String(name)}` } : {}
      const rest = JSON.stringify({ smsData, emailData }).slice(1)
      return `{"invoice":${invoices.full(next)},${rest}`
    }
  }),
  operation({
    does: "POST /invoices/text2pay",
    summary: "Create or change an invoice, and save or send it",
    scope: "invoices.write",
    account: "altId in body",
    body: {
      id: text,
      name: required(text),
      currency: required(text),
      items: lineItems,
      contactDetails: required(contactDetails),
      issueDate: required(day),
      sentTo: required(sentTo),
      liveMode: required(flag),
      action: required(choice("draft", "send")),
      userId: required(text)
    },
    returns: { invoice: record("Invoice"), invoiceUrl: text },
    errors: [409],
    handle: ({ body }, service) => {
      const { invoices } = service.world.commerce
      const { action, id, userId, ...fields } = body
      refer(service.world.users, userId, "userId")
      checkContact(service, fields["contactDetails"])
      const old = id === undefined ? undefined : openInvoice(service, find(invoices, id, "Invoice"), "changed")
      const saved = old === undefined ? createInvoice(service, fields) : updateInvoice(service, old, fields)
      const row = action === "send" ? send(service, saved, {}) : saved
      const url = JSON.stringify(`https://pay.example/invoice/${row.id}`)
      return `{"invoice":${invoices.full(row)},"invoiceUrl":${url}}`
    }
  })
]

/** A draft becomes sent; sending again changes no status. */
const send = (service: Service, row: Entry, fields: Data): Entry => {
  const { invoices } = service.world.commerce
  const isDraft = invoices.data(row)["status"] === "draft"
  return changeRecord(service, invoices, row, { ...given(fields), ...(isDraft && { status: "sent" }) })
}

/** A recorded payment is a transaction, of the kind that no provider took. */
const addTransaction = (service: Service, invoice: Entry, amount: number, { fulfilledAt, mode }: Data): void => {
  const { invoices, transactions } = service.world.commerce
  const { contactDetails, currency, liveMode, name } = invoices.data(invoice)
  const contact = (contactDetails ?? {}) as Data
  const fields = {
    altId: service.world.setting.locationId,
    altType: "location",
    contactId: contact["id"],
    contactName: contact["name"],
    currency,
    amount,
    status: "succeeded",
    liveMode,
    entityType: "invoice",
    entityId: invoice.id,
    entitySource: { type: "invoice", id: invoice.id, name },
    paymentProvider: { type: "manual" },
    paymentMethod: mode,
    fulfilledAt: fulfilledAt ?? iso(service.clock.now()),
    amountRefunded: 0,
    invoiceId: invoice.id
  }
  addRecord(service, transactions, fields, { parent: invoice.id })
}

import { conflict } from "../../http/errors.ts"
import { iso } from "../../account/clock.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import {
  altType,
  anything,
  between,
  choice,
  flag,
  list,
  number,
  object,
  record,
  required,
  text
} from "../../http/shape.ts"
import type { Data, Entry } from "../../account/collection.ts"
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
import { amountOf, cents } from "../../account/seeded.ts"
import { dropUndefined, addRecord, changeRecord, checkReference, find } from "../records.ts"

/** Operations that change the status of an invoice (B 3, B 4.3): send, text2pay, record payment, void. */
export const invoiceActionRoutes: ReadonlyArray<Route> = [
  {
    method: "POST",
    path: "/invoices/:invoiceId/void",
    summary: "Void an invoice",
    scope: "invoices.write",
    location: { in: "body", name: "altId" },
    body: { altType },
    ignoresNull: true,
    returns: record("Invoice"),
    errors: [409],
    handle: ({ params }, service) => {
      const { invoices } = service.world
      const row = openInvoice(service, findInvoice(service, params), "voided")
      return invoices.full(changeRecord(service, invoices, row, { status: "void", amountDue: 0 }))
    }
  },
  {
    method: "POST",
    path: "/invoices/:invoiceId/record-payment",
    summary: "Record a payment of an invoice",
    scope: "invoices.write",
    location: { in: "body", name: "altId" },
    body: {
      altType,
      mode: required(choice("cash", "card", "cheque", "bank_transfer", "other")),
      // These are required in every mode (B 4.3).
      card: required(object({ brand: required(text), last4: required(text) })),
      cheque: required(object({ number: required(text) })),
      notes: required(text),
      amount: between(number, 0),
      paymentScheduleIds: list(text),
      fulfilledAt: { type: "string", format: "date-time" },
      meta: anything
    },
    ignoresNull: true,
    returns: { success: flag, invoice: record("Invoice") },
    errors: [409],
    handle: ({ body, params }, service) => {
      const { invoices } = service.world
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
  },
  {
    method: "POST",
    path: "/invoices/:invoiceId/send",
    summary: "Send an invoice",
    scope: "invoices.write",
    location: { in: "body", name: "altId" },
    body: { altType, ...sending, autoPayment: object({ enable: required(flag) }) },
    ignoresNull: true,
    returns: { invoice: record("Invoice"), smsData: object(), emailData: object() },
    errors: [409],
    handle: ({ body, params }, service) => {
      const { invoices } = service.world
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
  },
  {
    method: "POST",
    path: "/invoices/text2pay",
    summary: "Create or change an invoice, and save or send it",
    scope: "invoices.write",
    location: { in: "body", name: "altId" },
    body: {
      altType,
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
    ignoresNull: true,
    returns: { invoice: record("Invoice"), invoiceUrl: text },
    errors: [409],
    handle: ({ body }, service) => {
      const { invoices } = service.world
      const { action, id, userId, ...fields } = body
      checkReference(service.world.users, userId, "userId")
      checkContact(service, fields["contactDetails"])
      const old = id === undefined ? undefined : openInvoice(service, find(invoices, id, "Invoice"), "changed")
      const saved = old === undefined ? createInvoice(service, fields) : updateInvoice(service, old, fields)
      const row = action === "send" ? send(service, saved, {}) : saved
      const url = JSON.stringify(`https://pay.example/invoice/${row.id}`)
      return `{"invoice":${invoices.full(row)},"invoiceUrl":${url}}`
    }
  }
]

/** Sends an invoice: a draft gets the status sent, any other keeps its status. */
const send = (service: Service, row: Entry, fields: Data): Entry => {
  const { invoices } = service.world
  const isDraft = invoices.data(row)["status"] === "draft"
  return changeRecord(service, invoices, row, { ...dropUndefined(fields), ...(isDraft && { status: "sent" }) })
}

/** Adds the transaction of a recorded payment, which has no payment provider. */
const addTransaction = (service: Service, invoice: Entry, amount: number, { fulfilledAt, mode }: Data): void => {
  const { invoices, transactions } = service.world
  const { contactDetails, currency, liveMode, name } = invoices.data(invoice)
  const contact = (contactDetails ?? {}) as Data
  const fields = {
    altId: service.world.context.locationId,
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

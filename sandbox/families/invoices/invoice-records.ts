import { conflict, invalid } from "../../http/errors.ts"
import type { Service } from "../../service.ts"
import type { Data, Entry } from "../../account/collection.ts"
import { checkContact } from "./document-shapes.ts"
import { nextOf, type Numbering, sentNumber } from "./document-numbers.ts"
import { totalOf } from "./seeded-invoices.ts"
import { amountOf, cents } from "../../account/seeded.ts"
import { dropUndefined, addRecord, changeRecord } from "../records.ts"

/** Adds a draft for a contact, with the next number unless the body has one. */
export const createInvoice = (service: Service, body: Data): Entry => {
  checkContact(service, body["contactDetails"])
  const { items, ...rest } = body
  const total = totalOf(items as ReadonlyArray<Data>, body["discount"] as Data | undefined)
  const { locationId } = service.world.context
  const { contactDetails, invoiceNumber } = body as { contactDetails?: Data; invoiceNumber?: unknown }
  return addRecord(service, service.world.invoices, {
    altId: locationId,
    altType: "location",
    status: "draft",
    ...dropUndefined(rest),
    invoiceNumber: checkNumber(service, invoiceNumber, undefined) ?? nextNumber(service),
    contactId: contactDetails?.["id"],
    invoiceItems: items,
    total,
    amountPaid: 0,
    amountDue: total
  })
}

/** Replaces the given members of an invoice, and computes the amount due from the lines and the paid amount. */
export const updateInvoice = (service: Service, old: Entry, body: Data): Entry => {
  const { invoices } = service.world
  const { invoiceNumber, items, ...rest } = dropUndefined(body)
  const next = { ...invoices.data(old), ...rest, ...(items !== undefined && { invoiceItems: items }) } as Data
  const total = totalOf(next["invoiceItems"] as ReadonlyArray<Data>, next["discount"] as Data | undefined)
  const amountDue = cents(total - amountOf(next["amountPaid"]))
  if (amountDue < 0) throw invalid("the total must not be less than what was paid")
  const number = checkNumber(service, invoiceNumber, old)
  return changeRecord(service, invoices, old, {
    ...rest,
    invoiceItems: next["invoiceItems"],
    ...(number !== undefined && { invoiceNumber: number }),
    total,
    amountDue
  })
}

/** Throws 409 for a paid or void invoice, which keeps its status. The documents do not define the transitions. */
export const openInvoice = ({ world }: Service, row: Entry, done: string): Entry => {
  const status = world.invoices.data(row)["status"]
  if (status === "paid" || status === "void") throw conflict(`An invoice that is ${status} cannot be ${done}`)
  return row
}

const numbering: Numbering = { name: "invoiceNumber", first: 1001 }

const checkNumber = ({ world }: Service, sent: unknown, own: Entry | undefined): number | undefined =>
  sentNumber(world.invoices, numbering, sent, own)

export const nextNumber = ({ world }: Service): number => nextOf(world.invoices, numbering)

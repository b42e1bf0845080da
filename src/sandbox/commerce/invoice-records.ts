import { invalid } from "../errors.ts"
import type { Service } from "../route.ts"
import type { Data, Entry } from "../world/collection.ts"
import { checkContact } from "./document-shapes.ts"
import { nextOf, type Numbering, sentNumber } from "./numbers.ts"
import { conflict, given } from "./operation.ts"
import { totalOf } from "./world/invoices.ts"
import { amountOf, cents } from "./world/seeded.ts"
import { addRecord, changeRecord } from "./write.ts"

/** A draft for a contact, with the next number unless one is sent. */
export const createInvoice = (service: Service, body: Data): Entry => {
  checkContact(service, body["contactDetails"])
  const { items, ...rest } = body
  const total = totalOf(items as ReadonlyArray<Data>, body["discount"] as Data | undefined)
  const { locationId } = service.world.setting
  const { contactDetails, invoiceNumber } = body as { contactDetails?: Data; invoiceNumber?: unknown }
  return addRecord(service, service.world.commerce.invoices, {
    altId: locationId,
    altType: "location",
    status: "draft",
    ...given(rest),
    invoiceNumber: checkNumber(service, invoiceNumber, undefined) ?? nextNumber(service),
    contactId: contactDetails?.["id"],
    invoiceItems: items,
    total,
    amountPaid: 0,
    amountDue: total
  })
}

/** The given members instead of its own; what is due follows from the lines and what was paid. */
export const updateInvoice = (service: Service, old: Entry, body: Data): Entry => {
  const { invoices } = service.world.commerce
  const { invoiceNumber, items, ...rest } = given(body)
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

/** Transitions are in no document: a paid or void invoice stays what it is. */
export const openInvoice = ({ world }: Service, row: Entry, done: string): Entry => {
  const status = world.commerce.invoices.data(row)["status"]
  if (status === "paid" || status === "void") throw conflict(`An invoice that is ${status} cannot be ${done}`)
  return row
}

const numbering: Numbering = { name: "invoiceNumber", first: 1001 }

const checkNumber = ({ world }: Service, sent: unknown, own: Entry | undefined): number | undefined =>
  sentNumber(world.commerce.invoices, numbering, sent, own)

export const nextNumber = ({ world }: Service): number => nextOf(world.commerce.invoices, numbering)

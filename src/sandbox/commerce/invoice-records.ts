import type { Service } from "../route.ts"
import type { Data, Entry } from "../world/collection.ts"
import { checkContact } from "./document-shapes.ts"
import { given } from "./operation.ts"
import { totalOf } from "./world/invoices.ts"
import { amountOf, cents } from "./world/seeded.ts"
import { addRecord, changeRecord } from "./write.ts"

/** A draft for a contact, with the next number unless one is sent. */
export const createInvoice = (service: Service, body: Data): Entry => {
  checkContact(service, body["contactDetails"])
  const { items, ...rest } = body
  const total = totalOf(items as ReadonlyArray<Data>, body["discount"] as Data | undefined)
  const { locationId } = service.world.setting
  const { contactDetails, invoiceNumber } = body as { contactDetails?: Data; invoiceNumber?: string }
  return addRecord(service, service.world.commerce.invoices, {
    altId: locationId,
    altType: "location",
    status: "draft",
    ...given(rest),
    invoiceNumber: numberOf(invoiceNumber) ?? nextNumber(service),
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
  return changeRecord(service, invoices, old, {
    ...rest,
    invoiceItems: next["invoiceItems"],
    ...(numberOf(invoiceNumber) !== undefined && { invoiceNumber: numberOf(invoiceNumber) }),
    total,
    amountDue: cents(total - amountOf(next["amountPaid"]))
  })
}

/** Numbers come as text and are kept as the number they hold. */
const numberOf = (sent: unknown): number | undefined => (/^\d+$/.test(String(sent ?? "")) ? Number(sent) : undefined)

export const nextNumber = ({ world: { commerce } }: Service): number => {
  let greatest = 1000
  for (const row of commerce.invoices.live()) {
    // A seeded record has its number from its place, so that it need not be built.
    const own = typeof row.source === "number" ? 1001 + row.source : amountOf(row.source["invoiceNumber"])
    if (own > greatest) greatest = own
  }
  return greatest + 1
}

import type { Service } from "../service.ts"
import type { Collection, Data, Entry } from "../account/collection.ts"
import type { Random } from "../account/random.ts"
import { nextInvoiceNumber } from "../families/invoices/document-numbers.ts"
import { changeRecord } from "../families/records.ts"

/** The shares of records that change. The default for invoices and products is the share of orders. */
interface Shares {
  readonly orders: number
  readonly submissions: number
  readonly delete: number
  readonly invoices?: number
  readonly products?: number
}

/** The functions by which `change` selects, changes and copies records. */
interface Actions {
  readonly random: Random
  readonly choose: (collection: Collection, share: number, random: Random) => ReadonlyArray<Entry>
  readonly each: (rows: ReadonlyArray<Entry>, act: (row: Entry) => void) => number
  readonly repeat: (service: Service, collection: Collection, row: Entry, random: Random) => Data
}

/** Changes, adds and deletes orders, invoices, products and survey submissions. Returns the number of each. */
export const changeDocuments = (service: Service, shares: Shares, { choose, each, random, repeat }: Actions): Data => {
  const { invoices, orders, products, surveySubmissions } = service.world
  const { invoices: invoiceShare = shares.orders, products: productShare = shares.orders } = shares
  const set = (collection: Collection, row: Entry, fields: Data): void =>
    void changeRecord(service, collection, row, fields)
  return {
    ordersChanged: each(choose(orders, shares.orders, random), (row) => {
      const paymentStatus = random.pick(["paid", "refunded"])
      set(orders, row, { paymentStatus, fulfillmentStatus: random.pick(["fulfilled", "partially_fulfilled"]) })
    }),
    invoices: each(choose(invoices, invoiceShare, random), (row) => {
      const { amountPaid, total } = invoices.data(row)
      const status = random.pick(["sent", "paid", "void"])
      set(invoices, row, { status, ...(status === "paid" ? { amountPaid: total, amountDue: 0 } : { amountPaid }) })
    }),
    invoicesAdded: each(choose(invoices, invoiceShare / 2, random), (row) => {
      const { _id } = repeat(service, invoices, row, random)
      set(invoices, invoices.get(String(_id))!, { invoiceNumber: nextInvoiceNumber(service) })
    }),
    invoicesDeleted: each(choose(invoices, shares.delete, random), (row) => invoices.remove(row)),
    products: each(choose(products, productShare, random), (row) => {
      set(products, row, { availableInStore: random.chance(0.5), description: `Now ${random.between(5, 30)} % off` })
    }),
    surveySubmissionsAdded: each(choose(surveySubmissions, shares.submissions, random), (row) =>
      repeat(service, surveySubmissions, row, random)
    )
  }
}

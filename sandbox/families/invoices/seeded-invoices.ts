import { iso } from "../../account/clock.ts"
import type { Collection, Data } from "../../account/collection.ts"
import { Random } from "../../account/random.ts"
import type { AccountContext } from "../../account/context.ts"
import { messageText } from "../../account/texts.ts"
import { article, single } from "../products/seeded-products.ts"
import { undocumentedOfEstimate, undocumentedOfInvoice, undocumentedOfLine } from "../undocumented-documents.ts"
import { type Draw, type Owners, cents, dayOf, rowsOf, seeded, streams } from "../../account/seeded.ts"

const dayMs = 86_400_000

/** Invoices (B 2.3). The list returns nine fields, a single read also the lines and the recipient. */
export const createInvoices = (context: AccountContext, owners: Owners, products: Collection): Collection => {
  const productIds = rowsOf(products).map((row) => row.id!)
  return seeded(context, {
    stream: streams.invoice,
    count: owners.rows.length === 0 ? 0 : context.settings.invoices,
    build: (draw) => invoice(context, draw, owners, productIds),
    list: invoiceItem,
    malform: {
      instants: "createdAt updatedAt",
      money: "total amountDue invoiceNumber",
      flags: "liveMode",
      texts: "name title termsNotes"
    },
    orphans: true
  })
}

const invoiceItem = (data: Data): Data =>
  Object.fromEntries(
    "_id status name invoiceNumber currency total amountDue issueDate dueDate"
      .split(" ")
      .map((name) => [name, data[name]])
  )

const invoice = (
  context: AccountContext,
  { entry, id, index, random }: Draw,
  owners: Owners,
  productIds: ReadonlyArray<string>
): Data => {
  const owner = owners.of(streams.invoice, index)
  const status = invoiceStatus(context, index)
  const items = lines(random, productIds)
  const discount = discountOf(random)
  const total = totalOf(items, discount)
  const amountPaid = status === "paid" ? total : status === "partially_paid" ? cents(total / 3) : 0
  return {
    _id: id,
    altId: context.locationId,
    altType: "location",
    status,
    name: random.pick(["Deposit", "Final bill – Schlussrechnung", "Materials", "Progress payment 2/3", "=Invoice"]),
    title: random.chance(0.6) ? "INVOICE" : undefined,
    invoiceNumber: 1001 + index,
    invoiceNumberPrefix: random.chance(0.8) ? "INV-" : undefined,
    currency: random.chance(0.95) || context.settings.busyYear ? "USD" : "CAD",
    businessDetails: business,
    contactDetails: contactDetails(owner),
    contactId: owner.id,
    invoiceItems: items,
    discount,
    total,
    amountPaid,
    amountDue: cents(total - amountPaid),
    issueDate: dayOf(entry.created),
    dueDate: random.chance(0.9) ? dayOf(entry.created + random.pick([0, 14, 30]) * dayMs) : undefined,
    sentTo: { email: [owner.email], phoneNo: random.chance(0.3) ? [owner.phone] : undefined },
    termsNotes: random.chance(0.4) ? `Due on receipt.\n${messageText(random)}` : undefined,
    lateFeesConfiguration: random.chance(0.2) ? lateFees : undefined,
    ...undocumentedOfInvoice(items, total),
    liveMode: random.chance(0.97),
    createdAt: iso(entry.created),
    updatedAt: iso(entry.updated)
  }
}

export const invoiceStatuses = ["draft", "sent", "payment_processing", "paid", "void", "partially_paid"]

/** The status of an invoice. It is drawn separately, so that transactions can depend on it without building the invoice. */
export const invoiceStatus = (context: AccountContext, index: number): string => {
  const random = new Random(context.seed, streams.invoice + 3000, index)
  return random.chance(0.005) ? "disputed" : random.pick(["paid", "paid", "paid", ...invoiceStatuses])
}

const lines = (random: Random, productIds: ReadonlyArray<string>): ReadonlyArray<Data> =>
  Array.from({ length: random.between(1, 6) }, () => {
    const place = random.int(Math.max(1, productIds.length))
    const [name, amount] = article(place)
    const productId = random.chance(0.8) ? productIds[place] : undefined
    return { _id: random.hexId(0), name, currency: "USD", amount, qty: random.pick([1, 1, 2, 4, 0.5]), productId }
  }).map((line, place) => ({ ...line, ...undocumentedOfLine(new Random(random.int(1_000_000), place, place)) }))

const discountOf = (random: Random): Data =>
  random.chance(0.8) ? { type: "percentage", value: 0 } : { type: random.pick(["percentage", "fixed"]), value: 10 }

/** The sum of the lines minus the discount, rounded to cents, and at least 0. */
export const totalOf = (items: ReadonlyArray<Data>, discount: Data | undefined): number => {
  const sum = items.reduce((sum, { amount, qty }) => sum + Number(amount) * Number(qty), 0)
  const value = Number(discount?.["value"] ?? 0)
  return Math.max(0, cents(discount?.["type"] === "percentage" ? sum * (1 - value / 100) : sum - value))
}

const contactDetails = ({ email, id, name, phone }: ReturnType<Owners["of"]>): Data => ({
  id,
  name,
  phoneNo: phone,
  email
})

const business = { name: "Harbor & Pine Renovations, LLC", address: { line1: "12 Quarry Rd", city: "Portland" } }

const lateFees: Data = {
  enable: true,
  value: 25,
  type: "fixed",
  frequency: { intervalCount: 1, interval: "month" },
  grace: { intervalCount: 7, interval: "day" },
  maxLateFees: { type: "fixed", value: 100 }
}

/** The defaults of new invoices and estimates. */
export const createInvoiceSettings = (context: AccountContext): Collection =>
  single(
    {
      _id: context.locationId,
      altId: context.locationId,
      altType: "location",
      termsNote: "Due within 14 days.\nThank you!",
      estimatesTermsNote: "Valid for 30 days.",
      title: "INVOICE",
      estimatesTitle: "ESTIMATE",
      invoiceNumberPrefix: "INV-",
      estimateNumberPrefix: "EST-",
      dueAfterXDays: 14,
      estimatesExpireAfterXDays: 30,
      lateFeesConfiguration: lateFees,
      tipsConfiguration: { tipsPercentage: [5, 10, 15], tipsEnabled: true },
      reminders: [{ enabled: true, intervalCount: 3, interval: "day", trigger: "before_due" }],
      paymentMethods: { stripe: { enableBankDebitOnly: false } }
    },
    context.begin
  )

/** Estimates (B 2.3). No operation reads a single one, so the list returns all fields. */
export const createEstimates = (context: AccountContext, owners: Owners, products: Collection): Collection => {
  const productIds = rowsOf(products).map((row) => row.id!)
  return seeded(context, {
    stream: streams.estimate,
    count: owners.share(0.1),
    build: ({ entry, id, index, random }) => {
      const owner = owners.of(streams.estimate, index)
      const items = lines(random, productIds)
      const discount = discountOf(random)
      return {
        _id: id,
        altId: context.locationId,
        altType: "location",
        name: random.pick(["Kitchen", "Deck, 12 × 16 ft", "Jardin d'hiver", "Fence\nrepair", "+Garden"]),
        estimateStatus: random.chance(0.01) ? "expired" : random.pick(estimateStatuses.slice(1)),
        estimateNumber: 5001 + index,
        estimateNumberPrefix: random.chance(0.8) ? "EST-" : undefined,
        currency: "USD",
        businessDetails: business,
        contactDetails: contactDetails(owner),
        items,
        discount,
        total: totalOf(items, discount),
        issueDate: dayOf(entry.created),
        expiryDate: random.chance(0.8) ? dayOf(entry.created + 30 * dayMs) : undefined,
        frequencySettings: random.chance(0.15)
          ? { enabled: true, schedule: { rrule: ruleOf(random, entry.created) } }
          : { enabled: false, schedule: {} },
        traceId: random.chance(0.5) ? random.id() : undefined,
        liveMode: random.chance(0.97),
        ...undocumentedOfEstimate(context, index, totalOf(items, discount)),
        createdAt: iso(entry.created),
        updatedAt: iso(entry.updated)
      }
    },
    malform: { instants: "createdAt updatedAt", money: "total", flags: "liveMode", texts: "name" },
    orphans: true
  })
}

/** The members that a repeating estimate needs (B 2.3). */
const ruleOf = (random: Random, created: number): Data => ({
  intervalType: random.pick(["monthly", "monthly", "weekly", "yearly", "daily"]),
  interval: random.between(1, 3),
  startDate: dayOf(created)
})

export const estimateStatuses = ["all", "draft", "sent", "accepted", "declined", "invoiced", "viewed"]

/** Templates of estimates or of invoices, which have the same form. */
export const createDocumentTemplates = (context: AccountContext, stream: number, products: Collection): Collection => {
  const productIds = rowsOf(products).map((row) => row.id!)
  return seeded(context, {
    stream,
    count: stream === streams.invoiceTemplate ? 23 : 14,
    build: ({ entry, id, index, random }) => {
      const [items, discount] = [lines(random, productIds), discountOf(random)]
      return {
        _id: id,
        altId: context.locationId,
        altType: "location",
        name: `${random.pick(["Small job", "Deck package", "Entretien – mensuel", "Warranty visit"])} ${index}`,
        title: random.chance(0.5) ? "As discussed" : undefined,
        businessDetails: business,
        currency: "USD",
        items,
        discount,
        total: totalOf(items, discount),
        termsNotes: random.chance(0.4) ? messageText(random) : undefined,
        liveMode: random.chance(0.9),
        createdAt: iso(entry.created),
        updatedAt: iso(entry.updated)
      }
    },
    malform: { instants: "createdAt updatedAt", money: "total", texts: "name title" }
  })
}

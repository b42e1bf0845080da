import { iso } from "../../account/clock.ts"
import { type Collection, type Data, type Entry, without } from "../../account/collection.ts"
import { orderState } from "./seeded-orders.ts"
import { Random } from "../../account/random.ts"
import type { AccountContext } from "../../account/context.ts"
import { invoiceStatus, totalOf } from "../invoices/seeded-invoices.ts"
import { type Draw, type Owners, cents, rowsOf, seeded, streams } from "../../account/seeded.ts"
import { boughtWith, type Purchases } from "./seeded-subscriptions.ts"

interface Sources {
  readonly purchases: Purchases
  readonly orders: Collection
  readonly invoices: Collection
  readonly subscriptions: Collection
}

/**
 * Transactions (B 2.4): flat in lists, nested in a single read. They derive from the orders and invoices, which are their
 * parents: the successful transactions of a paid one add up to its amount.
 */
export const createTransactions = (context: AccountContext, owners: Owners, sources: Sources): Collection => {
  const { purchases, subscriptions } = sources
  const payments = [
    ...purchases.order.flatMap((row) => paymentsOf(context, "order", row)),
    ...purchases.invoice.flatMap((row) => paymentsOf(context, "invoice", row)),
    ...(context.settings.busyYear ? renewalsOf(context, purchases, subscriptions) : [])
  ]
  const subscriptionIds = new Map(
    rowsOf(subscriptions).map(({ id }, index) => [boughtWith(context, index, purchases)?.row.id, id!])
  )
  return seeded(context, {
    stream: streams.transaction,
    count: payments.length,
    parent: (index) => payments[index]!.row.id,
    created: (index) =>
      payments[index]!.renewal?.at ??
      Math.min(context.end, payments[index]!.row.created + daysAfter(context, payments[index]!, index) * dayMs),
    build: (draw) => {
      const payment = payments[draw.index]!
      return transaction(context, draw, payment, owners, sources, subscriptionIds.get(payment.row.id))
    },
    list: flatTransaction,
    malform: {
      instants: "createdAt updatedAt fulfilledAt",
      money: "amount amountRefunded",
      flags: "liveMode markAsTest isParent",
      texts: "contactName contactEmail chargeId status"
    },
    orphans: true
  })
}

/** One payment of an order or invoice: of the whole amount, of the first third, or of the rest. */
interface Payment {
  readonly type: keyof Purchases
  readonly row: Entry
  readonly status: string
  readonly share: "all" | "first" | "rest"
  /** The subscription that came with the order or invoice, of a payment for a later month. */
  readonly renewal?: { readonly subscription: Entry; readonly at: number }
}

/** The months that each subscription was paid after the order or invoice with which it came. */
const renewalsOf = (context: AccountContext, purchases: Purchases, subscriptions: Collection): ReadonlyArray<Payment> =>
  rowsOf(subscriptions).flatMap((subscription, index) => {
    const bought = boughtWith(context, index, purchases)
    if (bought === undefined) return []
    const isCanceled = subscriptions.data(subscription)["canceledAt"] !== undefined
    const end = isCanceled ? subscription.updated : context.end
    return Array.from({ length: Math.floor((end - subscription.created) / monthMs) }, (_, month): Payment => {
      const renewal = { subscription, at: subscription.created + (month + 1) * monthMs }
      return { ...bought, status: "succeeded", share: "all", renewal }
    })
  })

const paymentsOf = (context: AccountContext, type: keyof Purchases, row: Entry): ReadonlyArray<Payment> => {
  const index = row.source as number
  const random = new Random(context.seed, streams.transaction + (type === "order" ? 3000 : 4000), index)
  const payment = (status: string, share: Payment["share"] = "all"): Payment => ({ type, row, status, share })
  switch (type === "order" ? orderState(context, index).paymentStatus : invoiceStatus(context, index)) {
    case "paid":
      return [
        ...(random.chance(0.1) ? [payment("failed")] : []),
        ...(random.chance(0.15)
          ? [payment("succeeded", "first"), payment("succeeded", "rest")]
          : [payment("succeeded")])
      ]
    case "partially_paid":
      return [payment("succeeded", "first")]
    case "refunded":
      return [payment("refunded")]
    case "payment_processing":
      return [payment("pending")]
    case "disputed":
      return [payment("in_dispute")]
    case "unpaid":
    case "sent":
      return random.chance(0.3) ? [payment(random.pick(["failed", "failed", "pending", "in_dispute"]))] : []
    default:
      return []
  }
}

/** Days until the payment: 0 for an order, up to 19 for an invoice, and 10 more for the rest. */
const daysAfter = ({ settings }: AccountContext, { share, type }: Payment, index: number): number =>
  (type === "order" ? 0 : index % (settings.busyYear ? 4 : 20)) + (share === "rest" ? 10 : 0)

const dayMs = 86_400_000
const monthMs = 30 * dayMs

const transaction = (
  context: AccountContext,
  { entry, id, index, random }: Draw,
  payment: Payment,
  owners: Owners,
  { invoices, orders, subscriptions }: Sources,
  subscriptionId: string | undefined
): Data => {
  const { row, status, type } = payment
  const isOrder = type === "order"
  const paid = (isOrder ? orders : invoices).data(row)
  const amount =
    payment.renewal === undefined
      ? amountOfShare(isOrder ? orderAmount(paid) : invoiceAmount(paid), payment.share)
      : (subscriptions.data(payment.renewal.subscription)["amount"] as number)
  const owner = owners.buyerOf(payment)
  const provider = random.pick(["stripe", "paypal", "manual"])
  const maybe = <T>(share: number, value: T): T | undefined => (random.chance(share) ? value : undefined)
  return {
    _id: id,
    altId: context.locationId,
    altType: "location",
    contactId: owner.id,
    contactName: maybe(0.9, owner.name),
    contactEmail: maybe(0.8, owner.email),
    currency: paid["currency"],
    amount,
    status,
    liveMode: paid["liveMode"],
    entityType: type,
    entityId: row.id,
    entitySource: {
      ...(isOrder ? (paid["source"] as Data) : { type, id: row.id, name: paid["name"] }),
      subType: maybe(0.4, random.pick(["two_step_order_form", "upsell", "card_payment"]))
    },
    paymentProvider: { type: provider, connectedAccount: maybe(0.3, { _id: random.hexId(0), accountId: "acct_1" }) },
    paymentMethod: maybe(0.8, random.pick(["card", "cash", "cheque", "bank_transfer"])),
    fulfilledAt: status === "succeeded" ? iso(entry.updated) : undefined,
    amountRefunded: status === "refunded" ? amount : 0,
    subscriptionId,
    chargeId: provider === "manual" ? undefined : `ch_${random.id()}`,
    chargeSnapshot: maybe(0.3, { id: `ch_${random.id()}`, outcome: { risk_score: random.int(99) }, captured: true }),
    ipAddress: maybe(0.3, `203.0.113.${random.int(255)}`),
    createdBy: maybe(0.2, index % 2 === 0 ? { source: "user", id: context.userIds[0] } : context.userIds[0]),
    invoiceId: isOrder ? undefined : row.id,
    receiptId: maybe(0.3, `RCP-${index}`),
    contactSnapshot: maybe(0.8, { id: owner.id, firstName: owner.firstName, email: owner.email }),
    markAsTest: maybe(0.05, true),
    isParent: maybe(0.2, random.chance(0.5)),
    traceId: maybe(0.3, random.id()),
    mergedFromContactId: maybe(0.02, random.id()),
    createdAt: iso(entry.created),
    updatedAt: iso(entry.updated)
  }
}

/** The amount to pay, from members that the malformed variant does not change. */
const orderAmount = ({ amountSummary }: Data): number => {
  const { discount, subtotal } = amountSummary as Record<"discount" | "subtotal", number>
  return cents(subtotal - discount)
}

const invoiceAmount = ({ discount, invoiceItems }: Data): number =>
  totalOf(invoiceItems as ReadonlyArray<Data>, discount as Data)

/** The amount of a payment. The `amountPaid` of a partially paid invoice is the same third (B 2.3). */
const amountOfShare = (amount: number, share: Payment["share"]): number => {
  const first = cents(amount / 3)
  return share === "all" ? amount : share === "first" ? first : cents(amount - first)
}

const flatTransaction = (data: Data): Data => {
  const [source, provider] = [(data["entitySource"] ?? {}) as Data, (data["paymentProvider"] ?? {}) as Data]
  const flat = { entitySourceType: source["type"], entitySourceName: source["name"] }
  return { ...unnested(data), ...flat, entitySourceSubType: source["subType"], paymentProviderType: provider["type"] }
}

const unnested = without("entitySource", "paymentProvider")

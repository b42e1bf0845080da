import { iso } from "../../account/clock.ts"
import { Collection, type Data, type Entry, entry, without } from "../../account/collection.ts"
import { withMalformedValues, malformFields } from "../../account/malformed.ts"
import { person } from "../../account/people.ts"
import { Random, streams } from "../../account/random.ts"
import { creationTime, ownerOf, type AccountContext } from "../../account/context.ts"

/** A price of a product, as orders copy it. */
export interface PricedProduct {
  readonly productId: string
  readonly priceId: string
  readonly name: string
  readonly amount: number
}

/** Orders (B 2.4): flat in lists, nested in a single read. */
export const createOrders = (
  context: AccountContext,
  contacts: Collection,
  pricedProducts: () => ReadonlyArray<PricedProduct>
): Collection => {
  const owners = [...contacts.live()]
  const orders = new Collection({
    build: withMalformedValues(
      context,
      (entry) => {
        const owner = owners[ownerOf(context, streams.order, entry.source as number, owners.length)]!
        return order(context, entry, owner, pricedProducts())
      },
      malformFields({ instants: "createdAt updatedAt", flags: "liveMode", money: "amount", texts: "contactName" })
    ),
    list: flat
  })
  const { orders: count } = context.settings
  for (let index = 0; index < count && owners.length > 0; index++) {
    const random = new Random(context.seed, streams.order, index)
    const created = creationTime(context, streams.order, index, count)
    const updated = random.chance(0.5) ? created : Math.min(context.end, created + random.int(20 * 86_400_000))
    const parent = owners[ownerOf(context, streams.order, index, owners.length)]!.id
    orders.add(entry({ id: random.hexId(created), parent, created, updated, source: index }))
  }
  return orders
}

/**
 * The statuses of payment and fulfillment of an order. They are drawn separately, so that transactions and fulfillments can
 * depend on them without building the order.
 */
export const orderState = (context: AccountContext, index: number) => {
  const random = new Random(context.seed, streams.order + 3000, index)
  return {
    paymentStatus: random.pick(["paid", "paid", "unpaid", "partially_paid", "refunded"]),
    fulfillmentStatus: random.pick(["unfulfilled", "unfulfilled", "fulfilled", "partially_fulfilled"])
  }
}

const order = (
  context: AccountContext,
  entry: Entry,
  owner: Entry,
  pricedProducts: ReadonlyArray<PricedProduct>
): Data => {
  const random = new Random(context.seed, streams.order + 500, entry.source as number)
  const who = person(context.seed, owner.source as number)
  const { fulfillmentStatus, paymentStatus } = orderState(context, entry.source as number)
  // A partially fulfilled order needs at least two items.
  const minItems = fulfillmentStatus === "partially_fulfilled" ? 2 : 1
  const items = Array.from({ length: random.between(minItems, 4) }, () => item(random, pricedProducts))
  const subtotal = cents(items.reduce((sum, { price, qty }) => sum + price.amount * qty, 0))
  const discount = random.chance(0.2) ? cents(subtotal / 10) : 0
  const currency = random.chance(0.95) || context.settings.busyYear ? "USD" : "CAD"
  return {
    _id: entry.id,
    altId: context.locationId,
    altType: "location",
    contactId: owner.id,
    contactName: who.name,
    currency,
    amount: cents(subtotal - discount),
    amountSummary: { subtotal, discount },
    status: random.chance(0.01) ? "awaiting_pickup" : statusOf(random, paymentStatus),
    paymentStatus,
    liveMode: random.chance(0.97),
    fulfillmentStatus,
    source: { type: random.pick(["funnel", "invoice", "website", "manual"]), id: random.id(), name: "Online shop" },
    items: items.map(({ price, ...item }) => ({ ...item, price: { ...price, currency } })),
    ...(discount > 0 && { coupon: { _id: random.hexId(entry.created), code: "SPRING10", discountType: "percentage" } }),
    contactSnapshot: { id: owner.id, firstName: who.firstName, lastName: who.lastName, email: who.email },
    trackingId: random.chance(0.3) ? random.id() : undefined,
    createdAt: iso(entry.created),
    updatedAt: iso(entry.updated)
  }
}

const statusOf = (random: Random, paymentStatus: string): string =>
  paymentStatus === "refunded" ? "refunded" : random.pick(["completed", "completed", "pending"])

const item = (random: Random, pricedProducts: ReadonlyArray<PricedProduct>) => {
  const { amount, name, priceId, productId } = random.pick(pricedProducts)
  const product = { _id: productId, name }
  const price = { _id: priceId, name, amount }
  return { _id: random.hexId(0), name, qty: random.between(1, 6), product, price }
}

const flat = (data: Data): Data => {
  const { amountSummary, source } = data
  const { subtotal, discount } = amountSummary as Data
  const { id: sourceId, name: sourceName, type: sourceType } = source as Data
  return { ...shortened(data), subtotal, discount, sourceType, sourceName, sourceId }
}

const shortened = without("amountSummary", "source", "items", "coupon", "contactSnapshot", "trackingId")

const cents = (amount: number): number => Math.round(amount * 100) / 100

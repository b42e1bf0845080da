import { iso } from "../../clock.ts"
import { type Collection, type Data, type Entry, without } from "../../world/collection.ts"
import { projects } from "../../world/names.ts"
import { ownerOf, type Setting } from "../../world/setting.ts"
import { messageText, noteText } from "../../world/texts.ts"
import { type Draw, type Owners, cents, dayOf, rowsOf, seeded, streams } from "./seeded.ts"

/** Transactions (B 2.4): of an order or of an invoice, flat in lists, nested alone. */
export const createTransactions = (
  setting: Setting,
  owners: Owners,
  orders: ReadonlyArray<Entry>,
  invoices: Collection
): Collection => {
  const bills = rowsOf(invoices)
  return seeded(setting, {
    stream: streams.transaction,
    count: owners.share(0.35),
    build: (draw) => {
      const sold = draw.random.chance(0.7) ? orders : bills
      const of = sold[ownerOf(setting, streams.transaction, draw.index, sold.length)]
      return transaction(setting, draw, owners, of?.id ?? undefined, sold === orders)
    },
    list: flatTransaction,
    spoil: {
      instants: "createdAt updatedAt fulfilledAt",
      money: "amount amountRefunded",
      flags: "liveMode markAsTest isParent",
      texts: "contactName contactEmail chargeId status"
    },
    strays: true
  })
}

const transaction = (
  setting: Setting,
  { entry, id, index, random }: Draw,
  owners: Owners,
  entityId: string | undefined,
  isOrder: boolean
): Data => {
  const owner = owners.of(streams.transaction, index)
  const amount = cents(random.between(500, 900_000) / 100)
  const status = random.chance(0.01)
    ? "in_dispute"
    : random.pick(["succeeded", "succeeded", "failed", "pending", "refunded"])
  const provider = random.pick(["stripe", "paypal", "manual"])
  const maybe = <T>(share: number, value: T): T | undefined => (random.chance(share) ? value : undefined)
  return {
    _id: id,
    altId: setting.locationId,
    altType: "location",
    contactId: owner.id,
    contactName: maybe(0.9, owner.name),
    contactEmail: maybe(0.8, owner.email),
    currency: maybe(0.95, "USD") ?? "CAD",
    amount,
    status,
    liveMode: random.chance(0.97),
    entityType: isOrder ? "order" : "invoice",
    entityId,
    entitySource: {
      type: isOrder ? random.pick(["funnel", "website", "manual"]) : "invoice",
      subType: maybe(0.4, random.pick(["two_step_order_form", "upsell", "card_payment"])),
      id: random.id(),
      name: maybe(0.9, random.pick(projects))
    },
    paymentProvider: { type: provider, connectedAccount: maybe(0.3, { _id: random.hexId(0), accountId: "acct_1" }) },
    paymentMethod: maybe(0.8, random.pick(["card", "cash", "cheque", "bank_transfer"])),
    fulfilledAt: status === "succeeded" ? iso(entry.updated) : undefined,
    amountRefunded: status === "refunded" ? amount : 0,
    subscriptionId: maybe(0.1, random.hexId(entry.created)),
    chargeId: provider === "manual" ? undefined : `ch_${random.id()}`,
    chargeSnapshot: maybe(0.3, { id: `ch_${random.id()}`, outcome: { risk_score: random.int(99) }, captured: true }),
    ipAddress: maybe(0.3, `203.0.113.${random.int(255)}`),
    createdBy: maybe(0.2, { source: "user", id: setting.userIds[0] }),
    invoiceId: isOrder ? undefined : entityId,
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

export const flatTransaction = (data: Data): Data => {
  const [source, provider] = [(data["entitySource"] ?? {}) as Data, (data["paymentProvider"] ?? {}) as Data]
  const flat = { entitySourceType: source["type"], entitySourceName: source["name"] }
  return { ...unnested(data), ...flat, entitySourceSubType: source["subType"], paymentProviderType: provider["type"] }
}

const unnested = without("entitySource", "paymentProvider")

/** Fulfillments of about a third of the orders, and notes on some. */
export const createFulfillments = (setting: Setting, orders: Collection, rows: ReadonlyArray<Entry>): Collection => {
  const chosen = rows.filter((_, index) => index % 3 === 0)
  return seeded(setting, {
    stream: streams.fulfillment,
    count: chosen.length,
    parent: (index) => chosen[index]!.id,
    build: ({ entry, id, index, random }) => {
      const order = orders.shapes.build(chosen[index]!)
      const items = (order["items"] as ReadonlyArray<Data>).slice(0, random.between(1, 3))
      const number = `1Z${random.int(1_000_000_000)}`
      return {
        _id: id,
        altId: setting.locationId,
        altType: "location",
        trackings: [
          {
            trackingNumber: number,
            shippingCarrier: random.pick(["UPS", "DHL", "La Poste"]),
            trackingUrl: random.chance(0.7) ? `https://track.example/${number}` : undefined
          }
        ],
        items: items.map((item) => ({ ...item, _id: random.hexId(0) })),
        createdAt: iso(entry.created),
        updatedAt: iso(entry.updated)
      }
    },
    spoil: { instants: "createdAt updatedAt" }
  })
}

export const createOrderNotes = (setting: Setting, rows: ReadonlyArray<Entry>): Collection => {
  const chosen = rows.filter((_, index) => index % 5 < 2)
  return seeded(setting, {
    stream: streams.orderNote,
    count: chosen.length,
    parent: (index) => chosen[index]!.id,
    build: ({ entry, id, index, random }) => ({
      _id: id,
      orderId: chosen[index]!.id,
      note: noteText(random),
      userId: random.chance(0.7) ? setting.userIds[random.int(setting.userIds.length)] : undefined,
      createdAt: iso(entry.created)
    }),
    spoil: { instants: "createdAt", texts: "note" }
  })
}

/** Coupons (B 2.4). Their status follows from their days at the end of history, or when they are written. */
export const createCoupons = (setting: Setting, owners: Owners, products: Collection): Collection => {
  const productIds = rowsOf(products).map((row) => row.id!)
  return seeded(setting, {
    stream: streams.coupon,
    count: owners.share(0.01, 35),
    build: ({ entry, id, index, random }) => {
      const isPercentage = random.chance(0.6)
      const starts = entry.created + random.between(-10, 60) * 86_400_000
      const endDate = random.chance(0.7) ? dayOf(starts + random.between(5, 400) * 86_400_000) : undefined
      const recurs = random.chance(0.3)
      return {
        _id: id,
        altId: setting.locationId,
        altType: "location",
        name: random.pick(["Spring offer", "Friends & family", "Été -10 %", messageText(random)]),
        code: `${random.pick(["SPRING", "DECK", "MERCI", "=HP", "GRÜN"])}${index}`,
        discountType: isPercentage ? "percentage" : "amount",
        discountValue: isPercentage ? random.pick([5, 10, 12.5, 100]) : random.between(100, 20_000) / 100,
        status: couponStatus(dayOf(starts), endDate, setting.end),
        startDate: dayOf(starts),
        endDate,
        usageCount: random.int(40),
        usageLimit: random.chance(0.4) ? random.between(40, 200) : undefined,
        limitPerCustomer: random.chance(0.4) ? 1 : undefined,
        applyToFuturePayments: recurs,
        applyToFuturePaymentsConfig: recurs
          ? random.pick([{ type: "forever" }, { type: "fixed", duration: 3, durationType: "months" }])
          : undefined,
        productIds: random.chance(0.3) ? random.some(productIds, 4, 0.8) : undefined,
        priceIds: random.chance(0.1) ? [random.hexId(0)] : undefined,
        variantIds: random.chance(0.1) ? [random.id()] : undefined,
        createdAt: iso(entry.created),
        updatedAt: iso(entry.updated)
      }
    },
    spoil: { instants: "createdAt updatedAt", money: "discountValue", flags: "applyToFuturePayments", texts: "name" }
  })
}

/** Days, or instants, are compared as instants; the end is taken in whole. */
export const couponStatus = (startDate: string, endDate: string | undefined, now: number): string => {
  if (Date.parse(startDate) > now) return "scheduled"
  const wholeDay = endDate?.length === 10 ? 86_400_000 : 0
  return endDate !== undefined && Date.parse(endDate) + wholeDay <= now ? "expired" : "active"
}

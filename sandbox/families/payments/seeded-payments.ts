import { iso } from "../../account/clock.ts"
import type { Collection, Data, Entry } from "../../account/collection.ts"
import { orderState } from "./seeded-orders.ts"
import type { AccountContext } from "../../account/context.ts"
import { messageText, noteText } from "../../account/texts.ts"
import { type Owners, dayOf, rowsOf, seeded, streams } from "../../account/seeded.ts"

/** One fulfillment for every fulfilled or partially fulfilled order, some days after the order. */
export const createFulfillments = (
  context: AccountContext,
  orders: Collection,
  rows: ReadonlyArray<Entry>
): Collection => {
  const sent = (row: Entry): string => orderState(context, row.source as number).fulfillmentStatus
  const chosen = rows.filter((row) => sent(row) !== "unfulfilled")
  return seeded(context, {
    stream: streams.fulfillment,
    count: chosen.length,
    parent: (index) => chosen[index]!.id,
    created: (index) => Math.min(context.end, chosen[index]!.created + (index % 5) * 86_400_000),
    build: ({ entry, id, index, random }) => {
      const all = orders.data(chosen[index]!)["items"] as ReadonlyArray<Data>
      const items = sent(chosen[index]!) === "fulfilled" ? all : all.slice(0, random.between(1, all.length - 1))
      const number = `1Z${random.int(1_000_000_000)}`
      return {
        _id: id,
        altId: context.locationId,
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
    malform: { instants: "createdAt updatedAt" }
  })
}

export const createOrderNotes = (context: AccountContext, rows: ReadonlyArray<Entry>): Collection => {
  const chosen = rows.filter((_, index) => index % 5 < 2)
  return seeded(context, {
    stream: streams.orderNote,
    count: chosen.length,
    parent: (index) => chosen[index]!.id,
    build: ({ entry, id, index, random }) => ({
      _id: id,
      orderId: chosen[index]!.id,
      note: noteText(random),
      userId: random.chance(0.7) ? context.userIds[random.int(context.userIds.length)] : undefined,
      createdAt: iso(entry.created)
    }),
    malform: { instants: "createdAt", texts: "note" }
  })
}

/** Coupons (B 2.4). Their status is that at the end of the history, or at the time of the last write. */
export const createCoupons = (
  context: AccountContext,
  owners: Owners,
  { prices, products }: Record<"prices" | "products", Collection>
): Collection => {
  const idsOf = (rows: Collection) => rowsOf(rows).map((row) => row.id!)
  const [priceIds, productIds] = [idsOf(prices), idsOf(products)]
  return seeded(context, {
    stream: streams.coupon,
    count: owners.share(0.01, 35),
    build: ({ entry, id, index, random }) => {
      const isPercentage = random.chance(0.6)
      const starts = entry.created + random.between(-10, 60) * 86_400_000
      const endDate = random.chance(0.7) ? dayOf(starts + random.between(5, 400) * 86_400_000) : undefined
      const recurs = random.chance(0.3)
      return {
        _id: id,
        altId: context.locationId,
        altType: "location",
        name: random.pick(["Spring offer", "Friends & family", "Été -10 %", messageText(random)]),
        code: `${random.pick(["SPRING", "DECK", "MERCI", "=HP", "GRÜN"])}${index}`,
        discountType: isPercentage ? "percentage" : "amount",
        discountValue: isPercentage ? random.pick([5, 10, 12.5, 100]) : random.between(100, 20_000) / 100,
        status: couponStatus(dayOf(starts), endDate, context.end),
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
        priceIds: random.chance(0.1) && priceIds.length > 0 ? [random.pick(priceIds)] : undefined,
        variantIds: random.chance(0.1) ? [random.id()] : undefined,
        createdAt: iso(entry.created),
        updatedAt: iso(entry.updated)
      }
    },
    malform: { instants: "createdAt updatedAt", money: "discountValue", flags: "applyToFuturePayments", texts: "name" }
  })
}

/** The status of a coupon by its start and end, which may be days or timestamps; the day of the end is included. */
export const couponStatus = (startDate: string, endDate: string | undefined, now: number): string => {
  if (Date.parse(startDate) > now) return "scheduled"
  const wholeDay = endDate?.length === 10 ? 86_400_000 : 0
  return endDate !== undefined && Date.parse(endDate) + wholeDay <= now ? "expired" : "active"
}

import { iso } from "../../account/clock.ts"
import { type Collection, type Data, type Entry, without } from "../../account/collection.ts"
import { projects } from "../../account/names.ts"
import { Random } from "../../account/random.ts"
import type { AccountContext } from "../../account/context.ts"
import { type Draw, type Owners, cents, dayOf, seeded, streams } from "../../account/seeded.ts"

/** Subscriptions (B 2.4): flat in lists, nested in a single read. No operation creates them; checkouts do. */
export const createSubscriptions = (context: AccountContext, owners: Owners, purchases: Purchases): Collection =>
  seeded(context, {
    stream: streams.subscription,
    count: owners.rows.length === 0 ? 0 : context.settings.subscriptions,
    created: (index) => boughtWith(context, index, purchases)?.row.created,
    build: (draw) => subscription(context, draw, owners, boughtWith(context, draw.index, purchases)),
    list: flatSubscription,
    malform: {
      instants: "createdAt updatedAt canceledAt",
      money: "amount",
      flags: "liveMode markAsTest autoPayment",
      texts: "contactName ipAddress"
    },
    orphans: true
  })

/** The initial orders and invoices. */
export interface Purchases {
  readonly order: ReadonlyArray<Entry>
  readonly invoice: ReadonlyArray<Entry>
}

/** The order or invoice of a subscription, if it has one. */
export const boughtWith = (
  context: AccountContext,
  index: number,
  purchases: Purchases
): { readonly type: keyof Purchases; readonly row: Entry } | undefined => {
  const random = new Random(context.seed, streams.subscription + 3000, index)
  const type = random.pick(["order", "invoice"] as const)
  return random.chance(0.9) && purchases[type].length > 0 ? { type, row: random.pick(purchases[type]) } : undefined
}

/** A subscription without the members that only a single read returns. */
const unnested = without(
  ..."entitySource schedule canceledAt canceledBy paymentProvider coupon recurringProduct autoPayment".split(" "),
  ..."contactSnapshot meta markAsTest traceId".split(" ")
)

const flatSubscription = (data: Data): Data => {
  const [source, provider] = [(data["entitySource"] ?? {}) as Data, (data["paymentProvider"] ?? {}) as Data]
  return {
    ...unnested(data),
    entitySourceType: source["type"],
    entitySourceName: source["name"],
    paymentProviderType: provider["type"]
  }
}

const subscription = (
  context: AccountContext,
  { entry, id, index, random }: Draw,
  owners: Owners,
  bought: ReturnType<typeof boughtWith>
): Data => {
  const owner = bought === undefined ? owners.of(streams.subscription, index) : owners.buyerOf(bought)
  const maybe = <T>(share: number, value: T): T | undefined => (random.chance(share) ? value : undefined)
  const state = random.pick(["active", "active", "canceled", "past_due", "trialing"])
  const sourceId = random.id()
  const type = random.chance(0.03) ? random.pick(["kiosk", "voice_ai"]) : random.pick(sourceTypes)
  return {
    _id: id,
    altId: context.locationId,
    altType: "location",
    contactId: owner.id,
    contactName: owner.name,
    contactEmail: owner.email,
    currency: "USD",
    amount: cents(random.between(900, 90_000) / 100),
    liveMode: random.chance(0.97),
    // The documents show an object; the live service was observed to send a text.
    status: context.malformed && index % 3 === 0 ? state : { type: state, since: iso(entry.updated) },
    entityType: bought?.type,
    entityId: bought?.row.id,
    entitySourceId: maybe(0.8, sourceId),
    entitySourceMeta: maybe(0.2, { stepId: random.id(), pageId: random.id() }),
    entitySource: { type, subType: maybe(0.6, random.pick(subTypes)), id: sourceId, name: random.pick(projects) },
    paymentProvider: { type: random.pick(["stripe", "paypal", "nmi_gateway_9"]) },
    paymentProviderConnectedAccount: maybe(0.5, random.id()),
    subscriptionId: maybe(0.9, `sub_${random.id()}`),
    subscriptionSnapshot: maybe(0.7, { id: `sub_${random.id()}`, status: state, items: [{ quantity: 1 }] }),
    schedule: maybe(0.8, schedule(random, entry.created, context.settings.busyYear)),
    canceledAt: state === "canceled" ? iso(entry.updated) : undefined,
    canceledBy: state === "canceled" ? maybe(0.7, random.pick(context.userIds.slice(0, 3))) : undefined,
    coupon: maybe(0.1, { code: "SPRING10", discountType: "percentage" }),
    recurringProduct: maybe(0.6, { name: random.pick(projects), qty: 1 }),
    autoPayment: maybe(0.3, true),
    contactSnapshot: { id: owner.id, firstName: owner.firstName, email: owner.email },
    meta: maybe(0.3, { note: "=migrated", "utm source": "été" }),
    markAsTest: maybe(0.05, true),
    ipAddress: maybe(0.4, `198.51.100.${random.int(255)}`),
    createdBy: maybe(0.2, index % 2 === 0 ? { source: "user", sourceId: context.userIds[0] } : context.userIds[0]),
    traceId: maybe(0.4, random.id()),
    createdAt: iso(entry.created),
    updatedAt: iso(entry.updated)
  }
}

const schedule = (random: Random, created: number, isMonthly: boolean): Data => ({
  executeAt: random.chance(0.5) ? iso(created) : undefined,
  rrule: {
    intervalType: random.pick(isMonthly ? ["monthly"] : intervals),
    interval: random.between(1, isMonthly ? 1 : 3),
    startDate: dayOf(created),
    ...(random.chance(0.5) && { startTime: "09:00:00" }),
    ...(random.chance(0.2) && { endDate: dayOf(created + 700 * 86_400_000), endTime: "18:30:00" }),
    ...(random.chance(0.5) && { dayOfMonth: random.pick([-1, 1, 15, 28]) }),
    ...(random.chance(0.3) && { dayOfWeek: random.pick(["mo", "fr", "su"]), numOfWeek: random.pick([-1, 1, 2, 3, 4]) }),
    ...(random.chance(0.1) && { monthOfYear: random.pick(["jan", "jun", "dec"]) }),
    ...(random.chance(0.2) && { count: 12 }),
    ...(random.chance(0.2) && { daysBefore: 3 })
  }
})

const intervals = "yearly monthly weekly daily hourly minutely secondly monthly monthly".split(" ")

const sourceTypes = (
  "funnel website invoice calendar text2Pay document_contracts membership mobile_app communities point_of_sale manual " +
  "form survey payment_link external"
).split(" ")

const subTypes = (
  "one_step_order_form two_step_order_form upsell tap_to_pay card_payment store contact_view email_campaign " +
  "payments_dashboard subscription_view store_upsell service meeting imported_csv qr_code saas_subscription"
).split(" ")

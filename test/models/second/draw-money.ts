/** Draws invoices, orders, payments and subscriptions of every state. */
import { type Tools, currencies, day, hour } from "./tools.ts"

export const drawMoney = ({
  add,
  amount,
  below,
  chance,
  currency,
  date,
  end,
  ids,
  instant,
  link,
  maybe,
  moment,
  nights,
  pick,
  state,
  time
}: Tools): void => {
  const lines = (product: string) => pick([[], [product], [product, "g9"]])
  for (const id of ids("i", below(5))) {
    const due = chance(0.6) ? end - pick([-1, 0, 1, 29, 30, 31, 59, 60, 61]) * day : moment(120)
    add(
      "invoices",
      {
        _id: id,
        name: `Invoice ${id}`,
        invoiceNumber: maybe(`00${id}`),
        contactId: link("c"),
        currency: currency(),
        status: state("invoice", "sent sent paid disputed"),
        total: amount(),
        amountPaid: amount(),
        amountDue: amount(),
        issueDate: maybe(date(due - 20 * day)),
        dueDate: maybe(date(due)),
        liveMode: pick([true, true, false, undefined]),
        createdAt: time(),
        invoiceItems: lines(`g${below(3)}`).map((productId) => ({
          name: `Line of ${productId}`,
          productId,
          priceId: maybe("pr1"),
          currency: currency(),
          amount: amount(),
          qty: pick([0, 1, 3, 2.5, undefined])
        }))
      },
      { status: pick(["paid", "void", "sent"]), amountDue: pick([0, 50]) }
    )
  }
  for (const id of ids("r", below(5)))
    add(
      "orders",
      {
        _id: id,
        contactId: link("c"),
        currency: currency(),
        amount: amount(),
        status: pick(["completed", "pending", "refunded", "odd", undefined]),
        paymentStatus: maybe(state("order", "paid unpaid disputed")),
        liveMode: pick([true, true, false, undefined]),
        createdAt: time(),
        updatedAt: instant(nights[0]! - day),
        items: lines(`g${below(3)}`).map((product) => ({
          name: maybe(`Line of ${product}`),
          currency: maybe(pick(currencies), 0.3),
          product: { _id: product, name: maybe(`Sold ${product}`) },
          price: { _id: "pr1", amount: amount(), currency: undefined },
          qty: pick([1, 3, 2.5, undefined])
        }))
      },
      { paymentStatus: "refunded", updatedAt: instant(nights[1]! - hour) }
    )
  const refunds = [undefined, 0, 30, 100, 19.99, 250]
  for (const id of ids("t", below(7)))
    add(
      "transactions",
      {
        _id: id,
        contactId: link("c"),
        invoiceId: maybe(`i${below(4)}`, 0.3),
        subscriptionId: maybe(`b${below(4)}`, 0.3),
        currency: currency(),
        amount: amount(),
        amountRefunded: pick(refunds),
        status: maybe(state("payment", "succeeded succeeded refunded odd"), 0.95),
        liveMode: pick([true, true, true, false, undefined]),
        markAsTest: pick([undefined, undefined, false, true]),
        entityType: pick(["order", "invoice"]),
        entitySourceType: maybe("funnel", 0.4),
        entitySourceName: maybe("Shop", 0.4),
        paymentProviderType: maybe("stripe"),
        paymentMethod: maybe("card"),
        createdAt: time(),
        updatedAt: instant(nights[0]! - day)
      },
      {
        status: pick(["refunded", "partially_refunded", "succeeded", "disputed", "failed", "odd"]),
        amountRefunded: pick(refunds),
        updatedAt: maybe(instant(nights[1]! - hour))
      }
    )
  for (const id of ids("b", below(5))) {
    const created = moment(200)
    const interval = pick(["yearly", "monthly", "monthly", "weekly", "daily", "hourly"])
    const ended = pick([created + 40 * day, created - day, end + 9 * day, Date.UTC(9999, 11, 31), Date.UTC(1, 0, 2)])
    add(
      "subscriptions",
      {
        _id: id,
        contactId: link("c"),
        currency: currency(),
        amount: amount(),
        status: chance(0.85)
          ? state("subscription", "active active trialing canceled odd")
          : pick([undefined, "", { type: "active" }]),
        liveMode: pick([true, true, true, false, undefined]),
        markAsTest: pick([undefined, undefined, undefined, true]),
        schedule: maybe({
          rrule: {
            intervalType: interval,
            interval: pick([1, 1, 2, 3, 0, undefined]),
            endDate: maybe(date(end - 30 * day), 0.2)
          }
        }),
        canceledAt: chance(0.3) ? instant(ended) : undefined,
        createdAt: chance(0.9) ? instant(created) : pick([undefined, instant(Date.UTC(1970, 0, 1))]),
        updatedAt: instant(nights[0]! - day)
      },
      {
        status: pick(["canceled", "active", "canceled", "past_due"]),
        canceledAt: pick([undefined, instant(moment(15))]),
        updatedAt: instant(nights[1]! - hour)
      }
    )
  }
}

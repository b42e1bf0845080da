/** What the figures leave out, counted by the records of the service. */
import { statusOf } from "./further.ts"
import { isInvoiceLive, isLive, orderLine, subscriptionMonth } from "./money.ts"
import { type Expected, type Place, codeOf, isOneOf } from "./place.ts"
import { countsAs } from "./states.ts"

/** What no list of states knows, with its amount in each currency. */
export const unknownState = (place: Place): ReadonlyArray<Expected> => {
  const { currency, list } = place
  const of = (
    fact: string,
    thing: string,
    all: ReadonlyArray<readonly [state: string | undefined, currency?: string | undefined, amount?: number | undefined]>
  ) =>
    [
      ...Map.groupBy(
        all.filter(([state]) => countsAs(thing, state) === undefined),
        ([state, code]) => JSON.stringify([state, code])
      ).values()
    ].map((own) => {
      const amounts = own.flatMap(([, , amount]) => amount ?? [])
      return {
        fact,
        state: own[0]![0],
        currency: own[0]![1],
        records: own.length,
        amount: amounts.length === 0 ? undefined : amounts.reduce((one, other) => one + other, 0)
      }
    })
  const months = [
    ...Map.groupBy(
      subscriptionMonth(place).filter((row) => row["is_live"] && row["counts_as"] === undefined),
      (row) => JSON.stringify([row["subscription_id"], row["counted_status"]])
    ).values()
  ].map((own) => own.at(-1)!)
  const orders = list("orders")
    .filter(isInvoiceLive)
    .flatMap((sent) => orderLine({ ...place, list: (name) => (name === "orders" ? [sent] : list(name)) }))
  const lines = [...Map.groupBy(orders, (row) => JSON.stringify([row["order_id"], row["currency"]])).values()].map(
    (own) => {
      const amounts = own.flatMap((row) => (row["line_amount"] as number | undefined) ?? [])
      return [
        own[0]!["payment_status"] as string | undefined,
        own[0]!["currency"] as string | undefined,
        amounts.length === 0 ? undefined : amounts.reduce((one, other) => one + other, 0)
      ] as const
    }
  )
  const people = list("messages").filter(
    ({ messageType }) => !/^TYPE_(ACTIVITY|INTERNAL_COMMENT)/.test(messageType ?? "")
  )
  const tasks = list("tasks").filter(({ completed, deleted }) => deleted !== true && completed === undefined)
  return [
    ...of(
      "fct_payment",
      "payment",
      list("transactions")
        .filter(isLive)
        .map((sent) => [sent.status, codeOf(sent.currency), sent.amount])
    ),
    ...of(
      "fct_subscription_month",
      "subscription",
      months.map((row) => [
        row["counted_status"] as string | undefined,
        row["currency"] as string,
        row["price_per_month"] as number
      ])
    ),
    ...of(
      "fct_invoice",
      "invoice",
      list("invoices")
        .filter(isInvoiceLive)
        .map((sent) => [sent.status, codeOf(sent.currency), sent.amountDue])
    ),
    ...of("fct_order_line", "order", lines),
    ...of(
      "fct_opportunity",
      "opportunity",
      list("opportunities").map((sent) => [sent.status, currency, sent.monetaryValue])
    ),
    ...of(
      "fct_appointment",
      "appointment",
      list("appointments")
        .filter(({ deleted }) => deleted !== true)
        .map((sent) => [sent.appointmentStatus])
    ),
    ...of(
      "fct_call",
      "call",
      list("messages")
        .filter(({ messageType }) => isOneOf(messageType, "TYPE_CALL", "TYPE_CAMPAIGN_VOICEMAIL"))
        .map(({ meta }) => [meta?.call?.status])
    ),
    ...of(
      "fct_document",
      "document",
      list("documents")
        .filter(({ deleted }) => deleted !== true)
        .map((sent) => [statusOf(sent), codeOf(sent.grandTotal?.currency), sent.grandTotal?.amount])
    ),
    ...of(
      "fct_email",
      "email",
      list("emails")
        .filter(({ direction }) => direction === "outbound")
        .map(({ status }) => [status])
    ),
    ...of(
      "fct_message",
      "message",
      people.filter(({ direction }) => direction === "outbound").map(({ status }) => [status])
    ),
    ...(tasks.length === 0
      ? []
      : [{ fact: "fct_task", records: tasks.length, state: undefined, currency: undefined, amount: undefined }])
  ]
}

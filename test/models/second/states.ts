/** As what each state counts, by the decisions of the dictionary. */
const lists: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  payment: {
    received: "succeeded paid completed partially_refunded",
    returned: "refunded disputed",
    nothing: "pending processing failed canceled cancelled voided expired"
  },
  subscription: {
    recurring: "active past_due",
    trial: "trialing trial",
    nothing: "paused unpaid",
    ended: "canceled cancelled expired",
    "not begun": "incomplete incomplete_expired"
  },
  invoice: { draft: "draft", open: "sent partially_paid payment_processing", paid: "paid", void: "void" },
  order: { paid: "paid", "partly paid": "partially_paid", unpaid: "unpaid", refunded: "refunded" },
  opportunity: { open: "open", won: "won", lost: "lost", abandoned: "abandoned" },
  appointment: {
    booked: "new confirmed active",
    attended: "showed completed",
    missed: "noshow",
    cancelled: "cancelled invalid"
  },
  call: {
    answered: "completed answered",
    voicemail: "voicemail",
    "not answered": "busy no-answer failed canceled pending"
  },
  email: {
    sent: "sent delivered connected",
    opened: "read opened",
    failed: "undelivered failed",
    waiting: "pending scheduled"
  },
  message: {
    sent: "sent delivered connected read opened clicked completed answered voicemail",
    failed: "failed undelivered opt_out busy no-answer canceled",
    waiting: "pending scheduled"
  },
  document: { draft: "draft", open: "sent viewed", signed: "completed accepted" }
}

const facts: Readonly<Record<string, string>> = { order: "fct_order_line", subscription: "fct_subscription_month" }
/** The fact of each thing. */
export const factsOf = Object.keys(lists).map((thing) => [facts[thing] ?? `fct_${thing}`, thing] as const)
export const statesOf = (thing: string): ReadonlyArray<string> => Object.values(lists[thing]!).join(" ").split(" ")

/** `undefined` if the list of the thing does not know the state. */
export const countsAs = (thing: string, state: string | undefined): string | undefined =>
  Object.entries(lists[thing]!).find(([, states]) =>
    states.split(" ").includes(state?.trim().toLowerCase() ?? "-")
  )?.[0]

/** Draws accounts: every state, missing dates, refunds, deletions, records without a parent, the turn of a month and of a year. */
import { drawMoney } from "./draw-money.ts"
import { currencies, day, hour } from "./tools.ts"
import { randomFrom } from "../../support/random.ts"
import { statesOf } from "./states.ts"
import { type Reading, type Sent, type Timeline, type World, counted } from "./world.ts"

/** The end of the last night: near the turn of a year or month, a change of the clocks, or in the middle of a month. */
const ends = [
  "2026-01-01T00:30:00.000Z",
  "2025-12-31T23:50:00.000Z",
  "2026-03-01T04:10:00.000Z",
  "2026-03-08T07:30:00.000Z",
  "2026-11-01T05:45:00.000Z",
  "2026-07-15T12:00:00.000Z"
]
const zones = [
  "America/New_York",
  "America/Los_Angeles",
  "Europe/Berlin",
  "Asia/Kolkata",
  "Pacific/Kiritimati",
  "Pacific/Honolulu",
  "UTC",
  "Nowhere/Land",
  undefined
]

export const draw = (seed: number): World => {
  const random = randomFrom(seed)
  const below = (n: number) => Math.floor(random() * n)
  const pick = <A>(all: ReadonlyArray<A>): A => all[below(all.length)]!
  const chance = (share: number) => random() < share
  const maybe = <A>(value: A, share = 0.85): A | undefined => (chance(share) ? value : undefined)
  const end = Date.parse(pick(ends))
  // The last two may be of one day.
  const nights = [end - pick([75, 40]) * day, end - pick([20 * day, 8 * day, hour / 6]), end]

  /** A time before the end, often within a few hours of the beginning of a month or a year. */
  const moment = (from = 400): number => {
    const at = end - Math.floor(random() * from * day)
    if (chance(0.5)) return Math.floor(at / 1000) * 1000
    const date = new Date(at)
    const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
    return Math.min(first + (below(48) - 24) * hour + below(60) * 60_000, end)
  }
  const instant = (at: number) => new Date(at).toISOString()
  const date = (at: number) => instant(at).slice(0, 10)
  const time = (share = 0.9) => maybe(instant(moment()), share)
  const state = (thing: string, often: string) => {
    const known = pick(statesOf(thing))
    return chance(0.6) ? pick(often.split(" ")) : pick([known, known.toUpperCase(), ` ${known} `])
  }
  const amount = () => pick([0, 100, 19.99, -25.5, 1234.56, 0.07, undefined])
  const currency = () => pick(currencies)
  const ids = (prefix: string, n: number) => Array.from({ length: n }, (_, index) => `${prefix}${index}`)
  /** An id of these, or of one that does not exist. */
  const link = (prefix: string, n = 3) => maybe(`${prefix}${below(n + 1)}`)

  const records: Array<Timeline> = []
  /** Drawn after everything else, which stays as it is. */
  const further: Array<() => void> = []
  const locations = ids(`s${seed}-l`, pick([1, 2, 2]))
  for (const location of locations) {
    /** `changed`: what a later night has in its place. It may come late, go, and come back. */
    const add = (list: string, sent: Sent, changed?: Sent) => {
      const plain = JSON.parse(JSON.stringify(sent))
      const later = changed === undefined || chance(0.4) ? plain : JSON.parse(JSON.stringify({ ...sent, ...changed }))
      const [begun, turned] = [pick([0, 0, 0, 1, 2]), pick([1, 2])]
      const gone = chance(0.12) ? [pick([1, 2])] : chance(0.06) ? [1, 2] : []
      const again = "status" in plain && chance(0.3) ? { ...later, status: plain.status } : later
      const own = nights.map((_, night) =>
        night < begun || gone.includes(night) ? undefined : [plain, later, again][Math.max(0, night - turned + 1)]
      )
      records.push({ list, location, nights: own })
    }
    const always = (list: string, sent: Sent) => {
      const plain = JSON.parse(JSON.stringify(sent))
      records.push({ list, location, nights: nights.map(() => plain) })
    }
    const tools = {
      nights,
      end,
      below,
      pick,
      chance,
      maybe,
      moment,
      instant,
      date,
      time,
      state,
      amount,
      currency,
      ids,
      link,
      add
    }
    always("locations", {
      id: location,
      name: `Place ${location}`,
      timezone: pick(zones),
      currency: currency(),
      country: maybe("US")
    })
    for (const id of ids("u", 2))
      add(
        "users",
        {
          id,
          name: pick([`User ${id}`, "", undefined]),
          firstName: maybe("Una"),
          lastName: maybe("Lee"),
          email: maybe(`${id}@x.test`),
          roles: { type: "account", role: pick(["admin", "user"]) },
          deleted: pick([undefined, false, false, true])
        },
        { deleted: true }
      )
    for (const id of ids("p", 2))
      always("pipelines", {
        id,
        name: `Pipeline ${id}`,
        stages: ids("s", 2).map((stage, position) => ({
          id: stage,
          name: `Stage ${id} ${stage}`,
          position,
          stageWinProbability: pick([0, 50, undefined])
        }))
      })
    for (const id of ids("g", 2))
      add("products", {
        _id: id,
        name: maybe(`Product ${id}`),
        productType: pick(["DIGITAL", "SERVICE"]),
        availableInStore: pick([true, false, undefined]),
        createdAt: time(),
        updatedAt: instant(nights[0]! - day)
      })
    for (const id of ids("k", 2)) always("calendars", { id, name: `Calendar ${id}` })
    for (const id of ids("f", 2)) add("forms", { id, name: `Form ${id}` })
    const visit = () =>
      maybe(
        {
          sessionSource: pick(["Paid Search", "", undefined]),
          medium: "form",
          campaign: maybe("spring", 0.5),
          utmSource: pick(["google", "", undefined]),
          utmMedium: maybe("cpc", 0.3),
          utmCampaign: maybe("c1", 0.3),
          url: maybe("https://x.test/a", 0.5),
          referrer: maybe("https://y.test/", 0.5)
        },
        0.7
      )
    for (const id of ids("c", below(4)))
      add(
        "contacts",
        {
          id,
          firstName: pick(["Ann", "", undefined]),
          lastName: pick(["Roe", "", undefined]),
          name: pick([`Dr ${id}`, "", undefined]),
          email: maybe(`${id}@y.test`),
          phone: maybe("+15550100001", 0.5),
          companyName: maybe("Acme", 0.3),
          type: pick(["lead", "customer"]),
          source: pick(["Referral", "referral ", "", undefined]),
          assignedTo: link("u"),
          tags: pick([["vip", "a"], [], undefined]),
          city: maybe("Paris", 0.3),
          state: maybe("TX", 0.3),
          postalCode: maybe("75001", 0.3),
          country: maybe("FR", 0.3),
          dnd: pick([true, false, undefined]),
          dateAdded: time(),
          dateUpdated: instant(nights[0]! - day),
          attributionSource: visit(),
          lastAttributionSource: visit()
        },
        { type: "other", dateUpdated: instant(nights[1]! - hour), assignedTo: "u1" }
      )
    /** Of several records. */
    const met = time()
    for (const id of ["r0", "r1"]) add("lost_reasons", { id, name: maybe(`Reason ${id}`) })
    for (const id of ids("o", below(5))) {
      const stage = (at: number): Sent => ({
        status: maybe(state("opportunity", "open open won lost parked")),
        pipelineStageId: `s${below(3)}`,
        monetaryValue: amount(),
        updatedAt: instant(at),
        lastStatusChangeAt: maybe(instant(at - below(48) * hour)),
        lastStageChangeAt: maybe(instant(at - below(48) * hour))
      })
      add(
        "opportunities",
        {
          id,
          name: `Deal ${id}`,
          pipelineId: `p${below(2)}`,
          contactId: link("c"),
          assignedTo: link("u"),
          source: maybe("web", 0.5),
          lostReasonId: pick(["r0", "r1", "r2", undefined]),
          createdAt: pick([time(), met]),
          forecastExpectedCloseDate: maybe(date(end + day), 0.3),
          ...stage(nights[0]! - day)
        },
        stage(nights[1]! - hour)
      )
    }
    const messageTypes = ["TYPE_SMS", "TYPE_SMS", "TYPE_EMAIL", "TYPE_CALL", "TYPE_CAMPAIGN_VOICEMAIL"]
    const others = ["TYPE_ACTIVITY_CONTACT", "TYPE_INTERNAL_COMMENT", "TYPE_NEW", undefined]
    const asked = moment(60)
    for (const id of ids("m", below(9))) {
      const messageType = chance(0.75) ? pick(messageTypes) : pick(others)
      // Some at the same time, some on the next days, some on a weekend.
      const at = asked + pick([0, 0, 13, 60 * 7, 60 * 26, 60 * 49, 60 * 75]) * 60_000 + below(3) * 20_000
      const call = maybe(
        { duration: maybe(below(300)), status: state("call", "completed answered busy no-answer failed") },
        0.8
      )
      const voicemail = { ...call, status: pick(["voicemail", "canceled", "pending", "ringing", undefined]) }
      add(
        "messages",
        {
          id,
          conversationId: `v${below(2)}`,
          contactId: link("c"),
          messageType,
          direction: pick(["inbound", "outbound", "inbound", "outbound", undefined]),
          status: maybe(state("message", "delivered failed sent read lost")),
          source: pick(["app", "workflow", undefined]),
          userId: maybe(`u${below(3)}`, 0.5),
          dateAdded: maybe(instant(at)),
          dateUpdated: instant(nights[0]! - day),
          meta: /CALL|VOICE/.test(messageType ?? "") ? { call: chance(0.7) ? call : voicemail } : undefined
        },
        { status: "read", dateUpdated: instant(nights[1]! - hour) }
      )
    }
    for (const id of ids("e", below(4)))
      always("emails", {
        id,
        conversationId: "v0",
        contactId: link("c"),
        direction: pick(["inbound", "outbound", "outbound", undefined]),
        status: state("email", "sent read failed odd"),
        source: pick(["app", "campaign", undefined]),
        dateAdded: time()
      })
    for (const id of ids("a", below(5))) {
      const start = chance(0.3) ? end + pick([-30, 0, 0, 30]) * 60_000 : moment(90) + below(20) * day
      add(
        "appointments",
        {
          id,
          calendarId: `k${below(3)}`,
          contactId: link("c"),
          assignedUserId: link("u"),
          appointmentStatus: state("appointment", "confirmed showed noshow odd"),
          startTime: maybe(instant(start)),
          endTime: maybe(instant(start + pick([30, 45, 0]) * 60_000 + pick([0, 30_000]))),
          dateAdded: time(),
          createdBy: { source: maybe("booking_widget", 0.5) },
          deleted: pick([undefined, false, false, true]),
          dateUpdated: instant(nights[0]! - day)
        },
        { appointmentStatus: pick(["noshow", "showed", undefined]), dateUpdated: instant(nights[1]! - hour) }
      )
    }
    drawMoney(tools)
    for (const id of ids("n", below(3)))
      add("email_campaigns", {
        id,
        sourceId: id,
        name: `Campaign ${id}`,
        status: pick(["sent", "draft", "archived"]),
        campaignType: maybe("email"),
        source: maybe("builder"),
        subject: maybe("Hello"),
        fromEmail: maybe("a@b.test"),
        deleted: pick([undefined, false, true]),
        createdAt: time(),
        updatedAt: instant(nights[0]! - day)
      })
    for (const id of ids("q", below(4)))
      always("form_submissions", {
        id,
        formId: `f${below(3)}`,
        contactId: link("c"),
        createdAt: pick([time(), met]),
        others: {
          eventData: maybe({
            page: { url: "https://x.test/f" },
            medium: "form",
            source: maybe("Direct"),
            referrer: maybe("https://z.test/")
          })
        }
      })
    for (const id of ids("w", below(5)))
      add(
        "tasks",
        {
          id,
          contactId: link("c"),
          assignedTo: link("u"),
          dueDate: maybe(instant(chance(0.3) ? end + pick([-30, 0, 0, 30]) * 60_000 : moment(90))),
          completed: pick([true, false, undefined]),
          deleted: pick([undefined, false, true]),
          dateAdded: time(),
          dateUpdated: maybe(instant(nights[0]! - day))
        },
        { completed: true, dateUpdated: instant(nights[1]! - hour) }
      )
    further.push(() => {
      for (const list of ["email_campaign", "workflow_campaign", "bulk_email_campaign"])
        for (const sourceId of ids("n", below(4)))
          always(`${list}_statistics`, {
            source: list,
            sourceId,
            stats: Object.fromEntries(
              "sent delivered opened clicked replied unsubscribed complained permanentFail temporaryFail openRate"
                .split(" ")
                .map((name) => [name, maybe(below(400))])
            )
          })
      for (const list of ["workflow_campaigns", "bulk_email_campaigns"])
        for (const id of ids("n", below(3))) add(list, { id, name: maybe(`${list} ${id}`), sourceId: link("n") })
      for (const id of ids("va", 2)) add("voice_agents", { id, agentName: maybe(`Desk ${id}`) })
      for (const id of ids("vc", below(4)))
        add("voice_calls", {
          id,
          contactId: link("c"),
          agentId: `va${below(3)}`,
          trialCall: pick([true, false, undefined]),
          duration: maybe(below(900)),
          messageId: link("m"),
          createdAt: time()
        })
      for (const id of ids("d", below(5)))
        add(
          "documents",
          {
            _id: id,
            type: maybe("proposal"),
            status: pick([state("document", "sent completed odd"), undefined]),
            paymentStatus: maybe("paid"),
            deleted: pick([undefined, false, false, true]),
            isExpired: pick([true, false, undefined]),
            grandTotal: { amount: amount(), currency: currency() },
            recipients: ids("c", below(3)).map((one) => ({ id: one, signedDate: time() })),
            createdAt: time(),
            updatedAt: instant(nights[0]! - day)
          },
          { status: ["sent", "completed"], updatedAt: instant(nights[1]! - hour) }
        )
    })
  }
  const readings = nights.flatMap((at, night) =>
    locations.flatMap((location) =>
      ["contacts", "invoices", "tasks"].flatMap((list): ReadonlyArray<Reading> => {
        if (chance(0.3)) return []
        return [
          {
            night,
            location,
            list,
            status: pick(["complete", "incomplete"]),
            finishedAt: maybe(at - below(10) * 60_000),
            counts: Object.fromEntries(counted.map((name) => [name, below(9)])) as Reading["counts"],
            rounded: pick([[], [2], [1, 3]])
          }
        ]
      })
    )
  )
  for (const drawOne of further) drawOne()
  return { seed, nights, locations, records, readings }
}

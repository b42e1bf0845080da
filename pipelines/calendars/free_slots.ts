import { membersOf } from "#catalog/json.ts"
import { date, instant } from "#catalog/fields.ts"
import { get, windowEnd, windowStart } from "#catalog/request.ts"
import { defineChild } from "#catalog/resource.ts"

export const freeSlots = defineChild({
  table: "free_slots",
  description: "Times that could still be booked when the calendar was read.",
  source: "A 2.11, A 4.8 GET /calendars/{calendarId}/free-slots",
  scope: "calendars.readonly",
  key: ["calendar_id", "starts_at"],
  expires: "starts_at",
  enabledBy: "free_slot_days",
  childOf: {
    table: "calendars",
    column: "calendar_id",
    refreshAfter: "20 hours",
    strategy: {
      // Without a time zone, the days are those of the calendar.
      request: get("/calendars/{calendarId}/free-slots", {
        startDate: windowStart("epochMs"),
        endDate: windowEnd("epochMs")
      }),
      paging: { kind: "once" },
      records: "",
      // A calendar without a free slot may have no member at all.
      hasList: (answer) => typeof answer === "object" && answer !== null && Object.keys(answer).every(isDay),
      pageSize: 10_000,
      windows: { from: "now", ahead: { daysOf: "free_slot_days" }, longest: "31 days" }
    }
  },
  isReshaped: true,
  transform: slotsOf,
  fields: {
    date: date("Day of the slot in the time zone of the calendar"),
    startsAt: instant("When the slot begins")
  }
})

/** The response is an object with the slots of each day. Any other member becomes a record, which the loader rejects. */
function slotsOf(answer: unknown): ReadonlyArray<unknown> {
  if (typeof answer !== "object" || answer === null) return [answer]
  return Object.entries(membersOf(answer)).flatMap(([date, day]): ReadonlyArray<unknown> => {
    if (date === "traceId") return []
    const { slots } = membersOf(day)
    return Array.isArray(slots) ? slots.map((startsAt: unknown) => ({ date, startsAt })) : [{ [date]: day }]
  })
}

function isDay(member: string): boolean {
  return member === "traceId" || /^\d/.test(member)
}

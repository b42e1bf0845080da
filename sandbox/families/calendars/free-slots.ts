import { invalid } from "../../http/errors.ts"
import { dayMs } from "../../http/parameters.ts"
import type { Answer, Call } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { byStart } from "./seeded-appointments.ts"
import { position } from "../../account/position.ts"
import { instantOf, isZone, zonedIso } from "./time-zones.ts"
import { slotMinutes, openRangesOn } from "./open-hours.ts"
import { find } from "../records.ts"

/**
 * The future slots that no appointment of the calendar overlaps, by their date in the requested time zone; dates without
 * slots are omitted. Opening hours are in the time zone of the location.
 */
export const freeSlots = ({ params, query }: Call, service: Service): Answer => {
  const { clock, world } = service
  const row = find(world.calendars, params["calendarId"], "Calendar")
  const calendar = world.calendars.data(row)
  const home = String(world.locations.data(world.locations.get(world.context.locationId)!)["timezone"])
  const zone = String(query["timezone"] ?? home)
  if (!isZone(zone)) throw invalid("timezone must be an IANA time zone")
  const [from, to] = [Number(query["startDate"]), Number(query["endDate"])]
  if (to < from) throw invalid("endDate must not be before startDate")
  if (to - from > maxDays * dayMs) throw invalid(`the range must not be longer than ${maxDays} days`)

  const length = slotMinutes(calendar)
  const taken = takenBy(service, row.id!, from, to)
  const slots: Record<string, { slots: Array<string> }> = {}
  for (let day = from - dayMs; day <= to + dayMs; day += dayMs) {
    const date = new Date(day).toISOString().slice(0, 10)
    for (const open of openRangesOn(calendar, new Date(day).getUTCDay())) {
      for (let minutes = open.from; minutes + length <= open.to; minutes += length) {
        const start = instantOf(home, date, minutes)
        if (start < from || start >= to || start <= clock.now()) continue
        const end = start + length * 60_000
        if (taken.some((busy) => busy.start < end && busy.end > start)) continue
        const shown = zonedIso(zone, start)
        ;(slots[shown.slice(0, 10)] ??= { slots: [] }).slots.push(shown)
      }
    }
  }
  return slots
}

const takenBy = ({ world }: Service, calendarId: string, from: number, to: number) => {
  const { appointments } = world
  const rows = appointments.sorted(byStart)
  return rows
    .slice(position(rows, byStart, from - dayMs), position(rows, byStart, to))
    .map((row) => ({ row, data: appointments.data(row) }))
    .filter(({ data }) => data["calendarId"] === calendarId)
    .filter(({ data }) => !["cancelled", "invalid"].includes(String(data["appointmentStatus"])))
    .map(({ data, row }) => ({ start: row.last, end: Date.parse(String(data["endTime"])) || row.last }))
}

/** Not documented; the live service rejects longer ranges (field-notes 5). */
const maxDays = 31

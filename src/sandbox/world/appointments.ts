import { iso } from "../clock.ts"
import { Collection, type Data, type Entry, type Order, entry } from "./collection.ts"
import { spoiled, spoilFields } from "./nasty.ts"
import { person } from "./people.ts"
import { Random, streams } from "./random.ts"
import { ownerOf, type Setting } from "./setting.ts"
import { undocumentedOfAppointment } from "./undocumented.ts"

/** Appointments (A 2.11), over three years and the half year ahead. `last` of an entry is the instant it starts. */
export const createAppointments = (setting: Setting, contacts: Collection, calendars: Collection): Collection => {
  const owners = [...contacts.live()]
  const places = [...calendars.live()].map((row) => calendars.data(row))
  const appointments = new Collection({
    build: spoiled(setting, (entry) => appointment(setting, entry, owners, places), spoil)
  })
  const { appointments: count } = setting.settings
  for (let index = 0; index < count && owners.length > 0; index++) {
    const random = new Random(setting.seed, streams.appointment, index)
    const id = random.id()
    const halfHour = 1_800_000
    const span = setting.end + ahead - setting.begin
    const last = Math.floor((setting.begin + (span * (index + random.unit())) / count) / halfHour) * halfHour
    const created = Math.max(setting.begin, Math.min(setting.end, last) - random.int(20 * 86_400_000))
    const updated = Math.max(created, Math.min(setting.end, last + random.int(86_400_000)))
    const parent = owners[ownerOf(setting, streams.appointment, index, owners.length)]!.id
    const kind = random.pick([0, 0, 0, 1, 1, 2, 3])
    appointments.add(entry({ id, parent, kind, created, updated, last, source: index }))
  }
  return appointments
}

export const byStart: Order = { name: "start", key: (entry) => entry.last }

/** What an appointment can be (A 2.11). */
export const appointmentStatuses = [
  "new",
  "confirmed",
  "cancelled",
  "showed",
  "noshow",
  "invalid",
  "completed",
  "active"
] as const

const appointment = (
  setting: Setting,
  entry: Entry,
  owners: ReadonlyArray<Entry>,
  calendars: ReadonlyArray<Data>
): Data => {
  const index = entry.source as number
  const random = new Random(setting.seed, streams.appointment + 500, index)
  const calendar = calendars[entry.kind]!
  const who = person(
    setting.seed,
    owners[ownerOf(setting, streams.appointment, index, owners.length)]!.source as number
  )
  const isPast = entry.last < setting.end
  return {
    id: entry.id,
    calendarId: calendar["id"],
    locationId: setting.locationId,
    contactId: entry.parent,
    groupId: calendar["groupId"],
    title: `${String(calendar["name"])} - ${who.name}`,
    appointmentStatus: random.pick(isPast ? past : future),
    assignedUserId: setting.userIds.length > 0 && random.chance(0.9) ? random.pick(setting.userIds) : undefined,
    startTime: iso(entry.last),
    endTime: iso(entry.last + (calendar["slotDuration"] as number) * 60_000),
    ...undocumentedOfAppointment(setting, entry),
    dateAdded: iso(entry.created),
    dateUpdated: iso(entry.updated)
  }
}

const past = ["showed", "showed", "completed", "noshow", "cancelled", "invalid"]
const future = ["confirmed", "confirmed", "new", "cancelled", "active"]
const ahead = 182 * 86_400_000
const spoil = spoilFields({ instants: "dateAdded dateUpdated", texts: "title appointmentStatus" })

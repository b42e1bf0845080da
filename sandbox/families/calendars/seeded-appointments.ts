import { iso } from "../../account/clock.ts"
import { Collection, type Data, type Entry, type Order, entry } from "../../account/collection.ts"
import { withMalformedValues, malformFields } from "../../account/malformed.ts"
import { person } from "../../account/people.ts"
import { Random, streams } from "../../account/random.ts"
import { ownerOf, type AccountContext } from "../../account/context.ts"
import { undocumentedOfAppointment } from "../../account/undocumented.ts"

/** Appointments (A 2.11) of the past three years and the next half year. `last` of an entry is the start. */
export const createAppointments = (
  context: AccountContext,
  contacts: Collection,
  calendars: Collection
): Collection => {
  const owners = [...contacts.live()]
  const places = [...calendars.live()].map((row) => calendars.data(row))
  const appointments = new Collection({
    build: withMalformedValues(context, (entry) => appointment(context, entry, owners, places), malform)
  })
  const { appointments: count } = context.settings
  for (let index = 0; index < count && owners.length > 0; index++) {
    const random = new Random(context.seed, streams.appointment, index)
    const id = random.id()
    const halfHour = 1_800_000
    const span = context.end + ahead - context.begin
    const last = Math.floor((context.begin + (span * (index + random.unit())) / count) / halfHour) * halfHour
    const created = Math.max(context.begin, Math.min(context.end, last) - random.int(20 * 86_400_000))
    const updated = Math.max(created, Math.min(context.end, last + random.int(86_400_000)))
    const parent = owners[ownerOf(context, streams.appointment, index, owners.length)]!.id
    const kind = random.pick([0, 0, 0, 1, 1, 2, 3])
    appointments.add(entry({ id, parent, kind, created, updated, last, source: index }))
  }
  return appointments
}

export const byStart: Order = { name: "start", key: (entry) => entry.last }

/** The statuses of an appointment (A 2.11). */
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
  context: AccountContext,
  entry: Entry,
  owners: ReadonlyArray<Entry>,
  calendars: ReadonlyArray<Data>
): Data => {
  const index = entry.source as number
  const random = new Random(context.seed, streams.appointment + 500, index)
  const calendar = calendars[entry.kind]!
  const who = person(
    context.seed,
    owners[ownerOf(context, streams.appointment, index, owners.length)]!.source as number
  )
  const isPast = entry.last < context.end
  return {
    id: entry.id,
    calendarId: calendar["id"],
    locationId: context.locationId,
    contactId: entry.parent,
    groupId: calendar["groupId"],
    title: `${String(calendar["name"])} - ${who.name}`,
    appointmentStatus: random.pick(isPast ? past : future),
    assignedUserId: context.userIds.length > 0 && random.chance(0.9) ? random.pick(context.userIds) : undefined,
    startTime: iso(entry.last),
    endTime: iso(entry.last + (calendar["slotDuration"] as number) * 60_000),
    ...undocumentedOfAppointment(context, entry),
    dateAdded: iso(entry.created),
    dateUpdated: iso(entry.updated)
  }
}

const past = ["showed", "showed", "completed", "noshow", "cancelled", "invalid"]
const future = ["confirmed", "confirmed", "new", "cancelled", "active"]
const ahead = 182 * 86_400_000
const malform = malformFields({ instants: "dateAdded dateUpdated", texts: "title appointmentStatus" })

import { iso } from "../../account/clock.ts"
import { type Data } from "../../account/collection.ts"
import { type Draw } from "../../account/seeded.ts"
import { type Make, type Parts, further, idAt, times } from "./parts.ts"

const hour = 3_600_000
const at = ({ entry }: Draw, hours: number): string => iso(entry.created + hours * hour)
const userOf = ({ context }: Parts, index: number): string => context.userIds[index % context.userIds.length]!
const few = ({ owners }: Parts): number => owners.share(0.05, 8)

export const furtherCalendarCollections: Record<
  | "calendarGroups"
  | "blockedSlots"
  | "appointmentNotes"
  | "calendarResources"
  | "services"
  | "serviceLocations"
  | "serviceBookings"
  | "schedules"
  | "locationTags"
  | "customValues",
  Make
> = {
  calendarGroups: further(50, 2, ({ id, index }, { context }) => ({
    id,
    locationId: context.locationId,
    name: ["Visits", "=Closed"][index],
    description: "",
    slug: ["visits", "closed"][index],
    ...(index === 0 && { isActive: true })
  })),
  blockedSlots: further(51, few, (draw, parts) => ({
    id: draw.id,
    title: ["Crane out of order", "Dentist", "Urlaub"][draw.index % 3],
    ...(draw.index % 3 === 0 && { calendarId: idAt(parts.of("calendars"), draw.index) }),
    locationId: parts.context.locationId,
    assignedUserId: userOf(parts, draw.index),
    users: [],
    startTime: at(draw, 1),
    endTime: at(draw, 5),
    ...times(draw, "dateAdded", "dateUpdated"),
    deleted: draw.index % 8 === 7
  })),
  appointmentNotes: further(
    52,
    few,
    (draw, parts) => ({
      id: draw.id,
      body: `Wants the later time, ${draw.index}`,
      userId: userOf(parts, draw.index),
      dateAdded: iso(draw.entry.created),
      contactId: parts.owners.of(252, draw.index).id,
      createdBy: { id: userOf(parts, draw.index), name: "Yard desk" }
    }),
    { under: ({ of }, index) => idAt(of("appointments"), index % 3) ?? null }
  ),
  calendarResources: further(53, 4, ({ index }, { context, of }) => ({
    locationId: context.locationId,
    name: ["Crane", "Boat", "Meeting room", "=Hall"][index],
    resourceType: index < 2 ? "equipments" : "rooms",
    isActive: true,
    description: "",
    quantity: 2,
    outOfService: 1,
    capacity: index,
    calendarIds: [idAt(of("calendars"), index)]
  })),
  services: further(54, 3, ({ id, index }, { context }) => ({
    id,
    locationId: context.locationId,
    name: ["Hedge cut", "Hull wash", "Advice"][index],
    slug: `service-${index}`,
    payment: { amount: 80.5, deposit: 25, depositType: "percentage" },
    serviceDuration: 2,
    serviceDurationUnit: "hours",
    isPrivate: index === 2,
    variations: index === 0 ? [{ id: `${id}a`, name: "Small", serviceDuration: 60, serviceDurationUnit: "mins" }] : [],
    staff: [{ id: `st${index}` }]
  })),
  serviceLocations: further(55, 2, ({ id, index }, { context }) => ({
    id,
    locationId: context.locationId,
    name: ["North yard", "Where you want"][index],
    slug: `place-${index}`,
    isActive: true,
    isPrivate: false,
    locationType: ["offline", "ask_booker"][index],
    address: ["1 Quay", "Your address, please"][index],
    ...(index === 0 && { phone: "+12125550101" })
  })),
  serviceBookings: further(56, few, (draw, { context, of, owners }) => {
    const service = {
      id: idAt(of("services"), draw.index),
      serviceCategoryId: "sc1",
      serviceStaffId: "st0",
      serviceStartTime: at(draw, 10),
      serviceEndTime: at(draw, 12),
      serviceAddOns: [{ id: "ao1", quantity: 2 }]
    }
    return {
      bookingId: draw.id,
      locationId: context.locationId,
      contactId: owners.of(256, draw.index).id,
      serviceLocationId: idAt(of("serviceLocations"), draw.index),
      title: owners.of(256, draw.index).name,
      startTime: at(draw, 10),
      endTime: at(draw, 12),
      // One booking may have a service twice.
      services: draw.index % 4 === 0 ? [service, service] : [service],
      timezone: "Europe/Berlin",
      status: "confirmed",
      deleted: draw.index % 7 === 6,
      ...times(draw, "dateAdded", "dateUpdated"),
      createdBy: { source: "booking_widget" }
    }
  }),
  schedules: further(
    57,
    4,
    (draw, parts) => ({
      id: draw.id,
      name: "Summer",
      locationId: parts.context.locationId,
      userId: userOf(parts, draw.index),
      timezone: "Europe/Berlin",
      calendarIds: [idAt(parts.of("calendars"), draw.index)],
      rules: [
        { type: "wday", day: "monday", intervals: [{ from: "08:00", to: "12:00" }] },
        { type: "date", date: "2026-12-24", intervals: [] }
      ] satisfies ReadonlyArray<Data>,
      ...times(draw, "dateAdded", "dateUpdated"),
      deleted: false
    }),
    { under: (parts, index) => userOf(parts, index) }
  ),
  locationTags: further(58, 6, ({ id, index }, { context }) => ({
    id,
    name: ["vip", "winter", "=sum", "ünïcode", "never used", "lead"][index],
    locationId: context.locationId
  })),
  customValues: further(59, 5, ({ id, index }, { context }) => ({
    id,
    name: ["Office hours", "Head of office", "Empty", "Absent", "Key"][index],
    fieldKey: `{{ custom_values.value_${index} }}`,
    ...(index !== 3 && { value: ["8 to 5", "Call 0000 before noon", "", "", "k-123"][index] }),
    locationId: context.locationId
  }))
}

import { alias, content, boolean, id, instant, enumeration, ref, text, values, changed } from "#catalog/fields.ts"
import { created, json, emailOrPhone, identifier } from "#catalog/fields.ts"
import { get, location, parent, windowEnd, windowStart } from "#catalog/request.ts"
import { type Strategy, defineChild } from "#catalog/resource.ts"
import { actor } from "#catalog/shapes.ts"
import { appointmentStatuses } from "#catalog/enums.ts"

const ahead = "730 days"

const events = (from: string): Strategy => ({
  request: get("/calendars/events", {
    locationId: location,
    calendarId: parent,
    startTime: windowStart("epochMs"),
    endTime: windowEnd("epochMs")
  }),
  paging: { kind: "once" },
  records: "events",
  // No maximum is documented. A window with this many appointments is split, in case the service returned only a part.
  pageSize: 1000,
  windows: { from, ahead }
})

export const appointments = defineChild({
  table: "appointments",
  description: "Appointments of all calendars, from 2000 to two years ahead.",
  source: "A 2.11, A 4.8 GET /calendars/events",
  scope: "calendars/events.readonly",
  // The service filters by the time of an appointment and not by its change, so only a full read finds changes of appointments
  // before the lookback. The API does not return appointments of deleted calendars.
  childOf: {
    table: "calendars",
    column: "calendar_id",
    refreshAfter: "20 hours",
    strategy: events("2000-01-01"),
    incremental: { strategy: events("since"), lookback: "30 days", fullEvery: "14 days" }
  },
  tombstone: "deleted",
  getOne: { request: get("/calendars/events/appointments/{eventId}"), record: "event" },
  // The address is where it takes place.
  person: { contacts: ["contact_id"], addresses: [] },
  fields: {
    id: id("Appointment id; one of a series is named after the series and its time"),
    calendarId: ref("calendars", "Its calendar"),
    contactId: ref("contacts", "Whom it is with"),
    title: text("Title", { personal: "content" }),
    appointmentStatus: enumeration(appointmentStatuses),
    appoinmentStatus: alias("appointmentStatus"),
    assignedUserId: ref("users", "Whom it is booked with"),
    users: values("appointment_users", "Users who take part in each appointment.", "user_id", ref("users", "The user")),
    groupId: ref("calendar_groups", "Group of its calendar"),
    // The number, if it is a call.
    address: emailOrPhone("Where it takes place"),
    notes: content("Notes on it"),
    description: content("What is written about it"),
    assignedResources: json("Rooms and equipment, as sent"),
    createdBy: actor("created_by", "Who booked it"),
    dateAdded: created("When it was booked"),
    startTime: instant("Begin"),
    endTime: instant("End"),
    masterEventId: identifier("The series it is one of"),
    isRecurring: boolean("It is one of a series"),
    rrule: text("Rule of the series, RFC 5545"),
    deleted: boolean("Removed by a user"),
    dateUpdated: changed("Last change")
  }
})

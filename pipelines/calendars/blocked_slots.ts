import {
  boolean,
  changed,
  content,
  created,
  id,
  identifier,
  instant,
  json,
  openEnum,
  ref,
  text,
  values
} from "#catalog/fields.ts"
import { get, location, parent, windowEnd, windowStart } from "#catalog/request.ts"
import { type Strategy, defineChild } from "#catalog/resource.ts"
import { actor } from "#catalog/shapes.ts"

const blocked = (from: string): Strategy => ({
  request: get("/calendars/blocked-slots", {
    locationId: location,
    userId: parent,
    startTime: windowStart("epochMs"),
    endTime: windowEnd("epochMs")
  }),
  paging: { kind: "once" },
  records: "events",
  // No maximum is known. A window with this many is split, in case the service returned only a part.
  pageSize: 1000,
  windows: { from, ahead: "730 days" }
})

export const blockedSlots = defineChild({
  table: "blocked_slots",
  description: "Times in which users cannot be booked, from 2000 to two years ahead.",
  source: "C 8.2 GET /calendars/blocked-slots",
  scope: "calendars/events.readonly",
  unproven: true,
  singleReads: "never",
  childOf: {
    table: "users",
    column: "assigned_user_id",
    refreshAfter: "20 hours",
    strategy: blocked("2000-01-01"),
    incremental: { strategy: blocked("since"), lookback: "30 days", fullEvery: "14 days" }
  },
  tombstone: "deleted",
  person: { contacts: ["contact_id"] },
  fields: {
    id: id("Id of the blocked time"),
    assignedUserId: ref("users", "Whose time it is"),
    calendarId: ref("calendars", "Calendar it was made on"),
    groupId: ref("calendar_groups", "Group of that calendar"),
    contactId: ref("contacts", "Contact, where sent"),
    title: text("Title", { personal: "content" }),
    notes: content("Notes on it"),
    description: content("What is written about it"),
    address: text("Place", { personal: "content", column: "place" }),
    appointmentStatus: openEnum("Status, where sent"),
    users: values("blocked_slot_users", "Users whose time each of them blocks.", "user_id", ref("users", "The user")),
    startTime: instant("Begin"),
    endTime: instant("End"),
    isRecurring: boolean("It is one of a series"),
    rrule: text("Rule of the series, RFC 5545"),
    masterEventId: identifier("The series it is one of"),
    assignedResources: json("Rooms and equipment, as sent"),
    createdBy: actor("created_by", "Who made it"),
    deleted: boolean("Removed by a user"),
    dateAdded: created("When it was made"),
    dateUpdated: changed("Last change")
  }
})

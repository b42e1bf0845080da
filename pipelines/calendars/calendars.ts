import { alias, openEnum, decimal, boolean, id, json, ref, rows, text, address, identifier } from "#catalog/fields.ts"
import { type Parameters, get, location } from "#catalog/request.ts"
import { defineList, inOnePage } from "#catalog/resource.ts"

const list = (parameters: Parameters) =>
  inOnePage(get("/calendars/", { locationId: location, ...parameters }), { records: "calendars" })

export const calendars = defineList({
  table: "calendars",
  description: "Calendars that appointments are booked in. Further settings are in `_extra`.",
  source: "A 2.11, A 4.8 GET /calendars/",
  scope: "calendars.readonly",
  // The service returns drafts only with `showDrafted`, which is not documented and may be rejected.
  full: [list({ showDrafted: true }), list({})],
  getOne: { request: get("/calendars/{calendarId}"), record: "calendar" },
  fields: {
    id: id("Calendar id"),
    name: text("Name"),
    description: text("What the calendar is for", { personal: "content" }),
    calendarType: openEnum("Kind of calendar, for example `event`"),
    slotDuration: decimal("Length of an appointment, in `slot_duration_unit`"),
    slotDurationUnit: openEnum("Unit of that length, for example `mins`"),
    slotInterval: decimal("Time between two beginnings, in `slot_interval_unit`"),
    slotIntervalUnit: openEnum("Unit of that time"),
    slotBuffer: decimal("Time kept free after an appointment, in `slot_buffer_unit`"),
    slotBufferUnit: openEnum("Unit of that time"),
    isActive: boolean("Appointments can be booked"),
    eventType: openEnum("How appointments are given to members: `RoundRobin_OptimizeForAvailability`, …"),
    eventTitle: text("How its appointments are titled"),
    eventColor: text("Colour of its appointments"),
    groupId: ref("calendar_groups", "Group of calendars it is in"),
    slug: text("Name in the calendar's web address"),
    widgetSlug: text("Name in the web address of the booking page"),
    formId: ref("forms", "Form filled in when booking"),
    widgetType: openEnum("How its booking page looks"),
    notes: text("Notes on it", { personal: "content" }),
    preBuffer: decimal("Time kept free before an appointment, in `pre_buffer_unit`"),
    preBufferUnit: openEnum("Unit of that time"),
    appoinmentPerSlot: decimal("Appointments that one slot takes"),
    appointmentPerSlot: alias("appoinmentPerSlot"),
    appoinmentPerDay: decimal("Appointments that one day takes"),
    appointmentPerDay: alias("appoinmentPerDay"),
    allowBookingAfter: decimal("Least time before an appointment, in `allow_booking_after_unit`"),
    allowBookingAfterUnit: openEnum("Unit of that time"),
    allowBookingFor: decimal("Most time before an appointment, in `allow_booking_for_unit`"),
    allowBookingForUnit: openEnum("Unit of that time"),
    formSubmitType: openEnum("What follows a booking"),
    guestType: openEnum("What is asked about guests"),
    consentLabel: text("Consent that who books gives", { personal: "content" }),
    pixelId: identifier("Id of the pixel of an advertiser"),
    recurring: json("Rule by which appointments come again, as sent"),
    availabilities: json("Hours of single days, as sent"),
    lookBusyConfig: json("Which times are hidden, as sent"),
    notifications: json("Who is notified of an appointment, as sent", { personal: "direct" }),
    autoConfirm: boolean("Appointments are confirmed at once"),
    allowReschedule: boolean("Contacts can move their appointment"),
    allowCancellation: boolean("Contacts can cancel their appointment"),
    openHours: json("Hours in which it can be booked, as sent"),
    teamMembers: rows(
      "calendar_members",
      "Users whose time each calendar gives away.",
      {
        userId: ref("users", "The user"),
        priority: decimal("Priority among the members"),
        isPrimary: boolean("The one whose place and calendar count"),
        meetingLocationType: openEnum("Kind of meeting place"),
        meetingLocation: address("Where the user meets contacts", { personal: "quasi" })
      },
      ["user_id"],
      { plain: "userId" }
    )
  }
})

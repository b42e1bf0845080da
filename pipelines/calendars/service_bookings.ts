import {
  address,
  boolean,
  changed,
  created,
  id,
  identifier,
  instant,
  json,
  openEnum,
  place,
  ref,
  rows,
  text
} from "#catalog/fields.ts"
import { get, location, windowEnd, windowStart } from "#catalog/request.ts"
import { defineList } from "#catalog/resource.ts"
import { actor } from "#catalog/shapes.ts"

export const serviceBookings = defineList({
  table: "service_bookings",
  description: "Bookings of services, from 2000 to two years ahead. Whether appointments has them too is not known.",
  source: "C 8.7 GET /calendars/services/bookings",
  scope: "calendars/events.readonly",
  unproven: true,
  full: [
    {
      request: get("/calendars/services/bookings", {
        locationId: location,
        startTime: windowStart("epochMs"),
        endTime: windowEnd("epochMs")
      }),
      paging: { kind: "once" },
      records: "bookings",
      pageSize: 1000,
      windows: { from: "2000-01-01", ahead: "730 days" }
    }
  ],
  version: "dateUpdated",
  tombstone: "deleted",
  person: { contacts: ["contact_id"] },
  fields: {
    bookingId: id("Booking id"),
    contactId: ref("contacts", "Who booked"),
    serviceLocationId: ref("service_locations", "Where it takes place"),
    title: text("Title, often the name of who booked", { personal: "content" }),
    startTime: instant("Begin"),
    endTime: instant("End"),
    timezone: place("Time zone in which it was booked"),
    status: openEnum("Status, for example `confirmed`"),
    meetingLocation: address("Place, if who booked chose it"),
    createdBy: actor("created_by", "Who made it"),
    deleted: boolean("Removed"),
    dateAdded: created("When it was booked"),
    dateUpdated: changed("Last change"),
    services: rows("service_booking_items", "Services of each booking.", {
      id: ref("services", "The service", { column: "service_id" }),
      serviceCategoryId: identifier("Category of the service"),
      serviceStaffId: identifier("Who carries it out"),
      serviceStartTime: instant("Begin"),
      serviceEndTime: instant("End"),
      serviceResources: json("Rooms and equipment, as sent"),
      serviceAddOns: json("What is booked with it, as sent")
    })
  }
})

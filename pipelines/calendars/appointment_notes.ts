import { content, created, id, ref } from "#catalog/fields.ts"
import { cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineChild } from "#catalog/resource.ts"
import { actor } from "#catalog/shapes.ts"

export const appointmentNotes = defineChild({
  table: "appointment_notes",
  description: "Notes written on appointments.",
  source: "C 8.3 GET /calendars/appointments/{appointmentId}/notes",
  scope: "calendars/events.readonly",
  unproven: true,
  singleReads: "never",
  // It is unknown whether a note changes the date of its appointment, and whether one of a series has notes of its own.
  childOf: {
    table: "appointments",
    column: "appointment_id",
    versionColumn: "date_updated",
    refreshAfter: "60 days",
    noneIsError: true,
    strategy: byOffset(get("/calendars/appointments/{appointmentId}/notes", { limit: size, offset: cursorOr(0) }), {
      records: "notes",
      pageSize: 20,
      more: "hasMore"
    })
  },
  person: { contacts: ["contact_id"], records: { appointment_id: "appointments" } },
  fields: {
    id: id("Note id"),
    appointmentId: ref("appointments", "Appointment the note is about"),
    body: content("The note"),
    userId: ref("users", "Who wrote it"),
    contactId: ref("contacts", "Whom the appointment is with"),
    createdBy: actor("created_by", "Who wrote it"),
    dateAdded: created("When it was written")
  }
})

/**
 * The test file of each operation of document 1 that reads, and of those that the sandbox serves of the others (A 4.2 to 4.9, A 5),
 * copied manually from its tables.
 */
export const operations: Readonly<Record<string, ReadonlyArray<string>>> = {
  "contacts.test.ts": [
    "GET /contacts/{contactId}",
    "POST /contacts/",
    "PUT /contacts/{contactId}",
    "DELETE /contacts/{contactId}",
    "GET /contacts/{contactId}/notes",
    "POST /contacts/{contactId}/notes",
    "GET /contacts/{contactId}/notes/{id}"
  ],
  "contact-duplicates.test.ts": ["GET /contacts/lookup", "GET /contacts/search/duplicate"],
  "contact-search.test.ts": ["POST /contacts/search"],
  "contact-children.test.ts": [
    "GET /contacts/{contactId}/tasks",
    "POST /contacts/{contactId}/workflow/{workflowId}",
    "GET /workflows/"
  ],
  "custom-fields.test.ts": [
    "GET /locations/{locationId}/customFields",
    "GET /locations/{locationId}/customFields/{id}",
    "GET /custom-fields/object-key/{objectKey}",
    "GET /custom-fields/{id}"
  ],
  "pipelines.test.ts": [
    "GET /opportunities/pipelines",
    "GET /opportunities/pipelines/{pipelineId}",
    "DELETE /opportunities/pipelines/{pipelineId}",
    "POST /opportunities/"
  ],
  "opportunities.test.ts": ["GET /opportunities/{id}", "GET /opportunities/search", "POST /opportunities/search"],
  "lists.test.ts": [
    "GET /users/search",
    "GET /users/{userId}",
    "GET /locations/{locationId}",
    "GET /locations/search",
    "POST /locations/{locationId}/tasks/search"
  ],
  "locations.test.ts": [
    "GET /locations/{locationId}/timezones",
    "GET /locations/{locationId}/conversationChannels/{type}",
    "GET /locations/{locationId}/templates",
    "GET /locations/{locationId}/recurring-tasks/{id}",
    "DELETE /locations/{locationId}/recurring-tasks/{id}"
  ],
  "calendars.test.ts": [
    "GET /calendars/",
    "GET /calendars/{calendarId}",
    "GET /calendars/{calendarId}/free-slots",
    "GET /calendars/events",
    "GET /calendars/events/appointments/{eventId}",
    "POST /calendars/events/appointments"
  ],
  "conversations.test.ts": ["GET /conversations/search", "GET /conversations/{conversationId}/messages"],
  "messages.test.ts": [
    "GET /conversations/{conversationId}",
    "DELETE /conversations/{conversationId}",
    "GET /conversations/messages/{messageId}",
    "GET /conversations/messages/email/{emailMessageId}",
    "GET /conversations/messages/{messageId}/locations/{locationId}/recording",
    "GET /conversations/locations/{locationId}/messages/{messageId}/transcription",
    "GET /conversations/locations/{locationId}/messages/{messageId}/transcription/download"
  ],
  "message-export.test.ts": ["GET /conversations/messages/export"],
  "tokens.test.ts": ["POST /oauth/token"]
}

/** Operations of document 3 in the families of document 1. */
export const further: Readonly<Record<string, ReadonlyArray<string>>> = {
  "further.test.ts": ["GET /opportunities/lost-reason"],
  "further-calendars.test.ts": [
    "GET /locations/{locationId}/tags",
    "GET /locations/{locationId}/tags/{tagId}",
    "GET /locations/{locationId}/customValues",
    "GET /locations/{locationId}/customValues/{id}",
    "GET /calendars/groups",
    "GET /calendars/blocked-slots",
    "GET /calendars/appointments/{appointmentId}/notes",
    "GET /calendars/resources/{resourceType}",
    "GET /calendars/services/catalog",
    "GET /calendars/services/catalog/{serviceId}",
    "GET /calendars/services/locations",
    "GET /calendars/services/locations/{serviceLocationId}",
    "GET /calendars/services/bookings",
    "GET /calendars/services/bookings/{bookingId}",
    "GET /calendars/schedules/search",
    "GET /calendars/schedules/{id}"
  ]
}

/** Undocumented operations, served by analogy with the documented ones (A 4.10). */
export const beyond: Readonly<Record<string, ReadonlyArray<string>>> = {
  "opportunities.test.ts": ["PUT /opportunities/{id}", "DELETE /opportunities/{id}"],
  "messages.test.ts": ["POST /conversations/messages"]
}

import { content, boolean, id, ref, text, changed, created } from "#catalog/fields.ts"
import { get } from "#catalog/request.ts"
import { defineChild, inOnePage } from "#catalog/resource.ts"
import { relations } from "#catalog/shapes.ts"

export const contactNotes = defineChild({
  table: "contact_notes",
  description: "Notes written on contacts.",
  source: "A 2.3, A 4.2 GET /contacts/{contactId}/notes",
  scope: "contacts.readonly",
  // It is not documented whether a note changes the dateUpdated of its contact, so every contact is requested again.
  childOf: {
    table: "contacts",
    column: "contact_id",
    versionColumn: "date_updated",
    refreshAfter: "30 days",
    strategy: inOnePage(get("/contacts/{contactId}/notes"), { records: "notes" })
  },
  getOne: { request: get("/contacts/{contactId}/notes/{id}"), record: "note" },
  person: { contacts: ["contact_id", "contact_note_relations.record_id"] },
  fields: {
    id: id("Note id"),
    contactId: ref("contacts", "Contact the note is about"),
    body: content("The note"),
    bodyText: content("The note without markup"),
    userId: ref("users", "Who wrote it"),
    title: text("Title", { personal: "content" }),
    color: text("Colour, as a hex code"),
    pinned: boolean("Kept on top"),
    dateAdded: created("When it was written"),
    dateUpdated: changed("Last change"),
    businessId: ref("businesses", "Company record the note is about"),
    relations: relations("contact_note_relations", "Other records that each note is tied to.")
  }
})

import { alias, boolean, id, instant, json, content, ref, text, changed, created } from "#catalog/fields.ts"
import { cursorOr, post, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"
import { relations } from "#catalog/shapes.ts"

export const tasks = defineList({
  table: "tasks",
  description: "To-dos attached to contacts, open and completed.",
  source: "A 2.3, A 4.6 POST /locations/{locationId}/tasks/search",
  scope: "locations/tasks.readonly",
  full: [
    byOffset(post("/locations/{locationId}/tasks/search", { skip: cursorOr(0), limit: size }), {
      records: "tasks",
      pageSize: 100
    })
  ],
  // Without `completed`, the service returns all tasks or only the open ones; the documents do not say which. With
  // `completed: false`, it would omit tasks whose flag is neither true nor false.
  partitions: { all: {}, completed: { parameters: { completed: true } } },
  tombstone: "deleted",
  person: { contacts: ["contact_id", "task_relations.record_id"] },
  fields: {
    id: id("Task id"),
    _id: alias("id"),
    contactId: ref("contacts", "Contact the task is about"),
    title: text("What is to be done", { personal: "content" }),
    body: content("The details"),
    dueDate: instant("When it is due"),
    completed: boolean("Whether it is done"),
    assignedTo: text("Who is to do it", { references: "users" }),
    businessId: ref("businesses", "Company record the task is about"),
    dateAdded: created("When the task was made"),
    dateUpdated: changed("Last change"),
    deleted: boolean("Removed by a user"),
    contactDetails: json("Summary of the contact, as sent", { personal: "direct", copyOf: "contacts" }),
    assignedToUserDetails: json("Summary of who is to do it, as sent", { personal: "direct" }),
    relations: relations("task_relations", "Other records that each task is tied to.")
  }
})

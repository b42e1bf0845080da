import { boolean, content, id, instant, ref, text } from "sluice/catalog/fields"
import { get } from "sluice/catalog/request"
import { defineChild, inOnePage } from "sluice/catalog/resource"

/** sluice reads tasks by searching the whole account; this reads those of each new or changed contact. */
export const contactTasks = defineChild({
  table: "contact_tasks",
  description: "Tasks, as each contact shows them.",
  source: "GET /contacts/{contactId}/tasks",
  scope: "contacts.readonly",
  childOf: {
    table: "contacts",
    column: "contact_id",
    versionColumn: "date_updated",
    refreshAfter: "30 days",
    strategy: inOnePage(get("/contacts/{contactId}/tasks"), { records: "tasks" })
  },
  person: { contacts: ["contact_id"] },
  fields: {
    id: id("Task id"),
    contactId: ref("contacts", "Contact the task is about"),
    title: content("What is to be done"),
    body: content("More about it"),
    assignedTo: text("Who does it", { references: "users" }),
    dueDate: instant("When it is due"),
    completed: boolean("Whether it is done")
  }
})

import { content, count, boolean, id, instant, object, enumeration, ref, text, changed } from "#catalog/fields.ts"
import { created } from "#catalog/fields.ts"
import { get } from "#catalog/request.ts"
import { defineList, oneRecord } from "#catalog/resource.ts"

export const recurringTasks = defineList({
  table: "recurring_tasks",
  description: "To-dos that come again by a schedule.",
  source: "A 2.9, A 4.6 GET /locations/{locationId}/recurring-tasks/{id}",
  scope: "recurring-tasks.readonly",
  full: [oneRecord({ request: get("/locations/{locationId}/recurring-tasks/{partition}"), record: "recurringTask" })],
  // The API cannot list recurring tasks, so a setting holds their ids.
  partitions: "recurring_task_ids",
  enabledBy: "recurring_task_ids",
  getOne: { request: get("/locations/{locationId}/recurring-tasks/{id}"), record: "recurringTask" },
  tombstone: "deleted",
  person: { contacts: ["contact_id"] },
  fields: {
    id: id("Recurring task id"),
    title: text("What is to be done", { personal: "content" }),
    description: content("The details"),
    contactId: ref("contacts", "Contact the task is about"),
    assignedTo: text("Who is to do it", { references: "users" }),
    rruleOptions: object({
      intervalType: enumeration(["yearly", "monthly", "weekly", "daily", "hourly"], "", {
        column: "rrule_interval_type"
      }),
      interval: count("Units between two occurrences", { column: "rrule_interval" }),
      startDate: instant("First occurrence", { column: "rrule_start_date" }),
      endDate: instant("End of the schedule", { column: "rrule_end_date" }),
      dueAfterSeconds: count("Seconds from an occurrence until it is due", { column: "rrule_due_after_seconds" }),
      dayOfMonth: count("Day of the month", { column: "rrule_day_of_month" }),
      dayOfWeek: enumeration(["MO", "TU", "WE", "TH", "FR", "SA", "SU"], "Day of the week", {
        column: "rrule_day_of_week"
      }),
      monthOfYear: count("Month, 1 to 12", { column: "rrule_month_of_year" }),
      count: count("Occurrences at most", { column: "rrule_count" }),
      createTaskIfOverDue: boolean("The next task is made even if the last is overdue", {
        column: "rrule_create_task_if_over_due"
      })
    }),
    totalOccurrence: count("Occurrences so far"),
    deleted: boolean("Removed by a user"),
    createdAt: created("When the schedule was made"),
    updatedAt: changed("Last change")
  }
})

import type { Route } from "../../http/route.ts"
import { flag, record, text } from "../../http/shape.ts"
import { find, wrapRecord } from "../records.ts"

const path = "/locations/:locationId/recurring-tasks"
const location = { in: "path", name: "locationId" } as const
const returns = { recurringTask: record("RecurringTask") }

/** Single recurring tasks: the API does not list them (A 4.6). */
export const recurringTaskRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: `${path}/:id`,
    scope: "recurring-tasks.readonly",
    location,
    summary: "Get a recurring task",
    returns,
    handle: ({ params }, { world: { recurringTasks } }) =>
      wrapRecord("recurringTask", recurringTasks, find(recurringTasks, params["id"], "Recurring task"))
  },
  {
    method: "DELETE",
    path: `${path}/:id`,
    scope: "recurring-tasks.write",
    location,
    summary: "Delete a recurring task",
    returns: { id: text, success: flag },
    handle: ({ params }, { world: { recurringTasks } }) => {
      const old = find(recurringTasks, params["id"], "Recurring task")
      recurringTasks.remove(old)
      return { id: old.id, success: true }
    }
  }
]

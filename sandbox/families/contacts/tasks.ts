import { pageOf } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import { list, record } from "../../http/shape.ts"
import { findContact } from "./contacts.ts"

/** Tasks of a contact (A 4.2). The list has no pages and no count. */
export const contactTaskRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/contacts/:contactId/tasks",
    scope: "contacts.readonly",
    summary: "List the tasks of a contact",
    returns: { tasks: list(record("Task")) },
    handle: ({ params }, service) => {
      const { tasks } = service.world
      const rows = tasks.children(findContact(service, params["contactId"]!).id as string)
      const texts = rows.toSorted((a, b) => b.created - a.created).map((row) => tasks.full(row))
      return pageOf("tasks", texts, {})
    }
  }
]

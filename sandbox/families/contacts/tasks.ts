import { pageOf } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import { flag, list, record, required, text, timestamp } from "../../http/shape.ts"
import { entry } from "../../account/collection.ts"
import { findContact } from "./contacts.ts"
import { checkUser, dropNulls, wrapRecord } from "../records.ts"

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
  },
  {
    method: "POST",
    path: "/contacts/:contactId/tasks",
    scope: "contacts.write",
    summary: "Create a task",
    body: {
      title: required(text),
      dueDate: required(timestamp),
      completed: required(flag),
      body: text,
      assignedTo: text
    },
    // The response is not documented; it is like that of other creates of a contact.
    status: 201,
    returns: { task: record("Task") },
    handle: ({ body, params }, service) => {
      const { clock, random, world } = service
      const contact = findContact(service, params["contactId"]!)
      checkUser(body["assignedTo"], "assignedTo", service)
      const id = random.id()
      const source = dropNulls({ id, contactId: contact.id, ...body })
      const task = world.tasks.add(entry({ id, parent: contact.id, created: clock.now(), source }))
      return wrapRecord("task", world.tasks, task)
    }
  }
]

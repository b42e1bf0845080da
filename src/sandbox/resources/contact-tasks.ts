import { pageOf } from "../pages.ts"
import type { Route } from "../route.ts"
import { flag, list, record, required, text, timestamp } from "../shape.ts"
import { entry } from "../world/collection.ts"
import { findContact } from "./contacts.ts"
import { checkedUser, present, wrapped } from "./references.ts"

/** Tasks of a contact (A 4.2): unpaged, no count. */
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
      return { body: pageOf("tasks", texts, {}) }
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
    // The answer is in no document: as the other creates of a contact answer.
    status: 201,
    returns: { task: record("Task") },
    handle: ({ body, params }, service) => {
      const { clock, random, world } = service
      const contact = findContact(service, params["contactId"]!)
      checkedUser(body["assignedTo"], "assignedTo", service)
      const id = random.id()
      const source = present({ id, contactId: contact.id, ...body })
      const task = world.tasks.add(entry({ id, parent: contact.id, created: clock.now(), source }))
      return { body: wrapped("task", world.tasks, task) }
    }
  }
]

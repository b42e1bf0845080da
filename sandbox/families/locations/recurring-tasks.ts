import { iso } from "../../account/clock.ts"
import type { Answer, Call, Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import {
  type Shape,
  between,
  choice,
  flag,
  integer,
  list,
  number,
  object,
  record,
  required,
  text,
  timestamp
} from "../../http/shape.ts"
import { type Data, entry } from "../../account/collection.ts"
import { checkUser, dropNulls, find, requireReference, wrapRecord } from "../records.ts"

const path = "/locations/:locationId/recurring-tasks"
const location = { in: "path", name: "locationId" } as const
const returns = { recurringTask: record("RecurringTask") }

/** The recurrence rule (A 2.9). */
const rruleOptions = object({
  intervalType: required(choice("yearly", "monthly", "weekly", "daily", "hourly")),
  interval: required(between(number, 1)),
  startDate: required(timestamp),
  dueAfterSeconds: required(between(number, 0, 1e10)),
  endDate: timestamp,
  dayOfMonth: between(number, 1, 31),
  dayOfWeek: choice("MO", "TU", "WE", "TH", "FR", "SA", "SU"),
  monthOfYear: between(number, 1, 12),
  count: between(integer, 1),
  createTaskIfOverDue: flag
})

const shape: Shape = {
  title: text,
  rruleOptions,
  description: text,
  contactIds: list(text),
  owners: list(text),
  ignoreTaskCreation: flag
}

/** Single recurring tasks: the API does not list them (A 4.6). */
export const recurringTaskRoutes: ReadonlyArray<Route> = [
  {
    method: "POST",
    path,
    scope: "recurring-tasks.write",
    location,
    summary: "Create a recurring task",
    body: { ...shape, title: required(text), rruleOptions: required(rruleOptions) },
    status: 201,
    returns,
    handle: (call, service) => create(call, service)
  },
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
    method: "PUT",
    path: `${path}/:id`,
    scope: "recurring-tasks.write",
    location,
    summary: "Update a recurring task",
    body: shape,
    returns,
    handle: ({ body, params }, service) => {
      const { recurringTasks } = service.world
      const old = find(recurringTasks, params["id"], "Recurring task")
      const now = service.clock.now()
      const source = dropNulls({ ...recurringTasks.data(old), ...stored(body, service), updatedAt: iso(now) })
      const next = recurringTasks.replace(old, entry({ ...old, updated: now, source }))
      return wrapRecord("recurringTask", recurringTasks, next)
    }
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

const create = ({ body }: Call, service: Service): Answer => {
  const { clock, random, world } = service
  const fields = stored(body, service)
  const id = random.id()
  const now = clock.now()
  // By default, the first task is created at once, for every contact.
  const contactIds = body["ignoreTaskCreation"] === true ? [] : ((body["contactIds"] ?? []) as ReadonlyArray<string>)
  const { dueAfterSeconds, startDate } = fields["rruleOptions"] as { dueAfterSeconds: number; startDate: string }
  const dueDate = iso(Date.parse(startDate) + dueAfterSeconds * 1000)
  for (const contactId of contactIds) {
    const taskId = random.id()
    const task = { id: taskId, contactId, title: body["title"], body: body["description"], dueDate, completed: false }
    const source = dropNulls({ ...task, assignedTo: fields["assignedTo"] })
    world.tasks.add(entry({ id: taskId, parent: contactId, created: now, source }))
  }
  const dates = { createdAt: iso(now), updatedAt: iso(now) }
  const counts = { totalOccurrence: contactIds.length > 0 ? 1 : 0, deleted: false }
  const source = dropNulls({ id, locationId: world.context.locationId, ...fields, ...counts, ...dates })
  const task = world.recurringTasks.add(entry({ id, created: now, source }))
  return wrapRecord("recurringTask", world.recurringTasks, task)
}

/** Requests contain lists of contacts and owners; responses show one of each (A 2.9). */
const stored = ({ contactIds, owners, ...fields }: Data, service: Service): Data => {
  const [contacts, users] = [contactIds, owners] as ReadonlyArray<ReadonlyArray<string> | undefined>
  for (const id of contacts ?? []) requireReference(service.world.contacts, id, "contactIds")
  for (const id of users ?? []) checkUser(id, "owners", service)
  return {
    ...fields,
    ignoreTaskCreation: undefined,
    ...(contacts !== undefined && { contactId: contacts[0] }),
    ...(users !== undefined && { assignedTo: users[0] })
  }
}

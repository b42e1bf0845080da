import { HttpError } from "../../http/errors.ts"
import { listed, pageOf } from "../../http/pages.ts"
import { searchText, wholeNumber } from "../../http/parameters.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { between, choice, flag, integer, list, record, text } from "../../http/shape.ts"
import { type Data, type Entry, type Filter, byCreated } from "../../account/collection.ts"
import { slice } from "../../account/position.ts"

/** The location itself and its task search (A 4.6). */
export const locationRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/locations/search",
    scope: "locations.readonly",
    summary: "Search locations",
    query: {
      companyId: text,
      email: text,
      skip: between(integer, 0),
      limit: between(integer, 1, 100),
      order: choice("asc", "desc")
    },
    returns: { locations: list(record("Location")) },
    // A location token finds its own location; there is no total (field-notes 4).
    handle: ({ query }, { world }) => {
      const skip = wholeNumber(query, "skip", { fallback: 0, minimum: 0 })
      const limit = Number(query["limit"] ?? 10)
      if ((query["companyId"] ?? world.context.companyId) !== world.context.companyId) {
        throw new HttpError(403, "The token does not have access to this company")
      }
      const email = query["email"] ?? ""
      const rows = [...world.locations.live()].filter(
        (row) => email === "" || world.locations.data(row)["email"] === email
      )
      return pageOf("locations", listed(world.locations, rows.slice(skip, skip + limit)), {})
    }
  },
  {
    method: "GET",
    path: "/locations/:locationId",
    scope: "locations.readonly",
    location: { in: "path", name: "locationId" },
    summary: "Get the location",
    returns: { location: record("Location") },
    handle: ({ params }, { world }) =>
      `{"location":${world.locations.full(world.locations.get(params["locationId"]!)!)}}`
  },
  {
    method: "POST",
    path: "/locations/:locationId/tasks/search",
    scope: "locations/tasks.readonly",
    location: { in: "path", name: "locationId" },
    summary: "Search tasks",
    body: {
      contactId: list(text),
      completed: flag,
      assignedTo: list(text),
      query: { type: "string", maxLength: 75 },
      limit: between(integer, 1, 100),
      skip: between(integer, 0),
      businessId: text
    },
    returns: { tasks: list(record("Task")) },
    handle: ({ body }, service) => {
      const { tasks } = service.world
      const skip = wholeNumber(body, "skip", { fallback: 0, minimum: 0 })
      const limit = Number(body["limit"] ?? 25)
      const rows = ofBusiness(tasks.sorted(byCreated, taskFilter(body, service)), body["businessId"], service)
      return pageOf("tasks", listed(tasks, slice(rows, skip, limit, true)), {})
    }
  }
]

const taskFilter = (body: Data, { settings, world }: Service): Filter | undefined => {
  const [contactIds, assignees] = [body["contactId"], body["assignedTo"]] as Array<ReadonlyArray<unknown> | undefined>
  const text = searchText(body["query"], "query")
  const { completed } = body
  const isOpenOnly = completed === undefined && settings.variants.taskSearch === "open"
  const key = JSON.stringify([contactIds, assignees, text, completed])
  if (key === "[null,null,null,null]" && !isOpenOnly) return undefined
  const test = (entry: Entry): boolean => {
    const task = world.tasks.data(entry)
    if (contactIds !== undefined && !contactIds.includes(entry.parent)) return false
    if (assignees !== undefined && !assignees.includes(task["assignedTo"])) return false
    if (completed !== undefined && task["completed"] !== completed) return false
    if (isOpenOnly && task["completed"] === true) return false
    return text === undefined || String(task["title"]).toLowerCase().includes(text)
  }
  return { key, test }
}

/** The business is that of the contact, which may change without the task, so these lists are not cached. */
const ofBusiness = (rows: ReadonlyArray<Entry>, businessId: unknown, { world }: Service): ReadonlyArray<Entry> => {
  if ((businessId ?? "") === "") return rows
  return rows.filter((row) => {
    const contact = world.contacts.get(row.parent ?? "")
    return contact !== undefined && world.contacts.data(contact)["businessId"] === businessId
  })
}

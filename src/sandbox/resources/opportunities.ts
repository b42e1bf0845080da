import { iso } from "../clock.ts"
import { invalid, malformed, notFound } from "../errors.ts"
import type { Route, Service } from "../route.ts"
import { type Data, type Entry, entry } from "../world/collection.ts"

/** Pipelines, and one opportunity at a time (A 4.4). */
export const opportunityRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/opportunities/pipelines",
    scope: "opportunities.readonly",
    location: { in: "query", name: "locationId" },
    handle: (_, { world }) => ({
      body: { pipelines: [...world.pipelines.live()].map((row) => world.pipelines.data(row)) }
    })
  },
  {
    method: "GET",
    path: "/opportunities/:id",
    scope: "opportunities.readonly",
    handle: ({ params }, service) => ({ body: wrapped(service, findOpportunity(service, params["id"]!)) })
  },
  {
    method: "POST",
    path: "/opportunities/",
    scope: "opportunities.write",
    location: { in: "body", name: "locationId" },
    handle: ({ body }, service) => {
      const missing = ["pipelineId", "name", "status", "contactId"].filter((name) => (body[name] ?? "") === "")
      if (missing.length > 0) throw invalid(...missing.map((name) => `${name} should not be empty`))
      const created = createOpportunity(service, readFields(body, service))
      return { status: 201, body: shown(service, created) }
    }
  },
  // Update and delete are in no document: the plainest reading of the others (A 4.10).
  {
    method: "PUT",
    path: "/opportunities/:id",
    scope: "opportunities.write",
    handle: ({ body, params }, service) => {
      const old = findOpportunity(service, params["id"]!)
      return { body: shown(service, updateOpportunity(service, old, readFields(body, service))) }
    }
  },
  {
    method: "DELETE",
    path: "/opportunities/:id",
    scope: "opportunities.write",
    handle: ({ params }, service) => {
      service.world.opportunities.remove(findOpportunity(service, params["id"]!))
      return { body: { succeeded: true } }
    }
  }
]

export const createOpportunity = ({ clock, random, world }: Service, fields: Data): Entry => {
  const id = random.id()
  const now = clock.now()
  const { locationId } = world.setting
  const pipeline = world.pipelines.get(fields["pipelineId"] as string)!
  const [firstStage] = world.pipelines.data(pipeline)["stages"] as ReadonlyArray<Data>
  const contact = world.contacts.data(world.contacts.get(fields["contactId"] as string)!)
  const summary = ["id", "name", "companyName", "email", "phone", "tags"].map((name) => [name, contact[name]])
  const source = {
    id,
    locationId,
    pipelineStageId: firstStage!["id"],
    customFields: [],
    followers: [],
    effectiveProbability: 0,
    ...fields,
    contact: Object.fromEntries(summary),
    ...["createdAt", "updatedAt", "lastStatusChangeAt", "lastStageChangeAt"].reduce(
      (dates, name) => ({ ...dates, [name]: iso(now) }),
      {}
    ),
    notes: [],
    tasks: [],
    calendarEvents: []
  }
  return world.opportunities.add(entry({ id, parent: contact["id"] as string, created: now, source }))
}

export const updateOpportunity = ({ clock, world }: Service, old: Entry, fields: Data): Entry => {
  const now = clock.now()
  const data = world.opportunities.data(old)
  const moved = (name: string, date: string): Data =>
    name in fields && fields[name] !== data[name] ? { [date]: iso(now) } : {}
  const source = {
    ...data,
    ...fields,
    updatedAt: iso(now),
    ...moved("status", "lastStatusChangeAt"),
    ...moved("pipelineStageId", "lastStageChangeAt")
  }
  return world.opportunities.replace(old, entry({ ...old, updated: now, source }))
}

const findOpportunity = ({ world }: Service, id: string): Entry => {
  const found = world.opportunities.get(id)
  if (found === undefined) throw notFound(`Opportunity with id ${id} not found`)
  return found
}

const wrapped = ({ world }: Service, row: Entry): string => `{"opportunity":${world.opportunities.full(row)}}`

/** Create and update answers carry notes, tasks and events, which a read by id leaves out (A 2.6). */
const shown = ({ world }: Service, row: Entry): Data => ({ opportunity: world.opportunities.data(row) })

const readFields = (body: Data, { world }: Service): Data => {
  const fields: Data = {}
  for (const [name, kind] of Object.entries(kinds)) {
    if (body[name] === undefined) continue
    if (kind === "list" ? !Array.isArray(body[name]) : typeof body[name] !== kind) {
      throw malformed(`${name} must be ${kind === "list" ? "an array" : `a ${kind}`}`)
    }
    fields[name] = body[name]
  }
  const { contactId, pipelineId, status } = fields as Record<string, string | undefined>
  if (status !== undefined && !statuses.includes(status)) throw invalid(`status must be one of: ${statuses.join(", ")}`)
  if (pipelineId !== undefined && world.pipelines.get(pipelineId) === undefined)
    throw invalid("pipelineId is not valid")
  if (contactId !== undefined && world.contacts.get(contactId) === undefined) throw invalid("contactId is not valid")
  return fields
}

const statuses = ["open", "won", "lost", "abandoned"]

const kinds = {
  pipelineId: "string",
  pipelineStageId: "string",
  name: "string",
  status: "string",
  contactId: "string",
  assignedTo: "string",
  source: "string",
  monetaryValue: "number",
  lostReasonId: "string",
  forecastExpectedCloseDate: "string",
  forecastProbability: "number",
  customFields: "list",
  followers: "list"
}

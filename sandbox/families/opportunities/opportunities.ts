import { iso } from "../../account/clock.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { flag, record } from "../../http/shape.ts"
import { type Data, type Entry, entry } from "../../account/collection.ts"
import { contactSummary } from "../contacts/seeded-contacts.ts"
import { newOpportunityShape, opportunityShape, readOpportunity } from "./fields.ts"
import { dropNulls, find, wrapRecord } from "../records.ts"

const returns = { opportunity: record("Opportunity") }

/** Creating, reading, changing and deleting one opportunity (A 4.4). */
export const opportunityRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/opportunities/:id",
    scope: "opportunities.readonly",
    summary: "Get an opportunity",
    returns,
    handle: ({ params }, service) =>
      wrapRecord("opportunity", service.world.opportunities, findOpportunity(service, params["id"]!))
  },
  {
    method: "POST",
    path: "/opportunities/",
    scope: "opportunities.write",
    location: { in: "body", name: "locationId" },
    summary: "Create an opportunity",
    body: newOpportunityShape,
    status: 201,
    returns,
    handle: ({ body }, service) => {
      return shown(service, createOpportunity(service, readOpportunity(body, service)))
    }
  },
  // Update and delete are not documented; they are like those of the other resources (A 4.10).
  {
    method: "PUT",
    path: "/opportunities/:id",
    scope: "opportunities.write",
    summary: "Update an opportunity",
    body: opportunityShape,
    returns,
    handle: ({ body, params }, service) => {
      const old = findOpportunity(service, params["id"]!)
      const fields = readOpportunity(body, service, service.world.opportunities.data(old))
      return shown(service, updateOpportunity(service, old, fields))
    }
  },
  {
    method: "DELETE",
    path: "/opportunities/:id",
    scope: "opportunities.write",
    summary: "Delete an opportunity",
    returns: { succeeded: flag },
    handle: ({ params }, service) => {
      service.world.opportunities.remove(findOpportunity(service, params["id"]!))
      return { succeeded: true }
    }
  }
]

export const createOpportunity = ({ clock, random, world }: Service, fields: Data): Entry => {
  const id = random.id()
  const now = clock.now()
  const { locationId } = world.context
  const pipeline = world.pipelines.get(fields["pipelineId"] as string)!
  const [firstStage] = world.pipelines.data(pipeline)["stages"] as ReadonlyArray<Data>
  const owner = world.contacts.get(String(fields["contactId"]))
  const source = dropNulls({
    id,
    locationId,
    pipelineStageId: firstStage!["id"],
    customFields: [],
    followers: [],
    effectiveProbability: 0,
    ...fields,
    contact: contactSummary(owner === undefined ? {} : world.contacts.data(owner)),
    ...["createdAt", "updatedAt", "lastStatusChangeAt", "lastStageChangeAt"].reduce(
      (dates, name) => ({ ...dates, [name]: iso(now) }),
      {}
    ),
    notes: [],
    tasks: [],
    calendarEvents: []
  })
  return world.opportunities.add(entry({ id, parent: owner?.id ?? null, created: now, source }))
}

export const updateOpportunity = (service: Service, old: Entry, fields: Data): Entry => {
  const { clock, deliveries, world } = service
  const now = clock.now()
  const data = world.opportunities.data(old)
  const moved = (name: string, date: string): Data =>
    name in fields && fields[name] !== data[name] ? { [date]: iso(now) } : {}
  const owner = world.contacts.get(String(fields["contactId"]))
  const source = dropNulls({
    ...data,
    ...fields,
    ...(owner !== undefined && { contact: contactSummary(world.contacts.data(owner)) }),
    updatedAt: iso(now),
    ...moved("status", "lastStatusChangeAt"),
    ...moved("pipelineStageId", "lastStageChangeAt")
  })
  const isChanged = (name: string): boolean => source[name] !== data[name]
  if (isChanged("pipelineStageId")) deliveries.trigger("opportunity_stage_changed", source)
  if (isChanged("status")) deliveries.trigger("opportunity_status_changed", source)
  const parent = owner?.id ?? old.parent
  return world.opportunities.replace(old, entry({ ...old, parent, updated: now, source }))
}

const findOpportunity = ({ world }: Service, id: string): Entry => find(world.opportunities, id, "Opportunity")

/** Responses to create and update contain notes, tasks and events, which a single read omits (A 2.6). */
const shown = ({ world }: Service, row: Entry): Data => ({ opportunity: world.opportunities.data(row) })

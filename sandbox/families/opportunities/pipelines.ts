import { conflict } from "../../http/errors.ts"
import type { Answer, Call, Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { type Shape, between, choice, flag, list, number, object, record, required, text } from "../../http/shape.ts"
import { type Data, type Entry, entry } from "../../account/collection.ts"
import { updateOpportunity } from "./opportunities.ts"
import { stagesOf, withProbabilities } from "./pipeline-stages.ts"
import { dropNulls, find } from "../records.ts"

const shape: Shape = {
  name: text,
  stages: list(
    object({
      id: text,
      name: required(text),
      position: number,
      showInFunnel: flag,
      stageWinProbability: between(number, 0, 100)
    })
  ),
  showInFunnel: flag,
  showInPieChart: flag,
  useOpportunityProbability: flag,
  colorRenderMode: choice("dot", "bg-tint", "none")
}

/** Pipelines (A 4.4): listing them takes another scope than reading one. */
export const pipelineRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/opportunities/pipelines",
    scope: "opportunities.readonly",
    location: { in: "query", name: "locationId" },
    summary: "List pipelines with their stages",
    returns: { pipelines: list(record("Pipeline")) },
    handle: (_, service) => ({ pipelines: inOrder(service) })
  },
  {
    method: "POST",
    path: "/opportunities/pipelines",
    scope: "pipelines.create",
    location: { in: "body", name: "locationId" },
    summary: "Create a pipeline",
    body: { ...shape, name: required(text), stages: required({ ...shape["stages"]!, minItems: 1 }) },
    returns: record("Pipeline"),
    errors: [409],
    handle: (call, service) => create(call, service)
  },
  {
    method: "GET",
    path: "/opportunities/pipelines/:pipelineId",
    scope: "pipelines.readonly",
    summary: "Get a pipeline",
    returns: record("Pipeline"),
    handle: ({ params }, { world }) => world.pipelines.full(find(world.pipelines, params["pipelineId"], "Pipeline"))
  },
  {
    method: "PUT",
    path: "/opportunities/pipelines/:pipelineId",
    scope: "pipelines.write",
    summary: "Update a pipeline",
    body: shape,
    returns: record("Pipeline"),
    errors: [409],
    handle: (call, service) => update(call, service)
  },
  {
    method: "DELETE",
    path: "/opportunities/pipelines/:pipelineId",
    scope: "pipelines.write",
    summary: "Delete a pipeline and its opportunities",
    returns: { success: flag, message: text },
    handle: ({ params }, service) => {
      const { opportunities, pipelines } = service.world
      const pipeline = find(pipelines, params["pipelineId"], "Pipeline")
      const removed = opportunitiesIn(service, ({ pipelineId }) => pipelineId === pipeline.id)
      for (const row of removed) opportunities.remove(row)
      pipelines.remove(pipeline)
      return { success: true, message: `Pipeline deleted with ${removed.length} opportunities` }
    }
  }
]

const create = ({ body }: Call, service: Service): Answer => {
  const { clock, random, world } = service
  refuseSameName(service, body["name"])
  const id = random.id()
  const position = positionAfter(inOrder(service).at(-1)?.["position"])
  const { locationId } = world.context
  const flags = {
    showInFunnel: true,
    showInPieChart: true,
    useOpportunityProbability: false,
    colorRenderMode: "dot"
  }
  const data = dropNulls({ id, locationId, ...flags, position, ...body, stages: stagesOf(service, body, []) })
  const pipeline = world.pipelines.add(entry({ id, created: clock.now(), source: withProbabilities(data) }))
  return world.pipelines.full(pipeline)
}

const inOrder = ({ world: { pipelines } }: Service): ReadonlyArray<Data> =>
  [...pipelines.live()]
    .map((row) => pipelines.data(row))
    .sort((a, b) => (String(a["position"]) < String(b["position"]) ? -1 : 1))

/** The next key that sorts as text: a0 to a9, then b10 to b99, and so on. */
const positionAfter = (last: unknown): string => {
  const place = last === undefined ? 0 : Number(String(last).slice(1)) + 1
  return `${"abcdefgh"[String(place).length - 1]}${place}`
}

const update = ({ body, params }: Call, service: Service): Answer => {
  const { pipelines } = service.world
  const old = find(pipelines, params["pipelineId"], "Pipeline")
  const data = pipelines.data(old)
  const oldStages = data["stages"] as ReadonlyArray<Data>
  if (body["name"] !== undefined) refuseSameName(service, body["name"], old.id)
  const stages = body["stages"] === undefined ? oldStages : stagesOf(service, body, oldStages)
  const source = withProbabilities(dropNulls({ ...data, ...body, stages }))
  const next = pipelines.replace(old, entry({ ...old, updated: service.clock.now(), source }))
  moveOpportunities(service, oldStages, stages)
  return pipelines.full(next)
}

/** Pipeline names are unique in a location, whatever their case (A 4.4). */
const refuseSameName = ({ world }: Service, name: unknown, besides?: string | null): void => {
  const taken = [...world.pipelines.live()].some(
    (row) =>
      row.id !== besides && String(world.pipelines.data(row)["name"]).toLowerCase() === String(name).toLowerCase()
  )
  if (taken) throw conflict(`A pipeline named ${String(name)} exists already`)
}

/** The opportunities of a removed stage go to the remaining stage with the lowest position (A 3). */
const moveOpportunities = (service: Service, before: ReadonlyArray<Data>, after: ReadonlyArray<Data>): void => {
  const left = new Set(after.map((stage) => stage["id"]))
  const removed = new Set(before.map((stage) => stage["id"]).filter((id) => !left.has(id)))
  if (removed.size === 0) return
  const remaining = after.find((stage) => before.some((old) => old["id"] === stage["id"]))!
  for (const opportunity of opportunitiesIn(service, (data) => removed.has(data["pipelineStageId"]))) {
    updateOpportunity(service, opportunity, { pipelineStageId: remaining["id"] })
  }
}

const opportunitiesIn = (
  { world: { opportunities } }: Service,
  test: (opportunity: Data) => boolean
): ReadonlyArray<Entry> => [...opportunities.live()].filter((row) => test(opportunities.data(row)))

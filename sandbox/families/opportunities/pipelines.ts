import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { flag, list, record, text } from "../../http/shape.ts"
import { type Data, type Entry } from "../../account/collection.ts"
import { find } from "../records.ts"

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
    method: "GET",
    path: "/opportunities/pipelines/:pipelineId",
    scope: "pipelines.readonly",
    summary: "Get a pipeline",
    returns: record("Pipeline"),
    handle: ({ params }, { world }) => world.pipelines.full(find(world.pipelines, params["pipelineId"], "Pipeline"))
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

const inOrder = ({ world: { pipelines } }: Service): ReadonlyArray<Data> =>
  [...pipelines.live()]
    .map((row) => pipelines.data(row))
    .sort((a, b) => (String(a["position"]) < String(b["position"]) ? -1 : 1))

const opportunitiesIn = (
  { world: { opportunities } }: Service,
  test: (opportunity: Data) => boolean
): ReadonlyArray<Entry> => [...opportunities.live()].filter((row) => test(opportunities.data(row)))

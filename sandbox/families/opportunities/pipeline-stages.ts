import { invalid } from "../../http/errors.ts"
import type { Service } from "../../service.ts"
import type { Data } from "../../account/collection.ts"

/** The stages of a body, in their order: stages with an id exist already, the others are new (A 3). */
export const stagesOf = ({ random }: Service, body: Data, old: ReadonlyArray<Data>): ReadonlyArray<Data> => {
  const sent = body["stages"] as ReadonlyArray<Data>
  const names = sent.map((stage) => String(stage["name"]).toLowerCase())
  if (new Set(names).size < names.length) throw invalid("stage names must be unique in a pipeline")
  const known = new Map(old.map((stage) => [stage["id"], stage]))
  const kept = sent.flatMap((stage) => (stage["id"] === undefined ? [] : [stage["id"]]))
  if (kept.some((id) => !known.has(id))) throw invalid("stages must have ids of this pipeline, or none")
  if (new Set(kept).size < kept.length) throw invalid("a stage can be sent once only")
  if (old.length > 0 && kept.length === 0) throw invalid("all stages of a pipeline cannot be removed in one call")
  const place = (stage: Data, index: number): number => (stage["position"] as number | undefined) ?? index
  return sent
    .map((stage, index) => ({ stage, at: place(stage, index) }))
    .sort((a, b) => a.at - b.at)
    .map(({ stage }, position) => ({
      id: random.id(),
      showInFunnel: true,
      ...known.get(stage["id"]),
      ...stage,
      position
    }))
}

/** If one stage has no probability, those of all stages are computed from their positions (A 4.4). */
export const withProbabilities = (pipeline: Data): Data => {
  const stages = pipeline["stages"] as ReadonlyArray<Data>
  const isManual = stages.every((stage) => stage["stageWinProbability"] !== undefined)
  if (pipeline["useOpportunityProbability"] !== true || isManual) return pipeline
  const share = (position: number): number => Math.round((100 * (position + 1)) / stages.length)
  return {
    ...pipeline,
    stages: stages.map((stage, position) => ({ ...stage, stageWinProbability: share(position) }))
  }
}

import { Collection, entry } from "../../account/collection.ts"
import type { AccountContext } from "../../account/context.ts"
import { Random, streams } from "../../account/random.ts"

/** Pipelines with their stages in order (A 2.6); `position` of a pipeline is a text that sorts. */
export const createPipelines = (context: AccountContext): Collection => {
  const pipelines = new Collection({ build: () => ({}) })
  definitions.forEach(([name, stages], index) => {
    const random = new Random(context.seed, streams.setup, index + 1)
    const id = random.id()
    const pipeline = {
      id,
      name,
      locationId: context.locationId,
      showInFunnel: index !== 1,
      showInPieChart: true,
      useOpportunityProbability: index === 0,
      colorRenderMode: ["dot", "bg-tint", "none"][index % 3],
      position: `a${index}`,
      stages: stages.map((stage, position) => ({
        id: random.id(),
        name: stage,
        position,
        showInFunnel: position !== stages.length - 1,
        ...(index === 0 && { stageWinProbability: Math.round((100 * position) / (stages.length - 1)) })
      }))
    }
    pipelines.add(entry({ id, created: context.begin + index, source: pipeline }))
  })
  return pipelines
}

const definitions: ReadonlyArray<[string, ReadonlyArray<string>]> = [
  ["Renovations", ["Inquiry", "Site visit", "Estimate sent", "Deposit paid", "In progress"]],
  ["Garden care", ["Asked", "Quoted", "Scheduled"]],
  ["Commercial", ["Lead", "Proposal", "Negotiation", "Contract"]]
]

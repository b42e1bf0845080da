/** The facts that there are now, and the alarms that follow, from the warehouse, or from the last release while another program has it open. */
import * as Effect from "effect/Effect"
import { type Facts, readFacts } from "../alarms/facts.ts"
import { isComparable } from "../alarms/volume.ts"
import { type Watch, watch } from "../alarms/watch.ts"
import type { Catalogue } from "../catalog/discover.ts"
import { embeddedResourcesOf } from "../catalog/resource.ts"
import type { WantedSettings, CommandSettings } from "../settings/settings.ts"
import { loadCatalogue } from "../command/catalogue.ts"
import type { Reported } from "../command/features.ts"
import { openReadable } from "../command/readable.ts"
import type { comparedShape } from "../command/result-shapes.ts"
import { type Choice, choose } from "../stages/plan/plan.ts"

/** Which resources a sync reads, with those that are embedded in their pages. */
export const readResources = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  { optional }: Pick<WantedSettings, "optional">,
  choice: Omit<Choice, "full" | "optional"> = { only: [], except: [] }
) {
  const chosen = yield* choose(catalogue, { ...choice, optional, full: false })
  return chosen.flatMap((one) => [one, ...embeddedResourcesOf(catalogue.resources, one.table)])
})

/** What the alarms are decided from. */
export const factsOf = Effect.fnUntraced(function* ({ wanted }: Pick<Reported, "wanted">, catalogue: Catalogue) {
  const { locations } = wanted
  return yield* readFacts(catalogue, { locations, resources: yield* readResources(catalogue, wanted) })
})

/** Decides the alarms of an output. */
export const watchOutput = (
  { alarms, wanted, folder }: Reported,
  facts: Facts | undefined,
  run: Pick<Watch, "failed" | "isRunning">
) => watch({ folder, ...alarms, ...run, naming: namingOf(wanted) }, facts)

/** What has to be set so that a location can be read. */
export const namingOf = ({ tokenNames }: Pick<WantedSettings, "tokenNames">): Watch["naming"] => ({
  tokenOf: (location) => tokenNames.get(location) ?? `the token of location ${location}`
})

/** Fails if there is neither a warehouse that can be opened nor a release. */
export const alarmsNow = Effect.fnUntraced(function* (output: CommandSettings) {
  const catalogue = yield* loadCatalogue(output)
  const readable = yield* openReadable(output)
  if (readable.source === "none") return yield* readable.locked
  const facts = yield* Effect.provide(factsOf(output, catalogue), readable.tables)
  const watched = yield* watchOutput(output, facts, { isRunning: readable.holder?.isRun === true })
  return { facts, watched, compared: comparedOf(facts) }
}, Effect.scoped)

export type Compared = ReturnType<typeof comparedShape>["Type"]

/** A new output has no nights, and its volumes are compared with nothing. */
const comparedOf = ({ nights, readings, syncs }: Facts): Compared => ({
  syncs: syncs.length,
  readings: readings.filter(({ completeAt }) => completeAt !== undefined).length,
  volumes: [...nights.values()].filter(isComparable).length
})

/** The facts that there are now, and the alarms that follow, from the warehouse, or from the last release while another program has it open. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Facts, readFacts } from "../alarms/facts.ts"
import { isProblem } from "../alarms/verdict.ts"
import { isComparable } from "../alarms/volume.ts"
import { type Watch, watch } from "../alarms/watch.ts"
import type { Catalogue } from "../catalog/discover.ts"
import { embeddedResourcesOf } from "../catalog/resource.ts"
import { readManifest } from "../output/manifest.ts"
import { outputPaths } from "../output/paths.ts"
import type { WantedSettings, CommandSettings } from "../settings/settings.ts"
import { loadCatalogue } from "../command/catalogue.ts"
import type { Reported } from "../command/features.ts"
import { type Readable, openReadable } from "../command/readable.ts"
import type { comparedShape } from "../command/result-shapes.ts"
import { type Choice, choose } from "../stages/plan/plan.ts"
import { missingIn } from "../stages/publish/manifest.ts"
import { type TargetState, ownRelease } from "../stores/warehouse/meta/targets.ts"

/** Which resources a sync reads, with those that are embedded in their pages. */
export const readResources = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  { optional }: Pick<WantedSettings, "optional">,
  choice: Omit<Choice, "full" | "optional"> = { only: [], except: [] }
) {
  const chosen = yield* choose(catalogue, { ...choice, optional, full: false })
  return chosen.flatMap((one) => [one, ...embeddedResourcesOf(catalogue.resources, one.table)])
})

/**
 * What the alarms are decided from. A release is older than the nights that changed nothing: what was complete in it was
 * complete when it was last compared with the tables, too.
 */
export const factsOf = Effect.fnUntraced(function* (
  { folder, wanted }: Pick<Reported, "folder" | "wanted">,
  catalogue: Catalogue,
  { source, tables }: Extract<Readable, { readonly source: "warehouse" | "published" }>
) {
  const { locations } = wanted
  const resources = yield* readResources(catalogue, wanted)
  const facts = yield* Effect.provide(readFacts(catalogue, { locations, resources }), tables)
  const { published } = outputPaths(folder)
  if (source === "warehouse")
    return { ...facts, targets: yield* Effect.forEach(facts.targets, (one) => asFound(one, published)) }
  const manifest = yield* Effect.option(Effect.tryPromise(() => readManifest(published)))
  const confirmedAt = Date.parse(Option.getOrUndefined(manifest)?.confirmedAt ?? "")
  const latest = (at: number | undefined) => (at === undefined || !(confirmedAt > at) ? at : confirmedAt)
  const confirmed = ({ checkedAt, completeAt, ...reading }: Facts["readings"][number]) => ({
    ...reading,
    completeAt: latest(completeAt),
    checkedAt: latest(checkedAt)
  })
  return { ...facts, readings: facts.readings.map((one) => (isProblem(one) ? one : confirmed(one))) }
})

/** That the published files were written is no proof that they are still there. */
const asFound = Effect.fnUntraced(function* (target: TargetState, published: string) {
  if (target.name !== ownRelease || target.run === undefined || target.failedSince !== undefined) return target
  const missing = yield* missingIn(published)
  return missing.length === 0 ? target : { ...target, missing, failedSince: yield* Clock.currentTimeMillis }
})

/** Decides the alarms of an output. */
export const watchOutput = (
  { alarms, wanted, folder }: Reported,
  facts: Facts | undefined,
  run: Pick<Watch, "failed" | "isOfRelease" | "isRunning">
) => watch({ folder, ...alarms, ...run, naming: namingOf(wanted) }, facts)

/** What is known of a run that works now. */
export const runningOf = ({ holder, source }: Readable) => ({
  isRunning: holder?.isRun === true,
  isOfRelease: source === "published"
})

/** What has to be set so that a location can be read. */
export const namingOf = ({ tokenNames }: Pick<WantedSettings, "tokenNames">): Watch["naming"] => ({
  tokenOf: (location) => tokenNames.get(location) ?? `the token of location ${location}`
})

/** Fails if there is neither a warehouse that can be opened nor a release. */
export const alarmsNow = Effect.fnUntraced(function* (output: CommandSettings) {
  const catalogue = yield* loadCatalogue(output)
  const readable = yield* openReadable(output)
  if (readable.source === "none") return yield* readable.locked
  const facts = yield* factsOf(output, catalogue, readable)
  const watched = yield* watchOutput(output, facts, runningOf(readable))
  return { facts, watched, compared: comparedOf(facts) }
}, Effect.scoped)

export type Compared = ReturnType<typeof comparedShape>["Type"]

/** A new output has no nights, and its volumes are compared with nothing. */
const comparedOf = ({ nights, readings, syncs }: Facts): Compared => ({
  syncs: syncs.length,
  readings: readings.filter(({ completeAt }) => completeAt !== undefined).length,
  volumes: [...nights.values()].filter(isComparable).length
})

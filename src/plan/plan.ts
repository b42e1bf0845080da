/** What a run has to read: which resources, how much of each, where an interrupted run left off, what it costs. */
import { Clock, Duration, Effect } from "effect"
import type { Catalogue } from "../catalog/discover.ts"
import { enabledPart } from "../catalog/optional.ts"
import type { OptionalSettings } from "../settings/table.ts"
import {
  type Resource,
  type Strategy,
  childRequestOf,
  asksForCompany,
  embeddedResourcesOf
} from "../catalog/resource.ts"
import { tablesOf } from "../catalog/tables.ts"
import { dayMs } from "../catalog/timestamps.ts"
import { noCapabilities } from "../values/capabilities.ts"
import type { Step } from "../values/step.ts"
import { unfinishedFullSync } from "../warehouse/meta/runs.ts"
import { type Failure, failure } from "../failure.ts"
import { type SyncState, dueCount, readSyncState } from "../warehouse/sync-state.ts"
import type { Warehouse } from "../warehouse/warehouse.ts"

export interface Plan {
  readonly steps: ReadonlyArray<Step>
  /** Sum over the steps; unknown while any of them is. */
  readonly requests: number | undefined
}

export interface Choice {
  /** Tables or families; empty: all. */
  readonly only: ReadonlyArray<string>
  /** Tables or families to leave out. */
  readonly except: ReadonlyArray<string>
  readonly optional: OptionalSettings
  /** Read everything, whatever is known; an earlier run that had begun to is gone on with. */
  readonly full: boolean
}

export const makePlan = Effect.fn("plan.make")(function* (
  catalogue: Catalogue,
  location: string,
  choice: Choice
): Effect.fn.Return<Plan, Failure, Warehouse> {
  const known = yield* readSyncState(location)
  const now = yield* Clock.currentTimeMillis
  const refreshCutoff = choice.full ? ((yield* unfinishedFullSync()) ?? now) : undefined
  const chosen = yield* choose(catalogue, choice)
  const steps = yield* Effect.forEach(chosen, (resource) =>
    stepOf(resource, embeddedResourcesOf(catalogue.resources, resource.table), known, location, now, refreshCutoff)
  )
  const costs = steps.map(({ requests }) => requests)
  const requests = costs.every((cost) => cost !== undefined) ? costs.reduce((sum, cost) => sum + cost, 0) : undefined
  return { steps, requests }
})

const stepOf = Effect.fnUntraced(function* (
  resource: Resource,
  embedded: ReadonlyArray<Resource>,
  knownByLabel: ReadonlyMap<string, SyncState>,
  location: string,
  now: number,
  refreshCutoff: number | undefined
): Effect.fn.Return<Step, Failure, Warehouse> {
  const known = knownByLabel.get(resource.table)
  const childRequest = childRequestOf(resource)
  const full = refreshCutoff !== undefined
  const due = childRequest && known && (yield* dueCount({ location, childRequest, refreshCutoff }))
  const common = {
    resource,
    embedded,
    refreshCutoff,
    capabilities: known?.capabilities ?? noCapabilities,
    childCapabilities: childRequest && knownByLabel.get(childRequest.label)?.capabilities,
    checkpoints: known?.checkpoints ?? {}
  }
  if (resource.kind !== "list") return { ...common, mode: "children", requests: due }
  // An interrupted reading goes on as it began.
  const resumed = Object.values(common.checkpoints)[0]
  const { changes } = resource
  const sinceFull = now - (known?.fullCompleteAt ?? 0)
  // A reading that is still to come was made while our clock was ahead.
  const stale =
    changes?.fullEvery !== undefined && (sinceFull > Duration.toMillis(changes.fullEvery) || sinceFull < -dayMs)
  const since =
    resumed?.since ??
    (changes && known?.watermark !== undefined ? known.watermark - Duration.toMillis(changes.overlap) : undefined)
  const changed = !full && changes !== undefined && since !== undefined && !stale
  const mode = (full ? undefined : resumed?.mode) ?? (changed ? "incremental" : "full")
  const list = (mode === "full" ? pagesOfFullRead(resource.full[0]!, known?.total) : undefined) ?? known?.requests
  return {
    ...common,
    mode,
    ...(mode === "incremental" && since !== undefined && { since }),
    requests: list === undefined ? undefined : list + (due ?? 0)
  }
})
/** Pages of a full reading of the list; what is asked row by row comes on top. */
export const pagesOfFullRead = (strategy: Strategy, total: number | undefined): number | undefined => {
  if (strategy.paging.kind === "once") return 1
  return total === undefined ? undefined : Math.max(1, Math.ceil(total / strategy.pageSize))
}

/** What was asked for, and what it needs: the rows it is read under, and the pages it is in. */
export const choose = (
  catalogue: Catalogue,
  { only, except, optional }: Choice
): Effect.Effect<ReadonlyArray<Resource>, Failure> => {
  const { resources, familyByTable } = catalogue
  const among = (words: ReadonlyArray<string>) => (resource: Resource) => isAmong(catalogue, resource, words)
  for (const [flag, words] of [
    ["--only", only],
    ["--except", except]
  ] as const) {
    const unknown = words.find((word) => !resources.some(among([word])))
    if (unknown !== undefined)
      return Effect.fail(
        failure({ _tag: "UnknownSelection", flag, name: unknown, families: [...new Set(familyByTable.values())] })
      )
  }
  const available = resources.flatMap((resource) => enabledPart(resource, optional) ?? [])
  const wanted = new Set(only.length === 0 ? available : available.filter(among(only)))
  for (const resource of wanted)
    for (const needed of neededBy(resource))
      for (const other of available) if (other.table === needed) wanted.add(other)
  const chosen = available.filter(
    (resource) => wanted.has(resource) && !resource.embeddedIn && !among(except)(resource)
  )
  // That a resource is not enabled is no mistake.
  return chosen.length > 0 || except.length === 0
    ? Effect.succeed(chosen)
    : Effect.fail(failure({ _tag: "NothingSelected", only, except }))
}

/** Whether it, one of its tables, or its family is named. */
export const isAmong = ({ familyByTable }: Catalogue, resource: Resource, words: ReadonlyArray<string>): boolean =>
  words.some(
    (word) => familyByTable.get(resource.table) === word || tablesOf(resource).some((table) => table.name === word)
  )

/** Tables that have to be read for a resource to be read; the location for the company that owns it. */
const neededBy = (resource: Resource): ReadonlyArray<string> => [
  ...(resource.childOf ? [resource.childOf.table] : []),
  ...(resource.embeddedIn ? [resource.embeddedIn.table] : []),
  ...(asksForCompany(resource) ? ["locations"] : [])
]

/** What a run has to read: which resources, how much of each, where an interrupted run left off, what it costs. */
import { Clock, Effect } from "effect"
import type { Catalogue } from "../catalog/discover.ts"
import type { Resource } from "../catalog/resource.ts"
import { tablesOf } from "../catalog/tables.ts"
import { Failure } from "../failure.ts"
import { type Known, dueCount, knownReadings } from "../warehouse/state.ts"
import type { Warehouse } from "../warehouse/warehouse.ts"

export interface Step {
  readonly resource: Resource
  /** `each`: one request for each parent row that is due. */
  readonly mode: "full" | "changed" | "each"
  /** Watermark less overlap, epoch milliseconds. */
  readonly since?: number
  /** Passes that an earlier run began. */
  readonly begun: Readonly<Record<string, unknown>>
  /** What earlier runs found out about reading it here. */
  readonly findings: unknown
  /** Requests this step will take, as far as earlier runs let us know. */
  readonly requests: number | undefined
}
export interface Plan {
  readonly steps: ReadonlyArray<Step>
  /** Sum over the steps; unknown while any of them is. */
  readonly requests: number | undefined
}

export interface Choice {
  /** Tables or families; empty: all. */
  readonly only: ReadonlyArray<string>
  /** Read everything, whatever is known. */
  readonly full: boolean
}

export const makePlan = Effect.fn("plan.make")(function* (
  catalogue: Catalogue,
  location: string,
  choice: Choice
): Effect.fn.Return<Plan, Failure, Warehouse> {
  const known = yield* knownReadings(location)
  const now = yield* Clock.currentTimeMillis
  const chosen = yield* choose(catalogue, choice.only)
  const steps = yield* Effect.forEach(chosen, (resource) =>
    stepOf(resource, known.get(resource.table), location, now, choice.full)
  )
  const costs = steps.map(({ requests }) => requests)
  const requests = costs.every((cost) => cost !== undefined) ? costs.reduce((sum, cost) => sum + cost, 0) : undefined
  return { steps, requests }
})

const stepOf = Effect.fnUntraced(function* (
  resource: Resource,
  known: Known | undefined,
  location: string,
  now: number,
  full: boolean
): Effect.fn.Return<Step, Failure, Warehouse> {
  const common = { resource, findings: known?.way, begun: known?.passes ?? {} }
  if (resource.each)
    return {
      ...common,
      mode: "each",
      requests:
        known &&
        (yield* dueCount({
          location,
          resource: resource.table,
          parentTable: resource.each.table,
          changedBy: resource.each.changedBy,
          everyDays: resource.each.everyDays
        }))
    }
  const { table, detail } = resource
  const details =
    detail && known
      ? yield* dueCount({
          location,
          resource: table,
          parentTable: table,
          changedBy: detail.changedBy,
          everyDays: detail.everyDays
        })
      : undefined
  // An interrupted reading goes on as it began.
  const resumed = Object.values(common.begun)[0] as
    | { readonly mode: "full" | "changed"; readonly since?: number }
    | undefined
  const { changes } = resource
  const stale =
    changes?.fullEveryDays !== undefined && now - (known?.fullCompleteAt ?? 0) > changes.fullEveryDays * 86_400_000
  const since =
    resumed?.since ??
    (changes && known?.watermark !== undefined ? known.watermark - changes.overlapDays * 86_400_000 : undefined)
  const changed = !full && changes !== undefined && since !== undefined && !stale
  const mode = (full ? undefined : resumed?.mode) ?? (changed ? "changed" : "full")
  return {
    ...common,
    mode,
    ...(mode === "changed" && since !== undefined && { since }),
    requests: (mode === "full" ? fullRequests(resource, known?.total, details) : undefined) ?? known?.requests
  }
})

/** Pages of a full reading, and the details that come on top: those that are due, or on a first reading all. */
export const fullRequests = (
  resource: Resource,
  total: number | undefined,
  details = resource.detail ? total : 0
): number | undefined => {
  const way = resource.full[0]!
  if (way.paging.kind === "once") return 1
  if (total === undefined || details === undefined) return undefined
  return Math.max(1, Math.ceil(total / way.pageSize)) + details
}

/** A resource that is read under another brings that one along. */
const choose = (catalogue: Catalogue, only: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Resource>, Failure> => {
  if (only.length === 0) return Effect.succeed(catalogue.resources)
  const matches = (resource: Resource, word: string) =>
    catalogue.familyByTable.get(resource.table) === word || tablesOf(resource).some((table) => table.name === word)
  const unknown = only.find((word) => !catalogue.resources.some((resource) => matches(resource, word)))
  if (unknown !== undefined)
    return Effect.fail(
      new Failure({
        ends: "usage",
        message: `--only ${unknown}: there is no such table or family. Families are ${[...new Set(catalogue.familyByTable.values())].join(", ")}.`,
        next: "./sluice dictionary"
      })
    )
  const wanted = new Set(catalogue.resources.filter((resource) => only.some((word) => matches(resource, word))))
  for (const { each } of Array.from(wanted))
    for (const resource of catalogue.resources) if (resource.table === each?.table) wanted.add(resource)
  return Effect.succeed(catalogue.resources.filter((resource) => wanted.has(resource)))
}

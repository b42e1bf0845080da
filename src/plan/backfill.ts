/** Plans a backfill: which windows of the requested range to read, newest first, without those already read. */
import { Effect } from "effect"
import type { Catalogue } from "../catalog/discover.ts"
import type { Window } from "../catalog/timestamps.ts"
import { backfillOf } from "../catalog/resource.ts"
import { noCapabilities } from "../values/capabilities.ts"
import type { Step } from "../values/step.ts"
import { backfilledWindows } from "../warehouse/meta/backfilled-windows.ts"
import { readSyncState } from "../warehouse/sync-state.ts"
import { type Failure, failure } from "../failure.ts"
import type { Warehouse } from "../warehouse/warehouse.ts"
import { type Choice, type Plan, choose, isAmong } from "./plan.ts"

export const makeBackfillPlan = Effect.fn("plan.backfill")(function* (
  catalogue: Catalogue,
  location: string,
  choice: Choice,
  range: Window
): Effect.fn.Return<Plan, Failure, Warehouse> {
  const { only } = choice
  // A window is read without the parents that a full read depends on.
  const chosen = (yield* choose(catalogue, choice)).filter(
    (resource) => only.length === 0 || isAmong(catalogue, resource, only)
  )
  const dated = catalogue.resources.filter(({ backfill }) => backfill)
  const undated = chosen.filter(({ table, backfill }) => !backfill && only.includes(table))
  if (undated.length > 0)
    return yield* failure({
      _tag: "NoDateFilter",
      tables: undated.map(({ table }) => table),
      dated: dated.map(({ table }) => table)
    })
  const syncState = yield* readSyncState(location)
  const readByTable = choice.full ? new Map<string, ReadonlyArray<Window>>() : yield* backfilledWindows(location)
  const steps = chosen
    .filter(({ backfill }) => backfill)
    .map((resource): Step => {
      const windows = windowsOf(range, readByTable.get(resource.table) ?? [])
      return {
        resource,
        embedded: [],
        mode: "window",
        windows,
        checkpoints: syncState.get(backfillOf(resource.table))?.checkpoints ?? {},
        refreshCutoff: undefined,
        capabilities: syncState.get(resource.table)?.capabilities ?? noCapabilities,
        childCapabilities: undefined,
        requests: windows.length === 0 ? 0 : undefined
      }
    })
  return { steps, requests: steps.every(({ requests }) => requests === 0) ? 0 : undefined }
})

/**
 * The months of a range without the windows already read, newest first. Windows are no longer than a month because an
 * interrupted one is not recorded as read.
 */
export const windowsOf = ([from, to]: Window, read: ReadonlyArray<Window>): ReadonlyArray<Window> => {
  const months: Array<Window> = []
  for (let end = to; end > from;) {
    const last = new Date(end - 1)
    const start = Math.max(from, Date.UTC(last.getUTCFullYear(), last.getUTCMonth()))
    months.push([start, end])
    end = start
  }
  return months.flatMap((month) =>
    read.reduce<ReadonlyArray<Window>>((remaining, window) => subtract(remaining, window), [month])
  )
}

const subtract = (windows: ReadonlyArray<Window>, [from, to]: Window): ReadonlyArray<Window> =>
  windows.flatMap(([start, end]): ReadonlyArray<Window> =>
    to <= start || from >= end
      ? [[start, end]]
      : [[start, from] as const, [to, end] as const].filter(([left, right]) => left < right).toReversed()
  )

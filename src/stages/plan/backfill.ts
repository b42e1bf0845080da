/** Plans a backfill: which windows of the requested range to read, newest first, without those already read. */
import { Duration, Effect } from "effect"
import { itemAt, present } from "../../catalog/present.ts"
import type { Catalogue } from "../../catalog/discover.ts"
import type { Window } from "../../catalog/timestamps.ts"
import { backfillOf, partitionsOf } from "../../catalog/resource.ts"
import { tablesOf } from "../../catalog/tables.ts"
import type { OptionalSettings } from "../../catalog/optional-settings.ts"
import { noCapabilities } from "../../values/capabilities.ts"
import { atLeast, between } from "../../values/range.ts"
import type { Step } from "../../values/step.ts"
import { backfilledWindows } from "../../stores/warehouse/meta/backfilled-windows.ts"
import { countsByWindow, liveCounts, readSyncState } from "../../stores/warehouse/sync-state.ts"
import { type Failure, failure } from "../../values/failure.ts"
import type { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type ExpectedList, type ExpectedStep, plannedOf } from "./expect.ts"
import { type Choice, choose, isAmong } from "./plan.ts"

export const makeBackfillPlan = Effect.fn("plan.backfill")(function* (
  catalogue: Catalogue,
  location: string,
  choice: Choice,
  range: Window
) {
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
    .map((resource): Step => ({
      resource,
      embedded: [],
      mode: "window",
      windows: windowsOf(range, readByTable.get(resource.table) ?? []),
      checkpoints: syncState.get(backfillOf(resource.table))?.checkpoints ?? {},
      refreshCutoff: undefined,
      capabilities: syncState.get(resource.table)?.capabilities ?? noCapabilities,
      childCapabilities: undefined
    }))
  const expected = yield* Effect.forEach(steps, (step) =>
    Effect.map(expectWindows(step, location, choice.optional), (list): ExpectedStep => ({ step, list }))
  )
  return { steps, expected, requests: plannedOf(expected) }
})

/** The rows of a synced table show how many records each window has. */
const expectWindows = Effect.fnUntraced(function* (
  { resource, windows = [], capabilities }: Step,
  location: string,
  optional: OptionalSettings
): Effect.fn.Return<ExpectedList, Failure, Warehouse> {
  const { dateField, strategies, padding = 0 } = present(resource.backfill, `backfill of ${resource.table}`)
  const column = tablesOf(resource)[0].columns.find(({ name }) => name === snakeCase(dateField))
  const partitions = partitionsOf(resource, optional).length
  const isSynced = ((yield* liveCounts(location, [resource.table])).get(resource.table) ?? 0) > 0
  const changed = atLeast(0)
  if (column === undefined || !isSynced)
    return { requests: atLeast(windows.length * partitions), basis: "unknown", changed }
  const paddingMs = Duration.toMillis(padding)
  const padded = windows.map(([from, to]): Window => [from - paddingMs, to + paddingMs])
  const size = capabilities.sizes["all"] ?? itemAt(strategies, 0).pageSize
  const counts = yield* countsByWindow(location, resource.table, column.name, padded)
  const pages = counts.reduce((sum, rows) => sum + Math.max(1, Math.ceil(rows / size)), 0)
  const min = pages + (partitions - 1) * counts.length
  // After the last record, some lists take another, empty page.
  const max = min + counts.filter((rows) => rows > 0).length * partitions
  return { requests: between(min, max), basis: "rows in the period", changed }
})

const snakeCase = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

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

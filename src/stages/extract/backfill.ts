/**
 * Reads time windows of the past one after another, at the lowest priority. A backfill leaves the state of the sync
 * alone: it advances no watermark and detects no deletions.
 */
import { Clock, Duration, Effect } from "effect"
import { Api } from "../api/api.ts"
import type { ApiError } from "../api/errors.ts"
import { type Window, dayMs } from "../../catalog/timestamps.ts"
import { type Resource, type Strategy, partitionsOf } from "../../catalog/resource.ts"
import type { Failure } from "../../values/failure.ts"
import type { Checkpoint } from "../../values/checkpoint.ts"
import { type Reason, type SingleReason, distinct } from "../../values/reason.ts"
import type { Outcome } from "../../stores/vault/entry.ts"
import { Vault } from "../../stores/vault/vault.ts"
import type { Reading, RunContext } from "./run-context.ts"
import { readPartition } from "./paginate.ts"
import { fingerprint, resumed } from "./list-progress.ts"
import { isTotalComparable, missingBeyondDrift, noStrategyWorks, remarksOf } from "./outcome.ts"

/** The service may list or change records late, so the next backfill reads the last day of a window again. */
const settledAfterMs = dayMs

export const readWindows = Effect.fn("extract.windows")(function* (
  resource: Resource,
  reading: Reading,
  context: RunContext
): Effect.fn.Return<Outcome, ApiError | Failure, Api | Vault> {
  const [api, vault] = [yield* Api, yield* Vault]
  const requestsBefore = api.requestsByResource.get(resource.table) ?? 0
  const { strategies, dateField, padding = 0 } = resource.backfill!
  let warnings: ReadonlyArray<SingleReason> = []
  const { capabilities } = reading
  const common = {
    resource,
    sizes: { ...capabilities.sizes },
    unreliableTotals: new Set(capabilities.unreliableTotals)
  }
  const refused = new Set<Strategy>()
  const shortfalls: Array<Reason> = []

  for (const window of reading.windows ?? []) {
    const [from, to] = window
    const startedAt = yield* Clock.currentTimeMillis
    const readStrategy = Effect.fnUntraced(function* (strategy: Strategy) {
      const fresh = beginning(strategy, window, Duration.toMillis(padding), startedAt)
      return yield* Effect.forEach(
        partitionsOf(resource, context.optional),
        ([name, { parameters = {} }]) => {
          const state = resumed(reading.checkpoints[name], fresh)
          // A window that was read to its end but not recorded as read returned too few records.
          const isInterrupted = !state.done && state.window?.[0] === from && state.window[1] === to
          const start = isInterrupted ? state : fresh
          const partition = { ...common, strategy, name, parameters, label: resource.table, priority: 2 as const }
          return readPartition(partition, start, context)
        },
        { concurrency: "unbounded" }
      )
    })
    let result: "complete" | "incomplete" | undefined
    for (const strategy of strategies.filter((strategy) => !refused.has(strategy))) {
      const results = yield* readStrategy(strategy)
      const failure = results.find((result) => "reason" in result)
      if (failure) {
        refused.add(strategy)
        const { method, path } = strategy.request
        warnings = distinct([...warnings, { _tag: "StrategyFailed", method, path, dateField, detail: failure.reason }])
        continue
      }
      const states = results.flatMap((result) => ("state" in result ? [result.state] : []))
      const remarks = remarksOf(states)
      warnings = distinct([...warnings, ...remarks.warnings])
      const missing = isTotalComparable(strategy, from)
        ? Math.max(0, ...states.map((state) => missingBeyondDrift(state, strategy)))
        : 0
      const short = missing > 0 ? [{ _tag: "WindowBelowTotal", missing, from, to } as const] : []
      shortfalls.push(...short, ...remarks.shortfalls)
      result = short.length + remarks.shortfalls.length === 0 ? "complete" : "incomplete"
      break
    }
    if (result === undefined) return yield* noStrategyWorks(warnings)
    // The window is not recorded as read, so the next backfill requests it again.
    if (result === "incomplete") continue
    const settled = Math.min(to, startedAt - settledAfterMs)
    yield* vault.append({
      entry: {
        kind: "window",
        run: context.run,
        at: yield* Clock.currentTimeMillis,
        location: context.location,
        resource: resource.table,
        window: [from, Math.max(from, settled)]
      },
      body: ""
    })
  }
  return {
    mode: "window",
    shortfalls,
    warnings,
    requests: (api.requestsByResource.get(resource.table) ?? 0) - requestsBefore
  }
})

const beginning = (strategy: Strategy, window: Window, paddingMs: number, startedAt: number): Checkpoint => {
  const [from, to] = [window[0] - paddingMs, window[1] + paddingMs]
  return {
    version: 1,
    done: false,
    count: 0,
    lastIds: [],
    warnings: [],
    mode: "window",
    since: from,
    windows: [[from, to]],
    window,
    startedAt,
    fingerprint: fingerprint(strategy),
    // A sort-value cursor is the value itself.
    ...(strategy.paging.kind === "sortValue" && { cursor: strategy.paging.descending ? to : from })
  }
}

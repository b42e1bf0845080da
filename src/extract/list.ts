/**
 * Reads the list of one resource: its passes side by side. Where a way of reading does not work for this account, the
 * next one is taken and the reason told.
 */
import { Clock, Duration, Effect } from "effect"
import { Api } from "../api/api.ts"
import type { ApiError } from "../api/errors.ts"
import { RequestRejected } from "../api/errors.ts"
import { type Changes, type ListResource, type Resource, type Strategy, partitionsOf } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import type { Capabilities } from "../values/capabilities.ts"
import type { Checkpoint } from "../values/checkpoint.ts"
import { isComplete } from "../values/status.ts"
import type { Outcome } from "../vault/entry.ts"
import type { Vault } from "../vault/vault.ts"
import type { Reading, RunContext } from "./run-context.ts"
import { recordDeleted } from "./deletions.ts"
import { readPartition } from "./paginate.ts"
import { beginning, fingerprint, resumed } from "./checkpoint.ts"
import { withWarnings, missingBeyondDrift, combined } from "./outcome.ts"

/**
 * One reading, and what it cannot have seen: what changed since it began, where that was in an earlier run, because its first
 * pages may be days old; and what was added without a moment of change.
 */
export const read = Effect.fn("extract.read")(function* (
  resource: ListResource,
  reading: Reading,
  context: RunContext
): Effect.fn.Return<Outcome, ApiError | Failure, Api | Vault> {
  const { changes, full } = resource
  const everything = full.map((strategy) => ({ strategy, mode: "full" as const }))
  const strategies = [
    ...(changes?.strategies ?? []).map((strategy) => ({ strategy, mode: "incremental" as const })),
    ...everything
  ]
  let outcome = yield* readOnce(resource, reading.mode === "incremental" ? strategies : everything, reading, context)
  if (!changes || !isComplete(outcome)) return outcome
  if (Object.keys(reading.checkpoints).length > 0) {
    const since = (outcome.servedAt ?? outcome.begunAt!) - Duration.toMillis(changes.overlap)
    const later = { ...reading, mode: "incremental" as const, since, checkpoints: {} }
    outcome = combined(outcome, yield* readOnce(resource, strategies, later, context))
  }
  return outcome.mode === "incremental" ? yield* withAdded(outcome, resource, changes, reading, context) : outcome
})

/** The same with records that were added since and carry no moment of change, or a warning where they cannot be asked for. */
const withAdded = Effect.fnUntraced(function* (
  outcome: Outcome,
  resource: ListResource,
  { added, field, strategies }: Changes,
  reading: Reading,
  context: RunContext
) {
  if (added) {
    const { partitions: _, ...list } = resource
    const addedStrategies = added.map((strategy) => ({ strategy, mode: "incremental" as const }))
    const since = { ...reading, since: outcome.since! }
    return yield* readOnce({ ...list, partitions: { added: {} } }, addedStrategies, since, context).pipe(
      Effect.map((more) => combined(outcome, more)),
      Effect.catchIf(
        (error) => error._tag === "RequestRejected" || (error._tag === "Unavailable" && !error.later),
        ({ message }) =>
          Effect.succeed(
            withWarnings(outcome, [`new records without ${field} come with the next full reading: ${message}`])
          )
      )
    )
  }
  const { undated } = reading.capabilities
  const goesByField = strategies.some(
    ({ verifyField, paging, stopBefore }) =>
      verifyField === field || stopBefore !== undefined || paging.kind === "sortValue"
  )
  return undated > 0 && goesByField
    ? withWarnings(outcome, [
        `${undated} records carry no ${field}; new ones like them come with the next full reading`
      ])
    : outcome
})

const readOnce = Effect.fnUntraced(function* (
  resource: Resource,
  /** Tried in this order. */
  strategies: ReadonlyArray<{ readonly strategy: Strategy; readonly mode: "full" | "incremental" }>,
  reading: Reading,
  context: RunContext
): Effect.fn.Return<Outcome, ApiError | Failure, Api | Vault> {
  const api = yield* Api
  const before = api.requestsByResource.get(resource.table) ?? 0
  const reasons: Array<string> = []
  // A full reading tries again the ways that did not work then.
  const { capabilities } = reading
  const sizes: Record<string, number> = { ...capabilities.sizes }
  const unreliableTotals = new Set(capabilities.unreliableTotals)
  const refused = reading.mode === "incremental" ? [...capabilities.refused] : []
  const startedAt = yield* Clock.currentTimeMillis

  for (const { strategy, mode } of strategies.filter(({ strategy }) => !refused.includes(fingerprint(strategy)))) {
    const since = mode === "incremental" ? reading.since : undefined
    const begin = beginning({ strategy, mode, since, now: startedAt, optional: context.optional })
    const from = (name: string) => {
      const state = resumed(reading.checkpoints[name], begin)
      // One page is the price of an interruption, and a fresh one is worth it.
      return state.count > strategy.pageSize ? state : begin
    }
    const partitions = partitionsOf(resource, context.optional)
    // What a pass says of its records is only true if the service heeds its parameters, so one looks at the other.
    const telling = partitions.some(([, { columns, parameters }]) => columns && parameters)
    let other: ReadonlyArray<string> | undefined
    const results = yield* Effect.forEach(
      partitions,
      ([name, { parameters = {} }]) =>
        readPartition(
          {
            resource,
            strategy,
            name,
            parameters,
            sizes,
            unreliableTotals,
            ...(telling && { other: other ?? [] }),
            label: resource.table,
            priority: 1,
            ...(mode === "full" && { fresh: begin })
          },
          from(name),
          context
        ).pipe(
          Effect.map((result) => {
            // A pass that is not understood leaves the first one as good as it is.
            if ("reason" in result && other !== undefined) return { state: { ...begin, ignored: name } }
            if (telling && "state" in result) other ??= result.state.firstPageIds
            return result
          }),
          Effect.catchTag("NotFound", (gone) =>
            Effect.gen(function* () {
              if (typeof resource.partitions !== "string") return yield* gone
              // One of the words in the settings, maybe a row's own id; the others are none the worse.
              reasons.push(`${name}, which the settings ask for, is not there`)
              yield* recordDeleted(resource, [name], context)
              return { state: { ...begin, done: true } }
            })
          )
        ),
      { concurrency: telling ? 1 : "unbounded" }
    )
    const failure = results.find((result) => "reason" in result)
    if (failure) {
      reasons.push(`${strategy.request.method} ${strategy.request.path} did not do: ${failure.reason}`)
      refused.push(fingerprint(strategy))
      continue
    }
    const states = results.filter((result) => "state" in result).map(({ state }) => state)
    for (const { ignored } of states)
      if (ignored) reasons.push(`the service does not tell ${ignored} ones from the others`)
    return {
      ...outcomeOf(
        states.filter(({ ignored }) => !ignored),
        strategy,
        mode,
        since,
        reasons
      ),
      requests: (api.requestsByResource.get(resource.table) ?? 0) - before,
      capabilities: {
        version: 1,
        sizes,
        refused,
        unreliableTotals: [...unreliableTotals],
        undated: mode === "full" ? states.reduce((sum, state) => sum + (state.undated ?? 0), 0) : capabilities.undated
      } satisfies Capabilities
    }
  }
  return yield* new RequestRejected({ status: 0, message: reasons.join("; ") })
})

const outcomeOf = (
  states: ReadonlyArray<Checkpoint>,
  strategy: Strategy,
  mode: Reading["mode"],
  since: number | undefined,
  reasons: ReadonlyArray<string>
): Omit<Outcome, "requests"> => {
  const sum = (values: ReadonlyArray<number | undefined>) =>
    values.reduce<number>((total, value) => total + (value ?? 0), 0)
  const totals = states.map(({ total }) => total)
  const total = totals.every((value) => value !== undefined) ? sum(totals) : undefined
  const count = sum(states.map((state) => state.count))
  const isComparable = mode === "full" || strategy.verifyField !== undefined
  const isMissing = isComparable && states.some((state) => missingBeyondDrift(state, strategy) > 0)
  const isShort = isComparable && total !== undefined && count < total
  const short = isShort ? [`the service says ${total} records, ${count} were read`] : []
  const partly = isMissing && !isShort ? ["a part of the list shows fewer records than the service counts"] : []
  const highest = Math.max(...states.map((state) => state.highest ?? Number.NEGATIVE_INFINITY))
  const startedAt = Math.min(...states.map((state) => state.startedAt))
  const servedAt = Math.min(...states.map((state) => state.servedAt ?? state.startedAt))
  return {
    mode,
    ...(isMissing && { finished: true }),
    shortfalls: isMissing ? [...short, ...partly] : [],
    warnings: [...reasons, ...states.flatMap((state) => state.warnings), ...(isMissing ? [] : short)],
    begunAt: startedAt,
    servedAt,
    ...(since !== undefined && { since }),
    // Never beyond the moment the reading began: what changed after it may have been missed.
    ...(Number.isFinite(highest) && { watermark: Math.min(highest, servedAt) }),
    ...(mode === "full" && total !== undefined && { total })
  }
}

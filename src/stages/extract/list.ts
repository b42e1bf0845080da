/**
 * Reads the list of one resource, its partitions concurrently. If a strategy does not work for this account, the next one
 * is used and the reason becomes a warning.
 */
import { Clock, Duration, Effect } from "effect"
import { Api } from "../api/api.ts"
import { type ApiError, reasonsIn } from "../api/errors.ts"
import { type Changes, type ListResource, type Resource, type Strategy, partitionsOf } from "../../catalog/resource.ts"
import type { Failure } from "../../values/failure.ts"
import type { Capabilities } from "../../values/capabilities.ts"
import type { Checkpoint } from "../../values/checkpoint.ts"
import type { Reason, SingleReason } from "../../values/reason.ts"
import { isComplete } from "../../values/status.ts"
import type { Outcome } from "../../stores/vault/entry.ts"
import type { Vault } from "../../stores/vault/vault.ts"
import type { Warehouse } from "../../stores/warehouse/warehouse.ts"
import type { Reading, RunContext } from "./run-context.ts"
import { decideNotFound } from "./deletions.ts"
import { readPartition } from "./paginate.ts"
import { beginning, fingerprint, resumed } from "./list-progress.ts"
import { combined, isTotalComparable, missingBeyondDrift, noStrategyWorks, remarksOf, withWarnings } from "./outcome.ts"

/**
 * Reads the list, then what that reading cannot have returned: changes since it began, if it began in an earlier run and
 * its first pages may be days old; and new records without a change timestamp.
 */
export const read = Effect.fn("extract.read")(function* (
  resource: ListResource,
  reading: Reading,
  context: RunContext
): Effect.fn.Return<Outcome, ApiError | Failure, Api | Vault | Warehouse> {
  const { changes, full } = resource
  const everything = full.map((strategy) => ({ strategy, mode: "full" as const }))
  const { newest } = changes ?? {}
  const strategies = [
    ...(newest && reading.capabilities.undated === 0 ? [{ strategy: newest, mode: "incremental" as const }] : []),
    ...(changes?.strategies ?? []).map((strategy) => ({ strategy, mode: "incremental" as const })),
    ...everything
  ]
  let outcome = yield* readList(resource, reading.mode === "incremental" ? strategies : everything, reading, context)
  if (!isComplete(outcome)) return outcome
  const isResumed = Object.keys(reading.checkpoints).length > 0
  // Nothing says what has changed since an earlier run read the first pages, so the list is complete as of then.
  if (!changes) return isResumed ? { ...outcome, fetchedAt: outcome.begunAt! } : outcome
  if (isResumed) {
    const since = (outcome.servedAt ?? outcome.begunAt!) - Duration.toMillis(changes.overlap)
    const sinceThen = { ...reading, mode: "incremental" as const, since, checkpoints: {} }
    outcome = combined(outcome, yield* readList(resource, strategies, sinceThen, context))
  }
  // A reading by `newest`, which has a total, reads what was added as well.
  return outcome.mode === "incremental" && outcome.total === undefined
    ? yield* withAdded(outcome, resource, changes, reading, context)
    : outcome
})

/** Adds new records without a change timestamp, or a warning if the API cannot return them. */
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
    return yield* readList({ ...list, partitions: { added: {} } }, addedStrategies, since, context).pipe(
      Effect.map((more) => {
        // It began after the changes were read, and says nothing about those that came in between.
        const { watermark: _, ...withoutWatermark } = more
        return combined(outcome, withoutWatermark)
      }),
      Effect.catchTag("RequestRejected", (error) =>
        Effect.succeed(withWarnings(outcome, [{ _tag: "UndatedNotRead", field, reasons: reasonsIn(error) }]))
      )
    )
  }
  const { undated } = reading.capabilities
  const dependsOnField = strategies.some(
    ({ verifyField, paging, stopBefore }) =>
      verifyField === field || stopBefore !== undefined || paging.kind === "sortValue"
  )
  return undated > 0 && dependsOnField
    ? withWarnings(outcome, [{ _tag: "UndatedRecords", count: undated, field }])
    : outcome
})

const readList = Effect.fnUntraced(function* (
  resource: Resource,
  /** Tried in this order. */
  strategies: ReadonlyArray<{ readonly strategy: Strategy; readonly mode: "full" | "incremental" }>,
  reading: Reading,
  context: RunContext
): Effect.fn.Return<Outcome, ApiError | Failure, Api | Vault | Warehouse> {
  const { requestsByResource } = yield* Api
  const requestsBefore = requestsByResource.get(resource.table) ?? 0
  const { capabilities } = reading
  const found: Found = {
    warnings: [],
    notFound: [],
    sizes: { ...capabilities.sizes },
    unreliableTotals: new Set(capabilities.unreliableTotals)
  }
  const { notFound, sizes, unreliableTotals, warnings } = found
  // A full sync tries strategies again that failed before.
  const refused = reading.mode === "incremental" ? [...capabilities.refused] : []
  const startedAt = yield* Clock.currentTimeMillis

  for (const { strategy, mode } of strategies.filter(({ strategy }) => !refused.includes(fingerprint(strategy)))) {
    const since = mode === "incremental" ? reading.since : undefined
    if (mode === "full") context.readInFull.add(resource.table)
    const fresh = beginning({ strategy, mode, since, now: startedAt, optional: context.optional })
    const results = yield* readPartitions(resource, strategy, { reading, mode, fresh, found }, context)
    const failure = results.find((result) => "reason" in result)
    if (failure) {
      const { method, path } = strategy.request
      warnings.push({ _tag: "StrategyFailed", method, path, detail: failure.reason })
      refused.push(fingerprint(strategy))
      continue
    }
    // One request more, each time, is less than a change that is not seen.
    if (results.some((result) => "state" in result && result.state.inOrder === false)) continue
    context.missingPartitions.set(resource.table, new Set(notFound))
    const returnsRecords = results.some((result) => "state" in result && result.state.count > 0)
    warnings.push(...(yield* decideNotFound(resource, notFound, context, returnsRecords)).warnings)
    const states = results.filter((result) => "state" in result).map(({ state }) => state)
    for (const { ignored } of states) if (ignored) warnings.push({ _tag: "PartitionIgnored", partition: ignored })
    return {
      ...outcomeFrom(
        states.filter(({ ignored }) => !ignored),
        strategy,
        mode,
        since,
        warnings
      ),
      requests: (requestsByResource.get(resource.table) ?? 0) - requestsBefore,
      capabilities: {
        ...(mode === "full" ? { undated: states.reduce((sum, state) => sum + (state.undated ?? 0), 0) } : capabilities),
        version: 1,
        sizes,
        refused,
        unreliableTotals: [...unreliableTotals]
      } satisfies Capabilities
    }
  }
  return yield* noStrategyWorks(warnings)
})

/** What the partitions of a list have shown. */
interface Found {
  readonly warnings: Array<SingleReason>
  /** Partitions, named by the id of a record, for which the service answers that it does not exist. */
  readonly notFound: Array<string>
  readonly sizes: Record<string, number>
  readonly unreliableTotals: Set<string>
}

interface Attempt {
  readonly reading: Reading
  readonly mode: "full" | "incremental"
  readonly fresh: Checkpoint
  readonly found: Found
}

/** Reads all partitions with one strategy. */
const readPartitions = (
  resource: Resource,
  strategy: Strategy,
  { found, fresh, mode, reading }: Attempt,
  context: RunContext
) => {
  const { notFound, sizes, unreliableTotals, warnings } = found
  const from = (name: string) => {
    const state = resumed(reading.checkpoints[name], fresh)
    // After a single page, a fresh start costs one request and gives newer data.
    return state.count > strategy.pageSize ? state : fresh
  }
  const partitions = partitionsOf(resource, context.optional)
  // Columns set by a partition are correct only if the service honours its parameters, so partitions are compared.
  const setsColumns = partitions.some(([, { columns, parameters }]) => columns && parameters)
  let firstPageIds: ReadonlyArray<string> | undefined
  return Effect.forEach(
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
          ...(setsColumns && { otherFirstPageIds: firstPageIds ?? [] }),
          label: resource.table,
          priority: 1,
          ...(mode === "full" && { fresh })
        },
        from(name),
        context
      ).pipe(
        Effect.map((result) => {
          // A partition that the service rejects does not invalidate the first one.
          if ("reason" in result && firstPageIds !== undefined) return { state: { ...fresh, ignored: name } }
          if (setsColumns && "state" in result) firstPageIds ??= result.state.firstPageIds
          return result
        }),
        Effect.catchTag("NotFound", (error) =>
          Effect.gen(function* () {
            if (typeof resource.partitions !== "string") return yield* error
            // The settings name this partition, maybe by a row's id; the other partitions are not affected.
            warnings.push({ _tag: "PartitionNotFound", partition: name })
            notFound.push(name)
            return { state: { ...fresh, done: true } }
          })
        )
      ),
    { concurrency: setsColumns ? 1 : "unbounded" }
  )
}

const outcomeFrom = (
  states: ReadonlyArray<Checkpoint>,
  strategy: Strategy,
  mode: Reading["mode"],
  since: number | undefined,
  warnings: ReadonlyArray<Reason>
): Omit<Outcome, "requests"> => {
  const sum = (values: ReadonlyArray<number | undefined>) =>
    values.reduce<number>((total, value) => total + (value ?? 0), 0)
  const totals = states.map(({ total }) => total)
  const total = totals.every((value) => value !== undefined) ? sum(totals) : undefined
  const count = sum(states.map((state) => state.count))
  const isComparable = isTotalComparable(strategy, since)
  const isMissing = isComparable && states.some((state) => missingBeyondDrift(state, strategy) > 0)
  const isBelowTotal = isComparable && total !== undefined && count < total
  const belowTotal: ReadonlyArray<Reason> = isBelowTotal ? [{ _tag: "BelowTotal", total, read: count }] : []
  const partitionBelowTotal: ReadonlyArray<Reason> = isMissing && !isBelowTotal ? [{ _tag: "PartitionBelowTotal" }] : []
  const highest = Math.max(...states.map((state) => state.highest ?? Number.NEGATIVE_INFINITY))
  const startedAt = Math.min(...states.map((state) => state.startedAt))
  const servedAt = Math.min(...states.map((state) => state.servedAt ?? state.startedAt))
  const remarks = remarksOf(states)
  const shortfalls = [...(isMissing ? [...belowTotal, ...partitionBelowTotal] : []), ...remarks.shortfalls]
  return {
    mode,
    ...(shortfalls.length > 0 && { finished: true }),
    shortfalls,
    warnings: [...warnings, ...remarks.warnings, ...(isMissing ? [] : belowTotal)],
    begunAt: startedAt,
    servedAt,
    ...(since !== undefined && { since }),
    // Never later than the start of the reading, which may have missed later changes.
    ...(Number.isFinite(highest) && { watermark: Math.min(highest, servedAt) }),
    ...((mode === "full" || strategy.notSortedBy !== undefined) && total !== undefined && { total })
  }
}

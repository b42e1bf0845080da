/**
 * Reads the list of one resource, its partitions concurrently. If a strategy does not work for this account, the next one
 * is used and the reason becomes a warning.
 */
import { Clock, Duration, Effect } from "effect"
import { itemAt, present } from "../../catalog/present.ts"
import { Api } from "../api/api.ts"
import { type ApiError, reasonsIn } from "../api/errors.ts"
import { type Changes, type ListResource, type Resource, type Strategy, partitionsOf } from "../../catalog/resource.ts"
import { bind } from "../../catalog/request.ts"
import type { Failure } from "../../values/failure.ts"
import type { Capabilities } from "../../values/capabilities.ts"
import type { Checkpoint } from "../../values/checkpoint.ts"
import type { Detail, Reason, SingleReason } from "../../values/reason.ts"
import { isComplete } from "../../values/status.ts"
import type { Outcome } from "../../stores/vault/entry.ts"
import type { Vault } from "../../stores/vault/vault.ts"
import { hasRows, isOwnObject } from "../../stores/warehouse/object-keys.ts"
import type { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type Reading, type RunContext, besideOf, isOfListedObjects } from "./run-context.ts"
import { nameOf } from "./page-loop.ts"
import { isSame, neverIssued } from "../api/author.ts"
import { answerTo } from "../api/of-nobody.ts"
import { decideNotFound } from "./deletions.ts"
import { type PartitionResult, readPartition } from "./paginate.ts"
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
  const names = namesOf(resource, context)
  if (names?.length === 0)
    return { mode: "full", shortfalls: [], warnings: [], requests: 0, begunAt: yield* Clock.currentTimeMillis }
  const known = reading.capabilities.partitions ?? names ?? []
  if (reading.mode === "incremental" && names?.some((name) => !known.includes(name)))
    return yield* read(resource, { ...reading, mode: "full" }, context)
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
  const begunAt = present(outcome.begunAt, "time of the reading")
  if (!changes) return isResumed ? { ...outcome, fetchedAt: begunAt } : outcome
  if (isResumed) {
    const since = (outcome.servedAt ?? begunAt) - Duration.toMillis(changes.overlap)
    const sinceThen = { ...reading, mode: "incremental" as const, since, checkpoints: {} }
    outcome = combined(outcome, yield* readList(resource, strategies, sinceThen, context))
  }
  // A reading by `newest`, which has a total, reads what was added as well.
  return outcome.mode === "incremental" && outcome.total === undefined
    ? yield* withAdded(outcome, resource, changes, reading, context)
    : outcome
})

/** The partitions that the settings, or other lists, name. */
const namesOf = (resource: Resource, { optional }: RunContext): ReadonlyArray<string> | undefined =>
  typeof resource.partitions === "string" ? partitionsOf(resource, optional).map(([name]) => name) : undefined

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
    const since = { ...reading, since: present(outcome.since, "watermark") }
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
    leftOut: {},
    unreliableTotals: new Set(capabilities.unreliableTotals)
  }
  const { notFound, sizes, unreliableTotals, warnings } = found
  // A full sync tries strategies again that failed before.
  const refused = reading.mode === "incremental" ? [...capabilities.refused] : []
  const startedAt = yield* Clock.currentTimeMillis
  const names = namesOf(resource, context)

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
    if (strategy.notSortedBy && results.some((result) => "state" in result && result.state.inOrder !== true)) continue
    context.missingPartitions.set(resource.table, new Set(notFound))
    if (notFound.length > 0 && resource.getOne)
      warnings.push(...(yield* decideNotFound(resource, notFound, context)).warnings)
    const states = results.filter((result) => "state" in result).map(({ state }) => state)
    // Its forms are tried: one that works is enough.
    if (resource.unproven)
      warnings.splice(0, warnings.length, ...warnings.filter(({ _tag }) => _tag !== "StrategyFailed"))
    for (const { ignored } of states) if (ignored) warnings.push({ _tag: "PartitionIgnored", partition: ignored })
    return {
      ...outcomeFrom(
        states.filter(({ ignored }) => !ignored),
        strategy,
        { mode, since, overlapMs: Duration.toMillis(resource.changes?.overlap ?? 0) },
        found
      ),
      requests: (requestsByResource.get(resource.table) ?? 0) - requestsBefore,
      capabilities: {
        ...(mode === "full" ? { undated: states.reduce((sum, state) => sum + (state.undated ?? 0), 0) } : capabilities),
        version: 1,
        sizes,
        ...(names && { partitions: names }),
        ...(Object.values(found.leftOut).flat().length > 0 && { leftOut: found.leftOut }),
        beside: { ...capabilities.beside, ...besideOf(context, [nameOf(strategy)]) },
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
  /** Whether a partition has records of the first one, so that their totals do not add up to that of the list. */
  overlaps?: boolean
  readonly sizes: Record<string, number>
  readonly leftOut: Record<string, Array<string>>
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
  const { sizes, unreliableTotals } = found
  const leftOut = (found.leftOut[nameOf(strategy)] ??= [...(reading.capabilities.leftOut?.[nameOf(strategy)] ?? [])])
  const from = (name: string) => {
    const state = resumed(reading.checkpoints[name], fresh)
    // After a single page, a fresh start costs one request and gives newer data.
    return state.count > strategy.pageSize ? state : fresh
  }
  const partitions = partitionsOf(resource, context.optional)
  // Columns set by a partition are correct only if the service honours its parameters, so partitions are compared.
  const setsColumns = partitions.some(([, { columns, parameters }]) => columns && parameters)
  const isInTurn = setsColumns || (resource.isTrial === true && typeof resource.partitions !== "string")
  let first: Checkpoint | undefined
  let failed: PartitionResult | undefined
  const readOne = ([name, { parameters = {} }]: (typeof partitions)[number], start: Checkpoint, other?: Checkpoint) =>
    readPartition(
      {
        resource,
        strategy,
        name,
        parameters,
        sizes,
        unreliableTotals,
        ...(setsColumns && { other: { ids: other?.firstPageIds ?? [], total: other?.total } }),
        label: resource.table,
        priority: 1,
        beside: reading.capabilities.beside,
        leftOut,
        ...(mode === "full" && { fresh })
      },
      start,
      context
    )
  return Effect.forEach(
    partitions,
    (partition) => {
      const [name, { columns = {} }] = partition
      return failed !== undefined
        ? Effect.succeed({ name, ...failed })
        : readOne(partition, from(name), first).pipe(
            Effect.flatMap((result) => {
              // A partition that the service rejects does not invalidate the first one.
              if ("reason" in result && first !== undefined)
                return Effect.map(hasRows(resource.table, context.location, columns), (isExpected) =>
                  isExpected ? unread(name, result.reason, fresh) : { name, state: { ...fresh, ignored: name } }
                )
              if (setsColumns && "state" in result) first ??= result.state
              // The strategy has failed: the others would be requested in vain.
              if (isInTurn && "reason" in result) failed = result
              return Effect.succeed({ name, ...result })
            })
          )
    },
    { concurrency: isInTurn ? 1 : "unbounded" }
  ).pipe(
    Effect.flatMap((results) => {
      const [one, ...others] = results
      const isShared = (id: string) => first?.firstPageIds?.includes(id) === true
      const overlaps = others.some((other) => "state" in other && other.state.firstPageIds?.some(isShared) === true)
      if (!one || !overlaps) return Effect.succeed(results)
      // Another partition has the records of the first one, too: those keep the columns of the one that is read last.
      found.overlaps = true
      return Effect.map(readOne(itemAt(partitions, 0), fresh), (again) => [{ name: one.name, ...again }, ...others])
    }),
    Effect.flatMap((results) => withoutMissing(resource, strategy, results, { fresh, found, mode, reading }, context))
  )
}

/** A partition whose records are known to exist, or may: the others are read, and the list is incomplete. */
const unread = (partition: string, detail: Detail, fresh: Checkpoint) => ({
  name: partition,
  state: { ...fresh, done: true, warnings: [{ _tag: "PartitionFailed", partition, detail } as const] }
})

/**
 * Decides about partitions that the service refuses while it answers for another one. One that the settings name does not
 * exist if it is refused as a name that never existed. A standard object that the service lists has no such records if it is
 * refused twice alike and the other one is still answered. An object that the account made, or that had rows before, has
 * records, so they were not read. The other partitions are not affected.
 */
const withoutMissing = Effect.fnUntraced(function* (
  resource: Resource,
  strategy: Strategy,
  results: ReadonlyArray<{ readonly name: string } & PartitionResult>,
  { found, fresh }: Attempt,
  context: RunContext
) {
  const answered = results.find((result) => "state" in result)?.name
  if (typeof resource.partitions !== "string" || answered === undefined) return results
  const { company, location } = context
  const ask = (partition: string) => {
    const request = bind(strategy.request, { location, company, size: strategy.pageSize, partition })
    return answerTo({ request, pathTemplate: strategy.request.path, resource: resource.table }, partition)
  }
  return yield* Effect.forEach(results, (result) =>
    Effect.gen(function* () {
      if ("state" in result || result.refusal === undefined) return result
      const refusal = { refusal: result.refusal, ids: [result.name] }
      if (isOfListedObjects(resource, context)) {
        const rows = { [present(resource.partitionColumn, "column of the partitions")]: result.name }
        const isExpected = isOwnObject(result.name) || (yield* hasRows(resource.table, location, rows))
        const isNone = !isExpected && isSame(refusal, yield* ask(result.name)) && (yield* ask(answered)) === "answered"
        if (!isNone) return unread(result.name, result.reason, fresh)
        found.notFound.push(result.name)
        return { name: result.name, state: { ...fresh, done: true } }
      }
      if (!isSame(refusal, yield* ask(neverIssued(result.name)))) return result
      // It may be named by the id of a row.
      found.warnings.push({ _tag: "PartitionNotFound", partition: result.name })
      found.notFound.push(result.name)
      return { name: result.name, state: { ...fresh, done: true } }
    })
  )
})

const outcomeFrom = (
  states: ReadonlyArray<Checkpoint>,
  strategy: Strategy,
  {
    mode,
    overlapMs,
    since
  }: Pick<Reading, "mode"> & { readonly since: number | undefined; readonly overlapMs: number },
  { overlaps, warnings }: Found
): Omit<Outcome, "requests"> => {
  const sum = (values: ReadonlyArray<number | undefined>) =>
    values.reduce<number>((total, value) => total + (value ?? 0), 0)
  const totals = states.map(({ total }) => total)
  const total = totals.every((value) => value !== undefined) && !overlaps ? sum(totals) : undefined
  const count = sum(states.map((state) => state.count))
  const isComparable = isTotalComparable(strategy, since)
  const isMissing = isComparable && states.some((state) => missingBeyondDrift(state, strategy) > 0)
  const isBelowTotal = isComparable && total !== undefined && count < total
  const belowTotal: ReadonlyArray<Reason> = isBelowTotal ? [{ _tag: "BelowTotal", total, read: count }] : []
  const partitionBelowTotal: ReadonlyArray<Reason> = isMissing && !isBelowTotal ? [{ _tag: "PartitionBelowTotal" }] : []
  const highest = Math.max(...states.map((state) => state.highest ?? Number.NEGATIVE_INFINITY))
  const startedAt = Math.min(...states.map((state) => state.startedAt))
  const servedAt = Math.min(...states.map((state) => state.servedAt ?? state.startedAt))
  const isTimed = states.every((state) => state.servedAt !== undefined)
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
    // Never later than the start of the reading, which may have missed later changes. Before it, changes may come late by the
    // overlap, so once that is over, the next reading begins after the newest change of this one. By the local clock, which may
    // be wrong, nothing says that it is over.
    ...(Number.isFinite(highest) && { watermark: Math.min(highest + (isTimed ? overlapMs + 1 : 0), servedAt) }),
    ...((mode === "full" || strategy.notSortedBy !== undefined) && total !== undefined && { total })
  }
}

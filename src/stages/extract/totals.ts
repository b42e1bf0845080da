/**
 * A reading of changes does not see deletions. Unless its pages have said so, one small request asks how many records the
 * service counts: where that is not the number of live rows, the list is read in full the same night, and the missing rows are decided about as
 * after every full reading.
 *
 * Some lists have a total that differs from their records by a constant. What is left after a full reading is remembered, and
 * only a change of it counts. A total that differs anew three times without a changed row is not asked for again until the
 * list is due to be read in full, so that no list is read in full every night.
 */
import { present } from "../../catalog/present.ts"
import { type Limit, Limits } from "../../values/limits.ts"
import { Clock, Duration, Effect } from "effect"
import { Api } from "../api/api.ts"
import type { ApiError } from "../api/errors.ts"
import { listTotal } from "../api/list-total.ts"
import { type ListResource, type Strategy, totalsOf } from "../../catalog/resource.ts"
import { type Capabilities, noCapabilities } from "../../values/capabilities.ts"
import type { Failure } from "../../values/failure.ts"
import type { Reason } from "../../values/reason.ts"
import { isComplete } from "../../values/status.ts"
import type { Outcome } from "../../stores/vault/entry.ts"
import type { Vault } from "../../stores/vault/vault.ts"
import { differenceBefore } from "../../stores/warehouse/meta/run-resources.ts"
import { liveCounts } from "../../stores/warehouse/sync-state.ts"
import type { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { fingerprint } from "./list-progress.ts"
import { read } from "./list.ts"
import { combined, withWarnings } from "./outcome.ts"
import type { Reading, RunContext } from "./run-context.ts"

type Reads<A> = Effect.fn.Return<A, ApiError | Failure, Api | Vault | Warehouse>

const strategyToAsk = (
  resource: ListResource,
  { refused, vainReadings = 0 }: Capabilities,
  limit: Limit
): Strategy | undefined =>
  limit.isReachedBy(vainReadings)
    ? undefined
    : totalsOf(resource).find((strategy) => !refused.includes(fingerprint(strategy)))

/** What is kept of a reading that does not compare the total. */
const keptOf = ({ totalExcess, vainReadings }: Capabilities) => ({
  ...(totalExcess !== undefined && { totalExcess }),
  ...(vainReadings !== undefined && { vainReadings })
})

interface ReadWithTotal {
  readonly outcome: Outcome
  /** The live rows before a full reading that the total made necessary. */
  readonly rowsBefore?: number
  /** The shortfall of a full reading that is the list's own. */
  readonly own?: Reason
}

/** A reading of changes; or the full reading that the total made necessary, with the live rows before it. */
export const readWithTotal = Effect.fnUntraced(function* (
  resource: ListResource,
  reading: Reading,
  context: RunContext
): Reads<ReadWithTotal> {
  const { outcome, ...own } = yield* readOnce(resource, reading, context)
  const strategy = strategyToAsk(resource, reading.capabilities, (yield* Limits).extract.vainReadings)
  if (strategy === undefined || outcome.mode !== "incremental" || !isComplete(outcome)) return { outcome, ...own }
  const found = yield* compare(resource, strategy, outcome, reading, context)
  if (found.isUnanswered) return { outcome: withWarnings(found.outcome, [{ _tag: "DeletionsNotSought" }]) }
  if (found.total === undefined) return found
  if (isExpected(found, reading)) return { outcome: { ...found.outcome, soughtAt: yield* Clock.currentTimeMillis } }
  const full = yield* readOnce(resource, { ...reading, mode: "full", checkpoints: {} }, context)
  return { ...full, outcome: withRequests(full.outcome, found.outcome.requests), rowsBefore: found.rows }
})

/**
 * A reading that returned fewer records than the service counts is incomplete, unless an earlier day's differed by the same
 * number, and most records were returned: then the difference is the list's own, and is reported once.
 */
const readOnce = Effect.fnUntraced(function* (
  resource: ListResource,
  reading: Reading,
  context: RunContext
): Reads<Pick<ReadWithTotal, "outcome" | "own">> {
  const outcome = yield* read(resource, reading, context)
  const [below, ...others] = outcome.shortfalls
  const isOnlyBelow = outcome.mode === "full" && below?._tag === "BelowTotal" && others.length === 0
  if (!isOnlyBelow || below.read <= below.total / 2) return { outcome }
  const difference = below.total - below.read
  const agreed = { ...outcome, shortfalls: [] }
  if (difference === reading.capabilities.totalExcess) return { outcome: agreed, own: below }
  const earlier = yield* differenceBefore(context.location, resource.table, yield* Clock.currentTimeMillis)
  return difference === earlier
    ? { outcome: withWarnings(agreed, [{ _tag: "TotalDiffers", rows: below.read, total: below.total }]), own: below }
    : { outcome }
})

/**
 * The outcome of a full reading whose missing rows are decided about, and the difference that is the list's own from now on:
 * records that have no row, or what a second full reading leaves as it was. Any other difference is looked into by the next
 * sync, because a record may have been deleted while the list was read.
 */
export const withOwnDifference = Effect.fnUntraced(function* (
  { outcome, own, rowsBefore }: ReadWithTotal,
  resource: ListResource,
  reading: Reading,
  context: RunContext
): Reads<Outcome> {
  // A list that leaves out records that exist has not returned all that it counts.
  if (own && outcome.warnings.some(({ _tag }) => _tag === "MissingRowsExist"))
    return {
      ...outcome,
      finished: true,
      shortfalls: [own, ...outcome.shortfalls],
      warnings: outcome.warnings.filter(({ _tag }) => _tag !== "TotalDiffers")
    }
  const capabilities = outcome.capabilities ?? noCapabilities
  const strategy = strategyToAsk(resource, capabilities, (yield* Limits).extract.vainReadings)
  if (strategy === undefined || outcome.mode !== "full" || !isComplete(outcome)) return outcome
  const undecided = { ...outcome, capabilities: { ...capabilities, ...keptOf(reading.capabilities) } }
  // What was refused or not confirmed is looked for again by the next sync.
  if (outcome.soughtAt === undefined) return undecided
  const { rows, total, requests } = yield* countedIn(outcome, resource, strategy, context)
  if (total === undefined) return withRequests(undecided, requests)
  const isVain = rows === rowsBefore
  const hasRecordsWithoutRow = total > rows && !outcome.warnings.some(({ _tag }) => _tag === "BelowTotal")
  const remarks = isVain && total !== rows ? [{ _tag: "TotalDiffers", rows, total } as const] : []
  return {
    ...withWarnings(withRequests(outcome, requests), remarks),
    capabilities: {
      ...capabilities,
      ...(total !== rows && (isVain || hasRecordsWithoutRow) && { totalExcess: total - rows }),
      ...(isVain && { vainReadings: (reading.capabilities.vainReadings ?? 0) + 1 })
    }
  }
})

const isExpected = ({ rows, total }: Comparison, { capabilities }: Reading) =>
  total === rows + (capabilities.totalExcess ?? 0)

interface Comparison {
  readonly outcome: Outcome
  readonly rows: number
  /** `undefined` if the service sends none. */
  readonly total: number | undefined
  /** Whether the request for the total failed. */
  readonly isUnanswered?: boolean
}

/**
 * The live rows, and the records that the service counts. Records may have been added since the reading, so a difference
 * counts only after a second reading of changes.
 */
const compare = Effect.fnUntraced(function* (
  resource: ListResource,
  strategy: Strategy,
  outcome: Outcome,
  reading: Reading,
  context: RunContext
): Reads<Comparison> {
  const { requests: sent, ...first } = yield* countedIn(outcome, resource, strategy, context)
  const withCount = withRequests(outcome, sent)
  if (first.total === undefined || isExpected({ outcome, ...first }, reading)) return { outcome: withCount, ...first }
  const { overlap } = present(resource.changes, `changes of ${resource.table}`)
  const since = present(outcome.servedAt ?? outcome.begunAt, "time of the reading") - Duration.toMillis(overlap)
  const more = yield* read(resource, { ...reading, mode: "incremental", since, checkpoints: {} }, context)
  // A total that is wrong makes this reading incomplete, and says nothing about the one before.
  const both = isComplete(more)
    ? { ...combined(withCount, more), capabilities: outcome.capabilities ?? noCapabilities }
    : withRequests(withCount, more.requests)
  const { requests, ...second } = yield* counted(resource, strategy, context)
  return { outcome: withRequests(both, requests), ...second }
})

const withRequests = (outcome: Outcome, more: number): Outcome => ({ ...outcome, requests: outcome.requests + more })

/** The total of the reading, or if it has none, that of a small request. */
const countedIn = Effect.fnUntraced(function* (
  { total }: Outcome,
  resource: ListResource,
  strategy: Strategy,
  context: RunContext
) {
  if (total === undefined) return yield* counted(resource, strategy, context)
  return { rows: yield* liveRows(resource, context), total, requests: 0 }
})

const counted = Effect.fnUntraced(function* (
  resource: ListResource,
  strategy: Strategy,
  context: RunContext
): Reads<Omit<Comparison, "outcome"> & { readonly requests: number }> {
  const api = yield* Api
  const sent = () => api.requestsByResource.get(resource.table) ?? 0
  const before = sent()
  const rows = yield* liveRows(resource, context)
  const unanswered = () => Effect.succeed("unanswered" as const)
  const total = yield* listTotal(resource, strategy, { ...context, since: undefined }).pipe(
    Effect.catchTags({
      Forbidden: () => Effect.undefined,
      RequestRejected: () => Effect.undefined,
      Unavailable: unanswered,
      BudgetExhausted: unanswered
    })
  )
  const requests = sent() - before
  return total === "unanswered" ? { rows, total: undefined, isUnanswered: true, requests } : { rows, total, requests }
})

const liveRows = Effect.fnUntraced(function* ({ table }: ListResource, { loaded, location }: RunContext) {
  yield* loaded
  return (yield* liveCounts(location, [table])).get(table) ?? 0
})

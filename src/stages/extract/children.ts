/**
 * Reads children or the detail of each parent row that is new, changed or due for a refresh: the notes of a contact, the
 * detail of an order. The warehouse says which parents are due, so nothing fetched before a crash is fetched again.
 * Children are read while their parents are still being listed, at a lower priority.
 */
import { Deferred, Effect } from "effect"
import type { ChildRequest, Resource } from "../../catalog/resource.ts"
import { noCapabilities } from "../../values/capabilities.ts"
import type { Failure } from "../../values/failure.ts"
import { Limits } from "../../values/limits.ts"
import type { Step } from "../../values/step.ts"
import type { Outcome } from "../../stores/vault/entry.ts"
import type { Vault } from "../../stores/vault/vault.ts"
import { dueParents, oldestFetch, parentVersions, parentsStates } from "../../stores/warehouse/sync-state.ts"
import type { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { Api } from "../api/api.ts"
import type { ApiError } from "../api/errors.ts"
import { decideMissingChildren } from "./deletions.ts"
import { isResponding } from "./outage.ts"
import { Parents, type Reading, readParents } from "./parents.ts"
import { type RunContext, besideOf } from "./run-context.ts"
import { nameOf } from "./page-loop.ts"

/** How long parents that were due before the run wait for the end of their list. */
const shortListMs = 250

/** The service sets the ids, so they may be of any length. */
const shortened = (id: string) => id.replaceAll(/\s+/g, " ").slice(0, 100)

export const readChildren = Effect.fn("extract.children")(function* (
  resource: Resource,
  childRequest: ChildRequest,
  { childCapabilities, refreshCutoff, parents: planned }: Pick<Step, "childCapabilities" | "refreshCutoff" | "parents">,
  parentsRead: Deferred.Deferred<void>,
  context: RunContext
): Effect.fn.Return<Outcome, ApiError | Failure, Api | Vault | Warehouse> {
  const { requestsByResource } = yield* Api
  const { label } = childRequest
  const requestsBefore = requestsByResource.get(label) ?? 0
  const parents = new Parents(childCapabilities)
  const reading: Reading = { resource, childRequest, refreshCutoff, context, parents }
  yield* readDue(reading, planned?.due === 0, parentsRead)
  const strategies = [childRequest.strategy, childRequest.incremental?.strategy].flatMap((one) =>
    one ? [nameOf(one)] : []
  )
  const learnt = strategies.flatMap((name) => context.shapes.get(name)?.learnt.splice(0) ?? [])
  if (learnt.length > 0) {
    // What was no answer before this was learnt may be one.
    parents.warn(learnt.map((beside) => ({ _tag: "EmptyBeside", beside })))
    parents.failed.clear()
    yield* readDue(reading, false, parentsRead)
  }
  const { givenUp } = parents
  if (givenUp?._tag === "Unavailable" && !(yield* isResponding(context.location, label))) return yield* givenUp
  const versionsOf = (ids: ReadonlyArray<string>) => parentVersions(context.location, childRequest, ids)
  const readAgain = (ids: ReadonlyArray<string>) =>
    Effect.flatMap(versionsOf(ids), (found) =>
      readParents(
        reading,
        found.map((parent) => ({ ...parent, full: true, checkpoint: undefined }))
      )
    )
  if (resource.childOf && !givenUp)
    parents.warn(yield* decideMissingChildren(resource, resource.childOf, context, readAgain))
  if (parents.named.size > 0) {
    yield* context.loaded
    const [example, ...others] = yield* versionsOf([...parents.named])
    if (example) parents.warn([{ _tag: "NotFoundButNamed", count: others.length + 1, id: shortened(example.id) }])
  }
  const requests = (requestsByResource.get(label) ?? 0) - requestsBefore
  const { sizes, unreliableTotals, warnings, withoutLinkedText } = parents
  const failed = yield* failuresOfLive(parents, context, versionsOf)
  const isUntouched =
    planned?.due === 0 && requests === 0 && context.known.commitsOf(childRequest.table, context.location) === 0
  const fetchedAt = isUntouched ? planned.oldestFetch : yield* oldestFetch({ location: context.location, childRequest })
  const [first] = [...failed].map(([id, detail]) => ({ id: shortened(id), detail }))
  const notRequested = givenUp === undefined ? 0 : yield* countNotRequested(reading)
  return {
    mode: "children",
    ...(fetchedAt !== undefined && { fetchedAt }),
    shortfalls: [
      ...(first === undefined ? [] : [{ _tag: "RequestsFailed", count: failed.size, ...first } as const]),
      ...(notRequested > 0 ? [{ _tag: "NotRequested", count: notRequested } as const] : [])
    ],
    warnings: [
      ...(withoutLinkedText > 0 ? [{ _tag: "LinkedTextsMissing", count: withoutLinkedText } as const] : []),
      ...warnings
    ],
    requests,
    capabilities: {
      ...noCapabilities,
      sizes,
      ...(parents.unwanted.length > 0 && { leftOut: { [nameOf(childRequest.strategy)]: parents.unwanted } }),
      beside: besideOf(context, strategies),
      unreliableTotals: [...unreliableTotals]
    }
  }
})

/**
 * What failed of the parents that are there at the end. Parents are requested before the end of their list, which may have
 * found them deleted since: nothing is missing of those, as long as the service answered the same question about another one.
 */
const failuresOfLive = Effect.fnUntraced(function* (
  { failed, hasAnswered }: Parents,
  context: RunContext,
  versionsOf: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<{ readonly id: string }>, Failure, Warehouse>
) {
  if (failed.size === 0 || !hasAnswered) return failed
  yield* context.loaded
  const live = new Set((yield* versionsOf([...failed.keys()])).map(({ id }) => id))
  return new Map([...failed].filter(([id]) => live.has(id)))
})

/** How many are due that were not requested. */
const countNotRequested = Effect.fnUntraced(function* ({ childRequest, context, parents, refreshCutoff }: Reading) {
  yield* context.loaded
  const states = yield* parentsStates([{ location: context.location, childRequest, refreshCutoff }])
  return Math.max(0, (states.get(childRequest.label)?.due ?? 0) - parents.leftOut)
})

/** Reads parents while there are some that are due, until their own list has been read. `isNoneDue`: before the run. */
const readDue = Effect.fnUntraced(function* (
  reading: Reading,
  isNoneDue: boolean,
  parentsRead: Deferred.Deferred<void>
) {
  const { childRequest, context, parents, refreshCutoff, resource } = reading
  const limits = (yield* Limits).extract
  // Parents become due when their table changes. `checked`: how many batches had changed it when none was due.
  const commits = () => context.known.commitsOf(childRequest.table, context.location)
  let checked = isNoneDue ? 0 : undefined
  // Due already: those of a short list may change while it is read, and are requested once, when it has been.
  if (checked === undefined) yield* Effect.timeoutOption(Deferred.await(parentsRead), shortListMs)
  while (true) {
    const nextCommit = context.nextCommit()
    const parentsComplete = yield* Deferred.isDone(parentsRead)
    if (parentsComplete) yield* context.loaded
    const now = commits()
    if (checked === now) {
      if (parentsComplete) break
      yield* Effect.raceFirst(Deferred.await(parentsRead), nextCommit)
      continue
    }
    const size = parents.hasAnswered ? limits.parents : resource.isTrial ? limits.trialParents : limits.firstParents
    const due = yield* dueParents({
      location: context.location,
      childRequest,
      refreshCutoff,
      limit: size.value + parents.leftOut
    })
    const unread = due.filter((one) => !parents.isLeftOut(one)).slice(0, size.value)
    if (unread.length > 0) {
      yield* readParents(reading, unread)
      // Those that were read are due until this is loaded.
      yield* context.loaded
    }
    if (parents.givenUp) return yield* Deferred.await(parentsRead)
    // Parents that were all read are due again only if their table changes.
    if (!size.isReachedBy(unread.length)) checked = now
  }
})

/**
 * Reads children or the detail of each parent row that is new, changed or due for a refresh: the notes of a contact, the
 * detail of an order. The warehouse says which parents are due, so nothing fetched before a crash is fetched again.
 * Children are read while their parents are still being listed, at a lower priority.
 */
import { Clock, Deferred, Duration, Effect } from "effect"
import { type ApiResponse, Api } from "../api/api.ts"
import { type ApiError, type BudgetExhausted, type NotFound, RequestRejected, detailOf } from "../api/errors.ts"
import { at } from "../../catalog/json.ts"
import type { ChildRequest, Resource } from "../../catalog/resource.ts"
import type { Failure } from "../../values/failure.ts"
import { noCapabilities } from "../../values/capabilities.ts"
import { type Detail, type Reason, distinct } from "../../values/reason.ts"
import type { Step } from "../../values/step.ts"
import type { Outcome } from "../../stores/vault/entry.ts"
import { Vault } from "../../stores/vault/vault.ts"
import { notWrittenBy } from "../../stores/warehouse/absent-rows.ts"
import { type Due, dueParents, oldestFetch, parentVersions } from "../../stores/warehouse/sync-state.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type RunContext, count } from "./run-context.ts"
import { ask, decideMissingChildren, decideNotFound } from "./deletions.ts"
import { readPartition } from "./paginate.ts"
import { beginning, resumed } from "./list-progress.ts"

/** Concurrent requests: enough to use the whole budget at 1.2 s of latency. A crash repeats at most this many. */
const concurrency = 12
const batchSize = 500
/** Consecutive parents that may fail before the resource is given up. */
const failuresInARowMax = 20
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
  const [api, vault] = [yield* Api, yield* Vault]
  const { label, kind, ids, noneIsError = false } = childRequest
  const parentResource = context.resources.find(({ table }) => table === childRequest.table)
  /** The record that a request names: the detail of a parent, or a child whose id the parent holds. */
  const requested = kind === "detail" ? parentResource : ids === undefined ? undefined : resource
  const requestsBefore = api.requestsByResource.get(label) ?? 0
  const sizes: Record<string, number> = { ...childCapabilities?.sizes }
  const unreliableTotals = new Set(childCapabilities?.unreliableTotals)
  const failed = new Map<string, Detail>()
  let failuresInARow = 0
  let warnings: ReadonlyArray<Reason> = []
  const warn = (found: ReadonlyArray<Reason>) => {
    if (found.length > 0) warnings = distinct([...warnings, ...found])
  }
  /** Parents or records that do not exist, as the service answered for each. */
  let notFound: Array<string> = []
  /** Those of them that are decided about. */
  const decided = new Set<string>()
  /** The versions of those that were read before the time since when they are due, because the local clock was set back. */
  const readTooEarly = new Map<string, string>()
  /** Those that something read in this run names all the same: one answer is no proof against it. */
  const named = new Set<string>()
  /** Responses with the children or the detail of a parent. */
  let answered = 0
  /** Details whose linked text could not be fetched. */
  let withoutLinkedText = 0

  const fetch = Effect.fnUntraced(function* (due: Due) {
    const { incremental, isFile } = childRequest
    const parent = parentOf(due)
    const strategy = due.full ? childRequest.strategy : incremental!.strategy
    const now = yield* Clock.currentTimeMillis
    const mode = due.full ? "full" : "incremental"
    const since = due.full ? undefined : now - Duration.toMillis(incremental!.lookback)
    const fresh = beginning({ strategy, mode, since, now, optional: context.optional })
    const parentContext = {
      kind: kind === "detail" ? ("detail" as const) : ("page" as const),
      parent,
      noneIsError,
      ...(resource.detail?.linked && {
        complete: (answer: ApiResponse) => withLinked(answer, resource.detail!.linked!)
      }),
      ...(isFile && { file: context.folder })
    }
    const result = yield* readPartition(
      { resource, strategy, name: label, parameters: {}, sizes, unreliableTotals, label, priority: 2, parentContext },
      resumed(due.checkpoint, fresh),
      context
    )
    if ("reason" in result) return yield* giveUp(due, new RequestRejected({ status: 200, ...result.reason }))
    warn(result.state.warnings)
    failuresInARow = 0
    answered++
  })

  /** The service answered 404: there is nothing, or the parent is deleted, or the route does not work. */
  const onNotFound = Effect.fnUntraced(function* (due: Due, error: NotFound) {
    if (noneIsError) return yield* recordNone(due)
    if (requested === undefined) {
      const answer = parentResource ? yield* ask(parentResource, { id: due.id }, context) : "unknown"
      if (answer !== "not found") return yield* giveUp(due, error)
    }
    notFound.push(due.id)
  })

  /** Decides about what was not found, once the service has answered other requests of the kind. */
  const decideNotFoundParents = Effect.fnUntraced(function* () {
    const subject = requested ?? parentResource
    if (notFound.length === 0 || subject === undefined) return
    // The ids come from the parents. A list that is read in full decides about its records itself.
    const isNamed = ids !== undefined || context.readInFull.has(childRequest.table)
    const others = isNamed ? [] : yield* notWrittenBy(context.run, subject, context.location, notFound)
    const contradicted = notFound.filter((id) => !others.includes(id))
    const returnsRecords = requested !== undefined && answered > 0
    const decision = yield* decideNotFound(subject, others, context, returnsRecords, contradicted)
    warn(decision.warnings)
    for (const id of notFound) decided.add(id)
    for (const id of decision.isProven ? contradicted : []) named.add(id)
    for (const id of decision.isProven ? [] : notFound)
      failed.set(id, { message: "the service answers not found, to every request of this kind" })
    notFound = []
    if (failed.size > failuresInARowMax && answered === 0)
      return yield* new RequestRejected({ status: 404, message: "the service answers not found to every request" })
  })

  const parentOf = ({ id, version, full }: Due) => ({ id, version, full })

  /** The service has nothing for the parent; it is not requested again until it changes. */
  const recordNone = Effect.fnUntraced(function* (due: Due) {
    const at = yield* Clock.currentTimeMillis
    count(context.counts, label, 0)
    failuresInARow = 0
    yield* vault.append({
      entry: {
        kind: kind === "detail" ? "detail" : "page",
        run: context.run,
        at,
        location: context.location,
        resource: resource.table,
        partition: label,
        request: {},
        records: "",
        hasBigNumbers: false,
        parent: { ...parentOf(due), done: true }
      },
      body: ""
    })
  })

  /** The detail with the text it links to; unchanged if the other host does not return the text. */
  const withLinked = Effect.fnUntraced(function* (answer: ApiResponse, { url, as }: { url: string; as: string }) {
    const link = at(at(answer.body, childRequest.strategy.records), url)
    if (typeof link !== "string" || !/^https?:/.test(link)) return answer
    const linked = yield* api.linked(link)
    const body = { ...(answer.body as object), ...(linked !== undefined && { [as]: linked }) }
    // A detail nested too deeply for JSON.stringify stays as received.
    const bytes = yield* Effect.try(() => Buffer.from(JSON.stringify(body))).pipe(
      Effect.orElseSucceed(() => answer.bytes)
    )
    if (linked === undefined || bytes === answer.bytes) withoutLinkedText++
    return { ...answer, body, bytes }
  })

  const readAll = Effect.fnUntraced(function* (parents: ReadonlyArray<Due>) {
    const begunAt = yield* Clock.currentTimeMillis
    let exhausted: BudgetExhausted | undefined
    yield* Effect.forEach(
      parents,
      (due) =>
        Effect.suspend(() => (exhausted === undefined ? fetch(due) : Effect.void)).pipe(
          Effect.catchTags({
            NotFound: (error) => onNotFound(due, error),
            Unavailable: (error) => giveUp(due, error),
            RequestRejected: (error) => giveUp(due, error),
            // A failure would interrupt the requests in flight, whose responses are then requested again.
            BudgetExhausted: (error) => Effect.sync(() => void (exhausted = error))
          })
        ),
      { concurrency, discard: true }
    )
    if (exhausted !== undefined) return yield* exhausted
    // Their stored times would leave them due, again and again, until the clock has caught up.
    if (refreshCutoff !== undefined && begunAt < refreshCutoff)
      for (const { id, version } of parents) readTooEarly.set(id, version)
    yield* decideNotFoundParents()
  })

  // Parents become due when their table changes. `checked`: how many batches had changed it when none was due.
  const commits = () => context.known.commitsOf(childRequest.table, context.location)
  let checked = planned?.due === 0 ? 0 : undefined
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
    const due = yield* dueParents({
      location: context.location,
      childRequest,
      refreshCutoff,
      limit: batchSize + failed.size + decided.size + readTooEarly.size
    })
    const parents = due.filter(
      ({ id, version }) => !failed.has(id) && !decided.has(id) && readTooEarly.get(id) !== version
    )
    if (parents.length > 0) {
      yield* readAll(parents)
      // Those that were read are due until this is loaded.
      yield* context.loaded
    }
    // Parents that were all read are due again only if their table changes.
    if (parents.length < batchSize) checked = now
  }
  const readAgain = (ids: ReadonlyArray<string>) =>
    Effect.flatMap(parentVersions(context.location, childRequest, ids), (parents) =>
      readAll(parents.map((parent) => ({ ...parent, full: true, checkpoint: undefined })))
    )
  if (resource.childOf) warn(yield* decideMissingChildren(resource, context, readAgain))
  if (named.size > 0) {
    yield* context.loaded
    const [example, ...others] = yield* parentVersions(context.location, childRequest, [...named])
    if (example) warn([{ _tag: "NotFoundButNamed", count: others.length + 1, id: shortened(example.id) }])
  }
  const requests = (api.requestsByResource.get(label) ?? 0) - requestsBefore
  const capabilities = { ...noCapabilities, sizes, unreliableTotals: [...unreliableTotals] }
  const isUntouched = planned?.due === 0 && requests === 0 && commits() === 0
  const fetchedAt = isUntouched ? planned.oldestFetch : yield* oldestFetch({ location: context.location, childRequest })
  const [first] = [...failed].map(([id, detail]) => ({ id: shortened(id), detail }))
  return {
    mode: "children",
    ...(fetchedAt !== undefined && { fetchedAt }),
    shortfalls: first === undefined ? [] : [{ _tag: "RequestsFailed", count: failed.size, ...first }],
    warnings: [
      ...(withoutLinkedText > 0 ? [{ _tag: "LinkedTextsMissing", count: withoutLinkedText } as const] : []),
      ...warnings
    ],
    requests,
    capabilities
  }

  function giveUp(due: Due, error: Extract<ApiError, { readonly message: string }>) {
    failed.set(due.id, detailOf(error))
    failuresInARow++
    return failuresInARow > failuresInARowMax ? Effect.fail(error) : Effect.void
  }
})

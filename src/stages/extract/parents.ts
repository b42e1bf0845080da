/** Reads the children or the detail of single parents, and keeps what became of each. */
import { Clock, Duration, Effect } from "effect"
import { at, membersOf } from "../../catalog/json.ts"
import type { ChildRequest, Resource } from "../../catalog/resource.ts"
import type { Failure } from "../../values/failure.ts"
import { type Detail, type Reason, distinct } from "../../values/reason.ts"
import type { Step } from "../../values/step.ts"
import { Vault } from "../../stores/vault/vault.ts"
import { notWrittenBy } from "../../stores/warehouse/absent-rows.ts"
import type { Due } from "../../stores/warehouse/sync-state.ts"
import type { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type ApiResponse, Api } from "../api/api.ts"
import { type ApiError, type BudgetExhausted, type NotFound, RequestRejected, detailOf } from "../api/errors.ts"
import { ask, decideNotFound } from "./deletions.ts"
import { beginning, resumed } from "./list-progress.ts"
import { readPartition } from "./paginate.ts"
import { type RunContext, count } from "./run-context.ts"

/** Concurrent requests: enough to use the whole budget at 1.2 s of latency. A crash repeats at most this many. */
const concurrency = 12
/** Consecutive parents that may fail before the resource is given up. */
const failuresInARowMax = 20

/** What became of the parents of one kind of children, and what was seen on the way. */
export class Parents {
  readonly failed = new Map<string, Detail>()
  /** Those, or records, that do not exist, as the service answered for each; to be decided about. */
  notFound: Array<string> = []
  /** Those of them that are decided about. */
  readonly decided = new Set<string>()
  /** The versions of those that were read before the time since when they are due, because the local clock was set back. */
  readonly readTooEarly = new Map<string, string>()
  /** Those that something read in this run names all the same: one answer is no proof against it. */
  readonly named = new Set<string>()
  warnings: ReadonlyArray<Reason> = []
  /** Details whose linked text could not be fetched. */
  withoutLinkedText = 0
  readonly sizes: Record<string, number>
  readonly unreliableTotals: Set<string>
  /** Responses with the children or the detail of a parent. */
  private answered = 0
  private failuresInARow = 0
  private readonly hasWorked: boolean

  constructor(known: Step["childCapabilities"]) {
    this.hasWorked = known !== undefined
    this.sizes = { ...known?.sizes }
    this.unreliableTotals = new Set(known?.unreliableTotals)
  }

  warn(found: ReadonlyArray<Reason>): void {
    if (found.length > 0) this.warnings = distinct([...this.warnings, ...found])
  }

  answers(): void {
    this.failuresInARow = 0
    this.answered++
  }

  hasNone(): void {
    this.failuresInARow = 0
  }

  /** Fails once too many have failed one after another. */
  giveUp(id: string, error: Extract<ApiError, { readonly message: string }>) {
    this.failed.set(id, detailOf(error))
    this.failuresInARow++
    return this.failuresInARow > failuresInARowMax ? Effect.fail(error) : Effect.void
  }

  get hasAnswered(): boolean {
    return this.answered > 0
  }

  /** A scope that is missing concerns all; one record may be kept from the token where others are answered, or were. */
  refuse(id: string, error: Extract<ApiError, { readonly _tag: "Forbidden" }>) {
    return error.answered === 403 && (this.hasAnswered || this.hasWorked) ? this.giveUp(id, error) : Effect.fail(error)
  }

  get isHopeless(): boolean {
    return this.failed.size > failuresInARowMax && !this.hasAnswered
  }

  /** How many of those that are due may be left out. */
  get leftOut(): number {
    return this.failed.size + this.decided.size + this.readTooEarly.size
  }

  isLeftOut({ id, version }: Due): boolean {
    return this.failed.has(id) || this.decided.has(id) || this.readTooEarly.get(id) === version
  }
}

/** The children to read, and where what is found goes. */
export interface Reading {
  readonly resource: Resource
  readonly childRequest: ChildRequest
  readonly refreshCutoff: number | undefined
  readonly context: RunContext
  readonly parents: Parents
}

/** Reads all of these parents, and decides about those that were not found. */
export const readParents = Effect.fnUntraced(function* (reading: Reading, due: ReadonlyArray<Due>) {
  const { parents, refreshCutoff } = reading
  const begunAt = yield* Clock.currentTimeMillis
  let exhausted: BudgetExhausted | undefined
  yield* Effect.forEach(
    due,
    (one) =>
      Effect.suspend(() => (exhausted === undefined ? readParent(reading, one) : Effect.void)).pipe(
        Effect.catchTags({
          NotFound: (error) => onNotFound(reading, one, error),
          Unavailable: (error) => parents.giveUp(one.id, error),
          RequestRejected: (error) => parents.giveUp(one.id, error),
          Forbidden: (error) => parents.refuse(one.id, error),
          // A failure would interrupt the requests in flight, whose responses are then requested again.
          BudgetExhausted: (error) => Effect.sync(() => void (exhausted = error))
        })
      ),
    { concurrency, discard: true }
  )
  if (exhausted !== undefined) return yield* exhausted
  // Their stored times would leave them due, again and again, until the clock has caught up.
  if (refreshCutoff !== undefined && begunAt < refreshCutoff)
    for (const { id, version } of due) parents.readTooEarly.set(id, version)
  yield* decideNotFoundParents(reading)
})

const readParent = Effect.fnUntraced(function* (
  { childRequest, context, parents, resource }: Reading,
  due: Due
): Effect.fn.Return<void, ApiError | Failure, Api | Vault | Warehouse> {
  const { incremental, isFile, kind, label, noneIsError = false } = childRequest
  const { linked } = resource.detail ?? {}
  const strategy = due.full ? childRequest.strategy : incremental!.strategy
  const now = yield* Clock.currentTimeMillis
  const mode = due.full ? "full" : "incremental"
  const since = due.full ? undefined : now - Duration.toMillis(incremental!.lookback)
  const fresh = beginning({ strategy, mode, since, now, optional: context.optional })
  const api = yield* Api
  const parentContext = {
    kind: kind === "detail" ? ("detail" as const) : ("page" as const),
    parent: parentOf(due),
    noneIsError,
    ...(linked && {
      complete: (answer: ApiResponse) =>
        Effect.map(withLinked(api, answer, { ...linked, records: childRequest.strategy.records }), (whole) => {
          if (whole.isMissing) parents.withoutLinkedText++
          return whole.answer
        })
    }),
    ...(isFile && { file: context.folder })
  }
  const { sizes, unreliableTotals } = parents
  const result = yield* readPartition(
    { resource, strategy, name: label, parameters: {}, sizes, unreliableTotals, label, priority: 2, parentContext },
    resumed(due.checkpoint, fresh),
    context
  )
  if ("reason" in result) return yield* parents.giveUp(due.id, new RequestRejected({ status: 200, ...result.reason }))
  parents.warn(result.state.warnings)
  parents.answers()
})

const parentOf = ({ id, version, full }: Due) => ({ id, version, full })

/** The table of the parents, and the record that a request names: the detail of a parent, or a child whose id the parent holds. */
const subjectsOf = ({ childRequest: { ids, kind, table }, context, resource }: Reading) => {
  const parentResource = context.resources.find((one) => one.table === table)
  const requested = kind === "detail" ? parentResource : ids === undefined ? undefined : resource
  return { parentResource, requested }
}

/** The service answered 404: there is nothing, or the parent is deleted, or the route does not work. */
const onNotFound = Effect.fnUntraced(function* (reading: Reading, due: Due, error: NotFound) {
  const { childRequest, context, parents } = reading
  if (childRequest.noneIsError) return yield* recordNone(reading, due)
  const { parentResource, requested } = subjectsOf(reading)
  if (requested === undefined) {
    const answer = parentResource ? yield* ask(parentResource, { id: due.id }, context) : "unknown"
    if (answer !== "not found") return yield* parents.giveUp(due.id, error)
  }
  parents.notFound.push(due.id)
})

/** Decides about what was not found, once the service has answered other requests of the kind. */
const decideNotFoundParents = Effect.fnUntraced(function* (reading: Reading) {
  const { childRequest, context, parents } = reading
  const { parentResource, requested } = subjectsOf(reading)
  const { notFound } = parents
  const subject = requested ?? parentResource
  if (notFound.length === 0 || subject === undefined) return
  // The ids come from the parents. A list that is read in full decides about its records itself.
  const isNamed = childRequest.ids !== undefined || context.readInFull.has(childRequest.table)
  const others = isNamed ? [] : yield* notWrittenBy(context.run, subject, context.location, notFound)
  const contradicted = notFound.filter((id) => !others.includes(id))
  const returnsRecords = requested !== undefined && parents.hasAnswered
  const decision = yield* decideNotFound(subject, others, context, returnsRecords, contradicted)
  parents.warn(decision.warnings)
  for (const id of notFound) parents.decided.add(id)
  for (const id of decision.isProven ? contradicted : []) parents.named.add(id)
  for (const id of decision.isProven ? [] : notFound)
    parents.failed.set(id, { message: "the service answers not found, to every request of this kind" })
  parents.notFound = []
  if (parents.isHopeless)
    return yield* new RequestRejected({ status: 404, message: "the service answers not found to every request" })
})

/** The service has nothing for the parent; it is not requested again until it changes. */
const recordNone = Effect.fnUntraced(function* ({ childRequest, context, parents, resource }: Reading, due: Due) {
  const { kind, label } = childRequest
  count(context.counts, label, 0)
  parents.hasNone()
  yield* (yield* Vault).append({
    entry: {
      kind: kind === "detail" ? "detail" : "page",
      run: context.run,
      at: yield* Clock.currentTimeMillis,
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
const withLinked = Effect.fnUntraced(function* (
  api: Api["Service"],
  answer: ApiResponse,
  { as, records, url }: { readonly url: string; readonly as: string; readonly records: string }
) {
  const link = at(at(answer.body, records), url)
  if (typeof link !== "string" || !/^https?:/.test(link)) return { answer, isMissing: false }
  const linked = yield* api.linked(link)
  const body = { ...membersOf(answer.body), ...(linked !== undefined && { [as]: linked }) }
  // A detail nested too deeply for JSON.stringify stays as received.
  const bytes = yield* Effect.try(() => Buffer.from(JSON.stringify(body))).pipe(
    Effect.orElseSucceed(() => answer.bytes)
  )
  return { answer: { ...answer, body, bytes }, isMissing: linked === undefined || bytes === answer.bytes }
})

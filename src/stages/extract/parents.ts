/** Reads the children or the detail of single parents, and keeps what became of each. */
import { Clock, Duration, Effect } from "effect"
import { at, membersOf } from "../../catalog/json.ts"
import { itemAt, present } from "../../catalog/present.ts"
import { bind, rowColumns, rowParameters } from "../../catalog/request.ts"
import type { ChildRequest, Resource } from "../../catalog/resource.ts"
import type { Capabilities } from "../../values/capabilities.ts"
import type { Failure } from "../../values/failure.ts"
import { Limits } from "../../values/limits.ts"
import { type Detail, type Reason, distinct } from "../../values/reason.ts"
import type { Step } from "../../values/step.ts"
import { Vault } from "../../stores/vault/vault.ts"
import { notWrittenBy, otherRows } from "../../stores/warehouse/absent-rows.ts"
import type { Due } from "../../stores/warehouse/sync-state.ts"
import type { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type ApiResponse, Api } from "../api/api.ts"
import {
  type ApiError,
  type BudgetExhausted,
  type Forbidden,
  RequestRejected,
  type Unavailable,
  detailOf
} from "../api/errors.ts"
import { type Refusal, isSame, neverIssued, statusIn } from "../api/author.ts"
import { answerTo } from "../api/of-nobody.ts"
import { decideNotFound, placeOf } from "./deletions.ts"
import { isResponding } from "./outage.ts"
import { beginning, resumed } from "./list-progress.ts"
import { readPartition } from "./paginate.ts"
import { type RunContext, count } from "./run-context.ts"

/** Concurrent requests: enough to use the whole budget at 1.2 s of latency. A crash repeats at most this many. */
const concurrency = 12

/** What became of the parents of one kind of children, and what was seen on the way. */
export class Parents {
  readonly failed = new Map<string, Detail>()
  /** Those for which the service itself rejected the request, with its error; to be decided about. */
  readonly rejected = new Map<string, RequestRejected>()
  /** Those of them that do not exist. */
  readonly decided = new Set<string>()
  /** Why no others are requested: nothing of the kind was answered in this run, or the service is down. */
  givenUp: RequestRejected | Unavailable | Forbidden | undefined
  /** What the service answers for a parent that never existed, each time it was asked. */
  readonly ofNobody: Array<Refusal | "answered" | undefined> = []
  /** The versions of those that were read before the time since when they are due, because the local clock was set back. */
  readonly readTooEarly = new Map<string, string>()
  /** Those that something read in this run names all the same: one answer is no proof against it. */
  readonly named = new Set<string>()
  warnings: ReadonlyArray<Reason> = []
  /** Details whose linked text could not be fetched. */
  withoutLinkedText = 0
  readonly beside: Capabilities["beside"]
  /** Parameters that the service does not want. */
  readonly unwanted: Array<string>
  readonly sizes: Record<string, number>
  readonly unreliableTotals: Set<string>
  /** The last one that was answered with its children or its detail. */
  answered: string | undefined
  failuresInARow = 0

  constructor(known: Step["childCapabilities"]) {
    this.beside = known?.beside
    this.unwanted = Object.values(known?.leftOut ?? {}).flat()
    this.sizes = { ...known?.sizes }
    this.unreliableTotals = new Set(known?.unreliableTotals)
  }

  warn(found: ReadonlyArray<Reason>): void {
    if (found.length > 0) this.warnings = distinct([...this.warnings, ...found])
  }

  answers(id: string): void {
    this.failuresInARow = 0
    this.answered = id
  }

  get hasAnswered(): boolean {
    return this.answered !== undefined
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
  const fail = (one: Due) => (error: RequestRejected | Unavailable | Forbidden) => failed(reading, one, error)
  const begunAt = yield* Clock.currentTimeMillis
  let exhausted: BudgetExhausted | undefined
  yield* Effect.forEach(
    due,
    (one) =>
      Effect.suspend(() =>
        exhausted === undefined && parents.givenUp === undefined ? readParent(reading, one) : Effect.void
      ).pipe(
        Effect.catchTags({
          Unavailable: fail(one),
          RequestRejected: fail(one),
          Forbidden: fail(one),
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
  yield* decideRejected(reading, due)
  const [id, first] = [...parents.rejected][0] ?? []
  if (
    id !== undefined &&
    !parents.hasAnswered &&
    (yield* Limits).extract.failuresInARow.isExceededBy(parents.failed.size)
  )
    parents.givenUp ??= first
})

const readParent = Effect.fnUntraced(function* (
  reading: Reading,
  due: Due
): Effect.fn.Return<void, ApiError | Failure, Api | Vault | Warehouse> {
  const { childRequest, context, parents, resource } = reading
  const { incremental, isFile, kind, label } = childRequest
  const { linked } = resource.detail ?? {}
  const changes = due.full ? undefined : present(incremental, `way to read changes of ${label}`)
  const { strategy } = changes ?? childRequest
  const now = yield* Clock.currentTimeMillis
  const mode = due.full ? "full" : "incremental"
  const since = changes && now - Duration.toMillis(changes.lookback)
  const fresh = beginning({ strategy, mode, since, now, optional: context.optional })
  const api = yield* Api
  const parentContext = {
    kind: kind === "detail" ? ("detail" as const) : ("page" as const),
    parent: parentOf(due),
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
    {
      resource,
      strategy,
      name: label,
      parameters: {},
      sizes,
      unreliableTotals,
      label,
      priority: 2,
      beside: parents.beside,
      leftOut: parents.unwanted,
      parentContext
    },
    resumed(due.checkpoint, fresh),
    context
  )
  if ("reason" in result) {
    const { reason, refusal, response } = result
    const error = new RequestRejected({ status: 200, ...reason, ...(refusal !== undefined && { refusal }) })
    return yield* failed(reading, due, error, response)
  }
  parents.warn(result.state.warnings)
  parents.answers(due.id)
})

const parentOf = ({ id, version, full }: Due) => ({ id, version, full })

/**
 * One parent cannot be read. It is noted, so that the next run tries it last, with what the service sent in its place. What the
 * service itself rejected is decided about later.
 */
const failed = Effect.fnUntraced(function* (
  reading: Reading,
  due: Due,
  error: RequestRejected | Unavailable | Forbidden,
  response?: ApiResponse
) {
  const { childRequest, context, parents, resource } = reading
  const isOwn = error._tag === "RequestRejected" && error.refusal !== undefined
  if (isOwn) parents.rejected.set(due.id, error)
  else parents.failed.set(due.id, detailOf(error))
  // Whether it means that there is none is decided after the others have been asked.
  if (!isOwn || !childRequest.noneIsError) yield* note(reading, due, false, response)
  const isFirstEnough = resource.isTrial && error._tag === "Forbidden"
  const { failuresInARow } = (yield* Limits).extract
  if (isOwn || (!failuresInARow.isExceededBy(++parents.failuresInARow) && !isFirstEnough)) return
  parents.failuresInARow = 0
  // Others of its kind were answered in this run: they go on, unless the service is down.
  if (!parents.hasAnswered || !(yield* isResponding(context.location, resource.table))) parents.givenUp ??= error
})

/** Decides about what the service rejected: whether a record, or the parent of a list, is gone, or just cannot be read. */
const decideRejected = Effect.fnUntraced(function* (reading: Reading, due: ReadonlyArray<Due>) {
  const { childRequest, context, parents, resource } = reading
  const parentResource = context.resources.find((one) => one.table === childRequest.table)
  // The detail of a parent, or a child whose id the parent holds, is named by the request itself.
  const requested = childRequest.kind === "detail" ? parentResource : childRequest.ids ? resource : undefined
  const subject = requested ?? parentResource
  const rejected = due.flatMap(({ id }) => {
    const error = parents.rejected.get(id)
    return error?.refusal === undefined ? [] : [{ id, error, refusal: error.refusal }]
  })
  const [example] = rejected
  if (example === undefined) return
  if (childRequest.noneIsError) return yield* decideNone(reading, due, rejected)
  const isLikeNobody = ({ id, refusal }: (typeof rejected)[number]) =>
    requested !== undefined || parents.ofNobody.some((one) => isSame({ refusal, ids: [id] }, one))
  // What an answer has of its own, such as a random text, may look like a word: that of a second answer does not.
  while (parents.ofNobody.length < 2 && !rejected.every(isLikeNobody)) {
    const id = neverIssued(example.id)
    parents.ofNobody.push(yield* answerTo(controlOf(reading, id), id))
  }
  const candidates = rejected.filter(isLikeNobody)
  if (requested !== undefined)
    for (const { id, refusal } of rejected) context.answers.set(placeOf(requested, { id }), { refusal })
  const isByIdAlone =
    requested?.getOne &&
    rowColumns(requested.getOne.request).length === 0 &&
    rowParameters(requested.getOne.request).length === 1
  const returned = isByIdAlone ? parents.answered : undefined
  if (requested && returned !== undefined) context.answers.set(placeOf(requested, { id: returned }), "exists")
  // The ids come from the parents. A list that is read in full decides about its records itself.
  const isNamed = childRequest.ids !== undefined || context.readInFull.has(childRequest.table)
  const named = (notFound: ReadonlyArray<string>) =>
    isNamed || subject === undefined
      ? Effect.succeed(notFound)
      : Effect.map(notWrittenBy(context.run, subject, context.location, notFound), (others) =>
          notFound.filter((id) => !others.includes(id))
        )
  const ids = candidates.map(({ id }) => id)
  const decision =
    ids.length === 0 || !subject?.getOne ? undefined : yield* decideNotFound(subject, ids, context, named, returned)
  parents.warn(decision?.warnings ?? [])
  for (const id of decision?.named ?? []) parents.named.add(id)
  for (const { error, id } of rejected)
    if (decision?.notFound.includes(id)) parents.decided.add(id)
    else parents.failed.set(id, detailOf(error))
})

/** The request for one parent, sent as a control. */
const controlOf = ({ childRequest: { isFile, label, strategy }, context }: Reading, id: string) => {
  const { company, folder, location } = context
  return {
    request: bind(strategy.request, { location, company, id, size: strategy.pageSize }),
    pathTemplate: strategy.request.path,
    resource: label,
    ...(isFile && { file: folder })
  }
}

/**
 * A refusal may mean that a parent has no children, as of a call without a recording. It does if the route still answers for
 * another parent, and then refuses one of those that it refused in this form as it did before. Where it has never answered
 * for any, nothing is stored that an error could hide.
 */
const decideNone = Effect.fnUntraced(function* (
  reading: Reading,
  due: ReadonlyArray<Due>,
  rejected: ReadonlyArray<{ readonly id: string; readonly error: RequestRejected; readonly refusal: string }>
) {
  const { childRequest, context, parents, resource } = reading
  const ids = rejected.map(({ id }) => id)
  const stored = parents.hasAnswered
    ? []
    : yield* otherRows(resource, context.location, context.run, ids, ids.length + 1)
  const others = [parents.answered, ...stored.map(({ row }) => row[resource.childOf?.column ?? ""])]
  const other = others.find((id): id is string => typeof id === "string" && !parents.rejected.has(id))
  const ask = (id: string) => answerTo(controlOf(reading, id), id)
  const forms: Array<[Refusal, ...Array<Refusal>]> = []
  for (const { id, refusal } of rejected.filter((one) => [400, 404, 422].includes(statusIn(one.refusal)))) {
    const one = { refusal, ids: [id] }
    const alike = forms.find(([first]) => isSame(one, first))
    if (alike) alike.push(one)
    else forms.push([one])
  }
  const sorted = forms.toSorted((one, another) => another.length - one.length)
  const frequent = (yield* Limits).extract.refusalForms.first(sorted)
  const isRepeated = ([first]: (typeof forms)[number]) =>
    Effect.map(ask(itemAt(first.ids, 0)), (again) => isSame(first, again))
  const isAnswering = other !== undefined && (yield* ask(other)) === "answered"
  const repeated = other === undefined ? forms : yield* Effect.filter(isAnswering ? frequent : [], isRepeated)
  const without = new Set(repeated.flatMap((form) => form.flatMap((one) => one.ids)))
  const errors = new Map(rejected.map(({ error, id }) => [id, error]))
  for (const parent of due) {
    const error = errors.get(parent.id)
    if (error === undefined) continue
    const isNone = without.has(parent.id)
    // One that has none is not requested again until it changes.
    if (isNone) parents.decided.add(parent.id)
    else parents.failed.set(parent.id, detailOf(error))
    if (isNone) count(context.counts, childRequest.label, 0)
    yield* note(reading, parent, isNone)
  }
})

/** Notes that a parent was asked. `done`: it has nothing. Else it is due again, with what was sent in its place to be rejected. */
const note = Effect.fnUntraced(function* (reading: Reading, due: Due, done: boolean, response?: ApiResponse) {
  const { childRequest, context, resource } = reading
  yield* (yield* Vault).append({
    entry: {
      kind: childRequest.kind === "detail" ? "detail" : "page",
      run: context.run,
      at: yield* Clock.currentTimeMillis,
      location: context.location,
      resource: resource.table,
      partition: childRequest.label,
      request: {},
      records: response === undefined ? "" : childRequest.strategy.records,
      hasBigNumbers: response?.hasBigNumbers ?? false,
      parent: { ...parentOf(due), done }
    },
    body: response?.bytes ?? ""
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

/** Reads one partition of a list page by page. A page is durable in the vault before its cursor is used. */
import { Limits } from "../../values/limits.ts"
import { Clock, Effect } from "effect"
import { Api, type ApiResponse, type Call } from "../api/api.ts"
import { type ApiError, RequestRejected, Unavailable, detailOf } from "../api/errors.ts"
import { type Expected, expectedOf, failureIn } from "../../catalog/answer.ts"
import { Shapes } from "../../catalog/beside.ts"
import { at } from "../../catalog/json.ts"
import { withholderOf } from "../../catalog/withhold.ts"
import { type Bindings, type BoundRequest, bind } from "../../catalog/request.ts"
import type { Resource } from "../../catalog/resource.ts"
import type { Failure } from "../../values/failure.ts"
import type { Detail } from "../../values/reason.ts"
import type { Capabilities } from "../../values/capabilities.ts"
import type { Checkpoint } from "../../values/checkpoint.ts"
import type { PageEntry, Parent } from "../../stores/vault/entry.ts"
import { Vault } from "../../stores/vault/vault.ts"
import { type RunContext, count } from "./run-context.ts"
import { idOf, isPositional } from "./list-progress.ts"
import { isResponding } from "./outage.ts"
import { PageLoop, type PagesTask, nameOf } from "./page-loop.ts"
import { isPair } from "./tie-breaking.ts"

export interface PartitionTask extends PagesTask {
  /** The name its requests are counted under. */
  readonly label: string
  readonly priority: Call["priority"]
  /** What earlier runs have seen beside the list. */
  readonly beside?: Capabilities["beside"]
  /** The parent row of children or of a detail. */
  readonly parentContext?: {
    readonly kind: PageEntry["kind"]
    readonly parent: Omit<Parent, "done">
    /** Completes the response before it is stored. */
    readonly complete?: (answer: ApiResponse) => Effect.Effect<ApiResponse, Failure>
    /** The output folder, if the response is a file. */
    readonly file?: string
  }
}

/** Why a partition cannot be read. */
interface Unread {
  readonly reason: Detail
  /** The error of the service itself. */
  readonly refusal?: string
  /** What was sent in place of the record that was requested. */
  readonly response?: ApiResponse
}

/** How far a partition was read, or why it cannot be. */
export type PartitionResult = { readonly state: Checkpoint } | Unread

type PagesError = Exclude<ApiError, RequestRejected> | Failure

export const readPartition = Effect.fn("extract.partition")(function* (
  task: PartitionTask,
  start: Checkpoint,
  context: RunContext
): Effect.fn.Return<PartitionResult, PagesError, Api | Vault> {
  const { resource, strategy, name, label, parentContext } = task
  const known = task.beside?.[nameOf(strategy)]
  const shapes = context.shapes.get(nameOf(strategy)) ?? new Shapes(known?.kinds, known?.empties)
  context.shapes.set(nameOf(strategy), shapes)
  const { location, company } = context
  const id = parentContext?.parent.id
  const expected = {
    ...expectedOf(resource, strategy, name, id),
    shapes,
    isFirst: (): boolean => loop.state.count === 0,
    isCounted: start.since === undefined && start.windows === undefined
  }
  const identified = identifier(resource, context)
  const loop: PageLoop = new PageLoop(task, start, {
    expected,
    identified,
    cuts: context.cuts,
    limits: (yield* Limits).extract
  })
  const next = nextPage(loop, task, expected, { location, company, id })

  while (!loop.state.done) {
    loop.discardOld(yield* Clock.currentTimeMillis)
    if (!loop.hasCursor) yield* context.backpressure
    const page = yield* next
    if (page.kind === "failed") return page.unread
    if (page.kind !== "page") continue
    const { path, records, request, response } = page
    const { state } = loop
    const totals = parentContext || state.total === undefined ? {} : { [name]: state.total }
    count(context.counts, label, records, totals)
    // Durable first, cursor second: a crash from here on repeats no page.
    yield* (yield* Vault).append({
      entry: {
        kind: parentContext?.kind ?? "page",
        run: context.run,
        at: response.at,
        location,
        resource: resource.table,
        partition: parentContext ? label : name,
        request,
        records: path,
        hasBigNumbers: response.hasBigNumbers,
        ...(parentContext && { parent: { ...parentContext.parent, done: state.done } }),
        checkpoint: state
      },
      body: response.bytes
    })
  }
  return { state: loop.state }
})

/** `page`: its records are new to the loop, whose state is the one after it. `none`: the loop says how to go on. */
type Next =
  | {
      readonly kind: "page"
      readonly records: number
      /** Where they are in the response. */
      readonly path: string
      readonly request: BoundRequest
      readonly response: ApiResponse
    }
  | { readonly kind: "failed"; readonly unread: Unread }
  | { readonly kind: "none" }

/** Sends the next request of a list, and hands its response to the loop. `bindings`: what does not differ from page to page. */
export const nextPage = Effect.fnUntraced(function* (
  loop: PageLoop,
  task: PartitionTask,
  expected: Expected,
  bindings: Pick<Bindings, "location" | "company" | "id">
): Effect.fn.Return<Next, PagesError, Api> {
  const { strategy, name, parameters, label, priority, parentContext } = task
  const file = parentContext?.file === undefined ? {} : { file: parentContext.file }
  const next = loop.next()
  if ("reason" in next) return { kind: "failed", unread: { reason: next.reason } }
  const ofTies = loop.state.ties?.left[0]?.parameters
  const wanted = Object.entries(strategy.request.parameters).filter(([one]) => !task.leftOut?.includes(one))
  const request = bind(
    { ...strategy.request, parameters: { ...Object.fromEntries(wanted), ...parameters, ...ofTies } },
    { ...bindings, partition: name, ...next }
  )
  const result = yield* (yield* Api)
    .send({
      request,
      pathTemplate: strategy.request.path,
      priority: loop.hasCursor ? 0 : priority,
      resource: label,
      ...(loop.state.size !== undefined && { attempts: (yield* Limits).extract.reducedAttempts }),
      // The answer of a list that the account does not have may have any form: to ask again shows nothing.
      ...(task.resource.isTrial ? { isTrial: true } : { failureIn: failureIn({ ...expected, question: {} }) }),
      records: expected.records,
      ...(strategy.paging.kind === "expiring" && {
        isDue: Effect.map(Clock.currentTimeMillis, (now) => loop.isDue(now))
      }),
      ...file
    })
    .pipe(
      Effect.catchTag("RequestRejected", (rejection) => Effect.succeed(rejection)),
      // The service may fail on a cursor of sort value and id.
      Effect.catchIf(
        (error) => error._tag === "Unavailable" && !error.later && isPair(strategy, loop.state),
        (error) => Effect.succeed(new RequestRejected({ status: 0, ...detailOf(error) }))
      ),
      Effect.catchTag("Unavailable", (error) =>
        parentContext || strategy.paging.kind === "once" || error.later || error.isBetween
          ? Effect.fail(error)
          : afterOutage(loop, task, error, bindings.location)
      )
    )
  if (result === "smaller") return { kind: "none" }
  if (result instanceof RequestRejected) {
    const { refusal, status } = result
    // There is no smaller part of a route that is not there.
    const isNoRoute = task.resource.isTrial && status === 404
    const failed = isNoRoute ? { reason: detailOf(result) } : loop.rejected(result)
    return failed
      ? { kind: "failed", unread: { ...failed, ...(refusal !== undefined && { refusal }) } }
      : { kind: "none" }
  }
  const response = parentContext?.complete ? yield* parentContext.complete(result) : result
  const received = loop.received(response.body, result.serviceTime, result.status)
  if (received.kind === "append")
    return { kind: "page", records: received.records, path: received.path, request, response }
  if (received.kind === "failed") return { kind: "failed", unread: { reason: received.reason } }
  if (received.kind === "another") return { kind: "failed", unread: { reason: received.reason, response } }
  if (received.kind === "repeat") yield* Effect.sleep(received.waitMs)
  return { kind: "none" }
})

/** A page that was not answered, of a list with several: a smaller page, another strategy, or the end of the reading. */
const afterOutage = Effect.fnUntraced(function* (
  loop: PageLoop,
  { label, strategy }: PartitionTask,
  error: Unavailable,
  location: unknown
) {
  if (typeof location !== "string") return yield* error
  if (!(yield* isResponding(location, label))) return yield* new Unavailable({ ...detailOf(error), later: true })
  if (loop.broken()) return "smaller" as const
  // Another strategy may count its pages, and leave out what cannot be read.
  if (loop.state.count === 0 || isPositional(strategy)) return yield* error
  return new RequestRejected({ status: 0, ...detailOf(error) })
})

/** Checkpoints store the ids of records, and records that have none: then without what the settings keep out. */
const identifier = (resource: Resource, { location, resources }: RunContext): ((record: unknown) => unknown) => {
  const withholder = withholderOf(resource, resources, { hash: () => "", fieldsOf: () => undefined })
  if (withholder === undefined) return (record) => record
  return (record) =>
    (at(record, "id") ?? at(record, "_id")) === undefined
      ? { ...Object(record), id: idOf(withholder(record, location)) }
      : record
}

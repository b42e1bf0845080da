/** Reads one partition of a list page by page. A page is durable in the vault before its cursor is used. */
import { Clock, Effect } from "effect"
import { Api, type ApiResponse, type Call } from "../api/api.ts"
import { NotFound, RequestRejected, detailOf } from "../api/errors.ts"
import { expectedOf, failureIn } from "../../catalog/answer.ts"
import { at } from "../../catalog/json.ts"
import { withholderOf } from "../../catalog/withhold.ts"
import { bind } from "../../catalog/request.ts"
import type { Resource } from "../../catalog/resource.ts"
import type { Failure } from "../../values/failure.ts"
import type { Checkpoint } from "../../values/checkpoint.ts"
import type { PageEntry, Parent } from "../../stores/vault/entry.ts"
import { Vault } from "../../stores/vault/vault.ts"
import { type RunContext, count } from "./run-context.ts"
import { idOf } from "./list-progress.ts"
import { PageLoop, type PagesTask, nameOf } from "./page-loop.ts"
import { isPair } from "./tie-breaking.ts"

export interface PartitionTask extends PagesTask {
  /** The name its requests are counted under. */
  readonly label: string
  readonly priority: Call["priority"]
  /** The parent row of children or of a detail. */
  readonly parentContext?: {
    readonly kind: PageEntry["kind"]
    readonly parent: Omit<Parent, "done">
    /** The service rejects the request if the parent has no children. */
    readonly noneIsError: boolean
    /** Completes the response before it is stored. */
    readonly complete?: (answer: ApiResponse) => Effect.Effect<ApiResponse, Failure>
    /** The output folder, if the response is a file. */
    readonly file?: string
  }
}

export const readPartition = Effect.fn("extract.partition")(function* (
  task: PartitionTask,
  start: Checkpoint,
  context: RunContext
) {
  const [api, vault] = [yield* Api, yield* Vault]
  const { resource, strategy, name, parameters, label, priority, parentContext } = task
  const file = parentContext?.file === undefined ? {} : { file: parentContext.file }
  const seen = context.besideLists.get(nameOf(strategy)) ?? new Set()
  context.besideLists.set(nameOf(strategy), seen)
  const expected = { ...expectedOf(resource, strategy, name, parentContext?.parent.id), seen }
  const identified = identifier(resource, context)
  const loop = new PageLoop(task, start, { expected, seen, identified, cuts: context.cuts })
  const isDue = Effect.map(Clock.currentTimeMillis, (now) => loop.isDue(now))

  while (!loop.state.done) {
    loop.discardOld(yield* Clock.currentTimeMillis)
    if (!loop.hasCursor) yield* context.backpressure
    const next = loop.next()
    if ("reason" in next) return { reason: next.reason }
    const request = bind(
      {
        ...strategy.request,
        parameters: { ...strategy.request.parameters, ...parameters, ...loop.state.ties?.left[0]?.parameters }
      },
      {
        location: context.location,
        company: context.company,
        id: parentContext?.parent.id,
        partition: name,
        ...next
      }
    )
    const result = yield* api
      .send({
        request,
        pathTemplate: strategy.request.path,
        priority: loop.hasCursor ? 0 : priority,
        resource: label,
        failureIn: failureIn(expected),
        records: expected.records,
        ...(strategy.paging.kind === "expiring" && { isDue }),
        ...file
      })
      .pipe(
        Effect.catchTag("RequestRejected", (rejection) => Effect.succeed(rejection)),
        // The service may fail on a cursor of sort value and id.
        Effect.catchIf(
          (error) => error._tag === "Unavailable" && !error.later && isPair(strategy, loop.state),
          (error) => Effect.succeed(new RequestRejected({ status: 0, ...detailOf(error) }))
        )
      )
    if (result instanceof RequestRejected) {
      if (parentContext?.noneIsError && result.isOwn && [400, 404, 422].includes(result.status))
        return yield* new NotFound(detailOf(result))
      const failed = loop.rejected(result)
      if (failed) return failed
      continue
    }
    const response = parentContext?.complete ? yield* parentContext.complete(result) : result
    const received = loop.received(response.body, result.serviceTime)
    if (received.kind === "failed") return { reason: received.reason }
    if (received.kind === "ignored") break
    if (received.kind === "repeat") {
      yield* Effect.sleep(received.waitMs)
      continue
    }
    const { state } = loop
    const totals = parentContext || state.total === undefined ? {} : { [name]: state.total }
    count(context.counts, label, received.records, totals)
    // Durable first, cursor second: a crash from here on repeats no page.
    yield* vault.append({
      entry: {
        kind: parentContext?.kind ?? "page",
        run: context.run,
        at: response.at,
        location: context.location,
        resource: resource.table,
        partition: parentContext ? label : name,
        request,
        records: expected.records,
        hasBigNumbers: response.hasBigNumbers,
        ...(parentContext && { parent: { ...parentContext.parent, done: state.done } }),
        checkpoint: state
      },
      body: response.bytes
    })
  }
  return { state: loop.state }
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

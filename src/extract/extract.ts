/**
 * API to vault: every resource of a plan side by side, fan-outs behind their parents. A resource that cannot be read
 * ends alone, with its reason; only bad credentials, a wrong location and a full disk end them all.
 */
import { Clock, Deferred, Effect } from "effect"
import { Api } from "../api/api.ts"
import type { ApiError, BadCredentials, WrongLocation } from "../api/errors.ts"
import { type ChildRequest, type Resource, asksForCompany, childRequestOf } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import type { Step } from "../values/step.ts"
import type { Outcome } from "../vault/entry.ts"
import { Vault } from "../vault/vault.ts"
import { statusOf } from "../values/status.ts"
import { lastStatuses } from "../warehouse/meta/run-resources.ts"
import { excludedCount } from "../warehouse/sync-state.ts"
import type { Warehouse } from "../warehouse/warehouse.ts"
import { readWindows } from "./backfill.ts"
import type { RunContext } from "./run-context.ts"
import { findDeleted, findOrphans } from "./deletions.ts"
import { readChildren } from "./children.ts"
import { type Outage, watchForOutage } from "./outage.ts"
import { read } from "./list.ts"
import { withWarnings, cappedByParents } from "./outcome.ts"

export interface ResourceResult extends Outcome {
  readonly location: string
  readonly resource: string
  /** `retryLater`: no more requests for now, or nothing answered. `forbidden`: the token may not read it. */
  readonly reason?: "retryLater" | "forbidden"
  /** Epoch milliseconds. */
  readonly resumeAt?: number
}

export const extract = Effect.fn("extract")(function* (
  steps: ReadonlyArray<Step>,
  context: RunContext,
  /** Called when the location has been read, to learn who owns it. */
  companyOf: Effect.Effect<string | undefined, Failure, Warehouse>
): Effect.fn.Return<ReadonlyArray<ResourceResult>, BadCredentials | WrongLocation | Failure, Api | Vault | Warehouse> {
  const readByTable = new Map<string, Deferred.Deferred<void>>()
  // The rows a resource is read under may be left out of this run; those known from earlier ones do.
  const nothingToWaitFor = yield* Deferred.make<void>()
  yield* Deferred.succeed(nothingToWaitFor, undefined)
  /** Readings of each table that have not ended: of its list, and of what is read under other rows. */
  const underWay = new Map<string, number>()
  const resultsByTable = new Map<string, ReadonlyArray<ResourceResult>>()
  for (const { resource, mode } of steps) {
    readByTable.set(resource.table, yield* Deferred.make<void>())
    underWay.set(
      resource.table,
      Number(mode !== "children") + Number(resource.childOf !== undefined && mode !== "window")
    )
  }
  const outage = yield* watchForOutage(context.location)

  const toEnd = (label: string, reading: Reads) => Effect.map(ended(label, reading, context, outage), (end) => [end])
  /** A reading that brings rows of a table. What is read under them ends when all such readings have. */
  const rowsOf = (table: string, label: string, reading: Reads) =>
    toEnd(label, reading).pipe(
      Effect.tap((ends) =>
        Effect.sync(() => resultsByTable.set(table, [...(resultsByTable.get(table) ?? []), ...ends]))
      ),
      Effect.ensuring(
        Effect.suspend(() => {
          underWay.set(table, underWay.get(table)! - 1)
          return underWay.get(table) === 0 ? Deferred.succeed(readByTable.get(table)!, undefined) : Effect.void
        })
      )
    )
  const list = ({ resource, embedded, mode, ...reading }: Step) =>
    mode === "children" || resource.kind !== "list"
      ? Effect.succeed([])
      : rowsOf(
          resource.table,
          resource.table,
          mode === "window"
            ? readWindows(resource, { ...reading, mode }, context)
            : read(resource, { ...reading, mode }, context).pipe(
                Effect.flatMap((outcome) => withNotFound(outcome, resource, embedded))
              )
        )
  /** What a complete list did not show, of it and of the tables in its pages. */
  const withNotFound = Effect.fnUntraced(function* (
    outcome: Outcome,
    resource: Resource,
    embedded: ReadonlyArray<Resource>
  ) {
    // What the settings no longer ask for is not gone.
    const tells = outcome.mode === "full" && statusOf(outcome) === "complete"
    if (!tells || typeof resource.partitions === "string") return outcome
    const explains = resource.cascadesFrom && readByTable.get(resource.cascadesFrom.table)
    if (explains) yield* Deferred.await(explains)
    const warnings = yield* Effect.forEach([resource, ...embedded], (one) =>
      findDeleted(one, outcome.begunAt!, context)
    )
    return withWarnings(outcome, warnings.flat())
  })
  const children = ({ resource, mode, childCapabilities, refreshCutoff }: Step) => {
    const childRequest = childRequestOf(resource)
    // What a backfill makes due is the next sync's.
    if (childRequest === undefined || mode === "window") return Effect.succeed([])
    const parentsRead = readByTable.get(childRequest.table) ?? nothingToWaitFor
    const reading = readChildren(resource, childRequest, { childCapabilities, refreshCutoff }, parentsRead, context)
    const whole =
      resource.childOf && resource.childOf.ids === undefined
        ? reading.pipe(
            Effect.flatMap((outcome) =>
              Effect.map(findOrphans(resource, context), (warnings) => withWarnings(outcome, warnings))
            )
          )
        : reading
    const judged = Effect.gen(function* () {
      const outcome = withWarnings(yield* whole, yield* excluded(childRequest, context.location))
      return cappedByParents(outcome, childRequest.table, yield* statusesOf(childRequest.table))
    })
    return resource.childOf ? rowsOf(resource.table, childRequest.label, judged) : toEnd(childRequest.label, judged)
  }
  /** How the readings of a table ended: in this run, or the last one that read it. */
  const statusesOf = (table: string) =>
    readByTable.has(table)
      ? Effect.sync(() => (resultsByTable.get(table) ?? []).map((result) => statusOf(result)))
      : lastStatuses(context.location, table)

  // The location first: it proves token and location with one request.
  const [first, others] = [steps.filter(isLocation), steps.filter((item) => !isLocation(item))]
  const account = yield* Effect.forEach(first, list)
  // Where nobody answers, or the day is spent, the others would only say so again.
  if (account.flat().some(({ reason }) => reason === "retryLater")) return account.flat()
  // It names the company too, once it is loaded; what is asked for by company waits for that, and nothing else does.
  const withCompany = Effect.gen(function* () {
    if (context.company !== undefined) return
    yield* context.loaded
    context.company = yield* companyOf
  })
  const listed = others.map((item) =>
    asksForCompany(item.resource) ? Effect.andThen(withCompany, list(item)) : list(item)
  )
  const rest = yield* Effect.forEach([...listed, ...steps.map(children)], (effect) => effect, {
    concurrency: "unbounded"
  })
  return [...account, ...rest].flat()
})

/** What is known to be missing because not every row is read under. */
const excluded = Effect.fnUntraced(function* (childRequest: ChildRequest, location: string) {
  const { some, table } = childRequest
  const rows = some ? yield* excludedCount(location, childRequest) : 0
  return rows === 0
    ? []
    : [
        `${rows} ${table} were not read one by one, so these may be missing: ${some!.omits}. To read them, set account.${some!.unless} = true`
      ]
})

const isLocation = ({ resource }: Step) => resource.table === "locations"

type Reads = Effect.Effect<Outcome, ApiError | Failure, Api | Vault | Warehouse>

/** Runs one reading to its end, whatever end that is, and writes the end down. */
const ended = Effect.fnUntraced(function* (
  resource: string,
  reading: Reads,
  context: RunContext,
  outage: Outage
): Effect.fn.Return<ResourceResult, BadCredentials | WrongLocation | Failure, Api | Vault | Warehouse> {
  const [api, vault] = [yield* Api, yield* Vault]
  const before = api.requestsByResource.get(resource) ?? 0
  const incomplete = (shortfall: string, more: Partial<Omit<ResourceResult, "location" | "resource">> = {}) =>
    Effect.succeed<Omit<ResourceResult, "location" | "resource">>({
      mode: "full",
      shortfalls: [shortfall],
      warnings: [],
      requests: (api.requestsByResource.get(resource) ?? 0) - before,
      ...more
    })
  const { reason, resumeAt, ...outcome }: Omit<ResourceResult, "location" | "resource"> = yield* outage
    .during(reading)
    .pipe(
      Effect.catchTags({
        Forbidden: ({ message }) => incomplete(`not readable with this token: ${message}`, { reason: "forbidden" }),
        // Another attempt from the same place would be refused again.
        RequestRejected: ({ message }) => incomplete(message, { finished: true }),
        NotFound: ({ message }) => incomplete(message),
        Unavailable: (error) =>
          Effect.flatMap(outage.isBehind(error, resource), (isDown) =>
            incomplete(error.message, isDown ? { reason: "retryLater" } : {})
          ),
        BudgetExhausted: ({ message, resumeAt }) => incomplete(message, { reason: "retryLater", resumeAt })
      })
    )
  const at = yield* Clock.currentTimeMillis
  yield* vault.append({
    entry: { kind: "end", run: context.run, at, location: context.location, resource, outcome },
    body: ""
  })
  return {
    ...outcome,
    location: context.location,
    resource,
    ...(reason && { reason }),
    ...(resumeAt !== undefined && { resumeAt })
  }
})

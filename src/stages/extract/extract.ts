/**
 * API to vault: reads all resources of a plan concurrently, children after their parents. A resource that cannot be read
 * ends by itself, with its reason; only bad credentials, a wrong location and a full disk end the whole run.
 */
import { Clock, Deferred, Effect, Semaphore } from "effect"
import { Api } from "../api/api.ts"
import { type ApiError, detailOf, Unavailable } from "../api/errors.ts"
import {
  type ListResource,
  type Resource,
  childRequestOf,
  partitionsOf,
  hasCompanyParameter
} from "../../catalog/resource.ts"
import type { Failure } from "../../values/failure.ts"
import type { Detail, Reason } from "../../values/reason.ts"
import type { Step } from "../../values/step.ts"
import type { Outcome } from "../../stores/vault/entry.ts"
import { Vault } from "../../stores/vault/vault.ts"
import { isComplete, statusOf, sentencesOf } from "../../values/status.ts"
import { lastStatuses } from "../../stores/warehouse/meta/run-resources.ts"
import type { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { readWindows } from "./backfill.ts"
import { type Reading, type RunContext, begin, end } from "./run-context.ts"
import { decideMissingRows } from "./deletions.ts"
import { readChildren } from "./children.ts"
import { readFiles } from "./files.ts"
import { read } from "./list.ts"
import { withWarnings, cappedByParents } from "./outcome.ts"
import { readWithTotal, withOwnDifference } from "./totals.ts"
import { bind, get, location } from "../../catalog/request.ts"
import { RunEvents } from "../../values/run-event.ts"

export interface ResourceResult extends Outcome {
  readonly location: string
  readonly resource: string
  /**
   * `retryLater`: the budget is spent or the API is down. `forbidden`: the token may not read the resource. `badToken`: it may
   * not read the location.
   */
  readonly reason?: "retryLater" | "forbidden" | "badToken"
  /** Epoch milliseconds. */
  readonly resumeAt?: number
}

export const extract = Effect.fn("extract")(function* (
  steps: ReadonlyArray<Step>,
  context: RunContext,
  /** Finds the owner of the location, once the location has been read. */
  companyOf: Effect.Effect<string | undefined, Failure, Warehouse>
) {
  const extraction: Extraction = {
    context,
    tables: yield* trackTables(steps),
    outage: yield* watchForOutage(context.location)
  }
  // The location comes first: one request proves that token and location are valid. The list of custom fields says which values
  // are kept out of the vault.
  const isFirst = ({ resource }: Step) =>
    resource.table === "locations" ||
    (resource.table === "custom_fields" && resource.withheld?.customFields !== undefined)
  const [first, others] = [steps.filter(isFirst), steps.filter((item) => !isFirst(item))]
  const account = yield* Effect.forEach(
    first.toSorted((one, other) => Number(isLocation(other)) - Number(isLocation(one))),
    (item) => list(item, extraction)
  )
  // If the API is down or the daily budget is spent, all other resources would fail the same way.
  if (account.flat().some(({ reason }) => reason === "retryLater")) return account.flat()
  // The location names the company once it is loaded. Only the resources requested by company wait for that.
  const withCompany = Effect.gen(function* () {
    if (context.company !== undefined) return
    yield* context.loaded
    context.company = yield* companyOf
  })
  const listed = others.map((item) =>
    hasCompanyParameter(item.resource) ? Effect.andThen(withCompany, list(item, extraction)) : list(item, extraction)
  )
  const children = steps.map((item) => childrenOf(item, extraction))
  const rest = yield* Effect.forEach([...listed, ...children], (effect) => effect, { concurrency: "unbounded" })
  // The records that were read have the links, also those of earlier runs.
  const files = yield* Effect.forEach(steps, ({ refreshCutoff, resource }) =>
    resource.kind === "files"
      ? run(resource.table, readFiles(resource, refreshCutoff !== undefined, context), extraction)
      : Effect.succeed([])
  )
  return [...account, ...rest, ...files].flat()
})

/** What the readings of a run share. */
interface Extraction {
  readonly context: RunContext
  readonly tables: Effect.Success<ReturnType<typeof trackTables>>
  readonly outage: Outage
}

/** Tracks the readings that add rows to each table: its list, and its requests per parent. */
const trackTables = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
  const readByTable = new Map<string, Deferred.Deferred<void>>()
  // A run may leave out the parents of a resource; then it uses the parents that earlier runs have read.
  const nothingToWaitFor = yield* Deferred.make<void>()
  yield* Deferred.succeed(nothingToWaitFor, undefined)
  const unfinished = new Map<string, number>()
  const results = new Map<string, ReadonlyArray<ResourceResult>>()
  for (const { resource, mode } of steps) {
    readByTable.set(resource.table, yield* Deferred.make<void>())
    unfinished.set(
      resource.table,
      Number(mode !== "children") + Number(resource.childOf !== undefined && mode !== "window")
    )
  }
  return {
    /** Done once all readings of the table have ended; at once for a table that the run does not read. */
    read: (table: string) => readByTable.get(table) ?? nothingToWaitFor,
    /** The children of a table can end only after all readings that add rows to it have. */
    adding: <E, R>(table: string, reading: Effect.Effect<ReadonlyArray<ResourceResult>, E, R>) =>
      reading.pipe(
        Effect.tap((found) => Effect.sync(() => results.set(table, [...(results.get(table) ?? []), ...found]))),
        Effect.ensuring(
          Effect.suspend(() => {
            unfinished.set(table, unfinished.get(table)! - 1)
            return unfinished.get(table) === 0 ? Deferred.succeed(readByTable.get(table)!, undefined) : Effect.void
          })
        )
      ),
    /** The statuses of a table's readings, from this run or else from the last run that read it. */
    statusesOf: (table: string, location: string) =>
      readByTable.has(table)
        ? Effect.sync(() => (results.get(table) ?? []).map((result) => statusOf(result)))
        : lastStatuses(location, table)
  }
})

const run = (label: string, reading: Reads, { context, outage }: Extraction) => {
  begin(context.counts, label)
  return reportStart(label, context).pipe(
    Effect.andThen(runToEnd(label, reading, context, outage)),
    Effect.map((result) => [result]),
    Effect.withSpan(`read ${label}`, {
      attributes: { "sluice.location": context.location, "sluice.resource": label }
    }),
    Effect.annotateLogs({ location: context.location, resource: label })
  )
}

const list = ({ resource, embedded, mode, ...reading }: Step, extraction: Extraction) => {
  if (mode === "children" || resource.kind !== "list") return Effect.succeed([])
  const { context, tables } = extraction
  const reads: Reads =
    mode === "window"
      ? readWindows(resource, { ...reading, mode }, context)
      : readWithTotal(resource, { ...reading, mode }, context).pipe(
          Effect.flatMap((read) =>
            Effect.flatMap(withDeletions(read.outcome, resource, reading, embedded, extraction), (outcome) =>
              withOwnDifference({ ...read, outcome }, resource, { ...reading, mode }, context)
            )
          )
        )
  return tables.adding(resource.table, run(resource.table, reads, extraction))
}

/** Decides about the rows missing from a list that was read in full, also those of the tables embedded in its pages. */
const withDeletions = Effect.fnUntraced(function* (
  outcome: Outcome,
  resource: ListResource,
  reading: Omit<Reading, "mode">,
  embedded: ReadonlyArray<Resource>,
  { context, tables }: Extraction
) {
  const isNamed = typeof resource.partitions === "string"
  if (outcome.mode !== "full" || (isNamed && resource.partitionColumn === undefined)) return outcome
  if (!isComplete(outcome)) return withWarnings(outcome, [{ _tag: "DeletionsNotSought" }])
  const { cascadesFrom, childOf } = resource
  // Of a run that reads lists alone: rows of records that no list returns would seem to be missing.
  const isListAlone = !childOf && context.resources.some(({ childOf, table }) => table === resource.table && childOf)
  if (isListAlone) return withWarnings(outcome, [{ _tag: "DeletionsNotSought" }])
  for (const parent of [cascadesFrom, childOf]) if (parent) yield* Deferred.await(tables.read(parent.table))
  // A partition that was removed from the settings, or that the service does not have, leaves its rows as they are.
  const missing = context.missingPartitions.get(resource.table)
  const namedPartitions = isNamed
    ? {
        column: resource.partitionColumn!,
        names: partitionsOf(resource, context.optional).flatMap(([name]) => (missing?.has(name) ? [] : [name]))
      }
    : undefined
  const again = { ...reading, mode: "full" as const, checkpoints: {} }
  const readAgain = Effect.map(read(resource, again, context), isComplete)
  const warnings = yield* decideMissingRows(
    [resource, ...embedded],
    outcome.begunAt!,
    context,
    readAgain,
    namedPartitions
  )
  const isDecided = warnings.every(({ _tag }) => _tag !== "TooManyDeletions" && _tag !== "DeletionsUnconfirmed")
  return { ...withWarnings(outcome, warnings), ...(isDecided && { soughtAt: yield* Clock.currentTimeMillis }) }
})

const childrenOf = ({ resource, mode, childCapabilities, refreshCutoff, parents }: Step, extraction: Extraction) => {
  const { context, tables } = extraction
  const childRequest = childRequestOf(resource)
  // The next sync reads the children that a backfill makes due.
  if (childRequest === undefined || mode === "window") return Effect.succeed([])
  const reading = readChildren(
    resource,
    childRequest,
    { childCapabilities, refreshCutoff, ...(parents && { parents }) },
    tables.read(childRequest.table),
    context
  )
  const withStatuses = Effect.gen(function* () {
    const outcome = yield* reading
    return cappedByParents(outcome, childRequest.table, yield* tables.statusesOf(childRequest.table, context.location))
  })
  const read = run(childRequest.label, withStatuses, extraction)
  return resource.childOf ? tables.adding(resource.table, read) : read
}

const isLocation = ({ resource }: Step) => resource.table === "locations"

type Reads = Effect.Effect<Outcome, ApiError | Failure, Api | Vault | Warehouse>

const failed = (detail: Detail): Reason => ({ _tag: "RequestFailed", detail: detailOf(detail) })

/** Runs one reading, turns its failure into an outcome, and appends the outcome to the vault. */
const runToEnd = Effect.fnUntraced(function* (resource: string, reading: Reads, context: RunContext, outage: Outage) {
  const [api, vault] = [yield* Api, yield* Vault]
  const startedAt = yield* Clock.currentTimeMillis
  const requestsBefore = api.requestsByResource.get(resource) ?? 0
  const incomplete = (shortfall: Reason, more: Partial<Omit<ResourceResult, "location" | "resource">> = {}) =>
    Effect.succeed<Omit<ResourceResult, "location" | "resource">>({
      mode: "full",
      shortfalls: [shortfall],
      warnings: [],
      requests: (api.requestsByResource.get(resource) ?? 0) - requestsBefore,
      ...more
    })
  const { reason, resumeAt, ...outcome }: Omit<ResourceResult, "location" | "resource"> = yield* outage
    .during(reading)
    .pipe(
      Effect.catchTags({
        Forbidden: (error) => incomplete({ _tag: "Forbidden", detail: detailOf(error) }, { reason: "forbidden" }),
        // A retry from the same checkpoint would be rejected again.
        RequestRejected: (error) =>
          incomplete(error.reasons ? { _tag: "NoStrategyWorks", reasons: error.reasons } : failed(error), {
            finished: true
          }),
        NotFound: (error) => incomplete(failed(error)),
        Unavailable: (error) =>
          Effect.flatMap(outage.isCauseOf(error, resource), (isDown) =>
            incomplete(failed(error), isDown ? { reason: "retryLater" } : {})
          ),
        BudgetExhausted: (error) =>
          incomplete(failed(error), {
            reason: "retryLater",
            ...(error.resumeAt !== undefined && { resumeAt: error.resumeAt })
          })
      })
    )
  const at = yield* Clock.currentTimeMillis
  yield* vault.append({
    entry: { kind: "end", run: context.run, at, location: context.location, resource, outcome },
    body: ""
  })
  yield* reportEnd(resource, { ...outcome, ...(reason && { reason }) }, at - startedAt, context)
  return {
    ...outcome,
    location: context.location,
    resource,
    ...(reason && { reason }),
    ...(resumeAt !== undefined && { resumeAt })
  }
})

/** Distinguishes an API that is down, which ends the run, from a single resource that does not respond. */
interface Outage {
  /** Runs a reading and interrupts it if the API is found to be down. */
  readonly during: <A, E, R>(reading: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Unavailable, R>
  /** Whether a resource failed because the whole API is down. */
  readonly isCauseOf: (error: Unavailable, resource: string) => Effect.Effect<boolean, Failure, Api>
}

const watchForOutage = Effect.fnUntraced(function* (id: string): Effect.fn.Return<Outage> {
  const down = yield* Deferred.make<void>()
  const oneProbe = yield* Semaphore.make(1)
  const message = "the API stopped responding"
  /** Sends a simple request to another resource; any response shows that the API is up. */
  const isResponding = Effect.fnUntraced(function* (resource: string) {
    if (yield* Deferred.isDone(down)) return false
    const other =
      resource === "locations" ? get("/workflows/", { locationId: location }) : get("/locations/{locationId}")
    return yield* (yield* Api)
      .send({ request: bind(other, { location: id }), pathTemplate: other.path, priority: 0, resource })
      .pipe(
        Effect.as(true),
        Effect.catch((error) =>
          error._tag === "Failure" ? Effect.fail(error) : Effect.succeed(error._tag !== "Unavailable")
        )
      )
  }, oneProbe.withPermits(1))
  return {
    during: (reading) =>
      Effect.raceFirst(
        reading,
        Effect.andThen(Deferred.await(down), Effect.fail(new Unavailable({ message, later: true })))
      ),
    isCauseOf: Effect.fnUntraced(function* ({ later }, resource) {
      const isDown = later || !(yield* isResponding(resource))
      if (isDown) yield* Deferred.succeed(down, undefined)
      return isDown
    })
  }
})

/** Tells the log, the display and those who watch the run when a reading starts and how it ends. */
const reportStart = Effect.fnUntraced(function* (resource: string, { run, location }: RunContext) {
  const onEvent = yield* RunEvents
  onEvent?.({ event: "resourceStarted", run, location, resource })
})

const reportEnd = Effect.fnUntraced(function* (
  resource: string,
  { reason, ...outcome }: Outcome & { readonly reason?: NonNullable<ResourceResult["reason"]> },
  durationMs: number,
  { counts, run, location }: RunContext
) {
  const status = statusOf(outcome)
  const { pages, records } = end(counts, resource, status)
  const { mode, requests } = outcome
  const onEvent = yield* RunEvents
  onEvent?.({
    event: "resourceFinished",
    run,
    location,
    resource,
    mode,
    status,
    ...(reason && { reason }),
    requests,
    pages,
    records,
    durationMs,
    warnings: sentencesOf(outcome)
  })
  // Most readings of most nights change nothing; those that changed rows are logged once these are loaded.
  const isQuiet = status === "complete" && outcome.warnings.length === 0
  yield* (isQuiet ? Effect.logDebug("resource ended") : Effect.logInfo("resource ended")).pipe(
    Effect.annotateLogs({
      status,
      mode,
      requests,
      pages,
      records,
      warnings: outcome.shortfalls.length + outcome.warnings.length,
      duration_ms: durationMs
    })
  )
})

/**
 * API to vault: reads all resources of a plan concurrently, children after their parents. A resource that cannot be read
 * ends by itself, with its reason; only bad credentials, a wrong location and a full disk end the whole run.
 */
import { Clock, Deferred, Effect, Struct } from "effect"
import { TotalMap, present } from "../../catalog/present.ts"
import { Api } from "../api/api.ts"
import { type ApiError, BadCredentials, RequestRejected, WrongLocation, detailOf } from "../api/errors.ts"
import {
  type ListResource,
  type Resource,
  childRequestOf,
  partitionsOf,
  hasCompanyParameter
} from "../../catalog/resource.ts"
import { stopwatch } from "../../values/stopwatch.ts"
import type { Failure } from "../../values/failure.ts"
import type { Detail, Reason } from "../../values/reason.ts"
import type { Step } from "../../values/step.ts"
import type { Outcome } from "../../stores/vault/entry.ts"
import { Vault } from "../../stores/vault/vault.ts"
import { noCapabilities } from "../../values/capabilities.ts"
import { isComplete, statusOf } from "../../values/status.ts"
import { withObjectKeys } from "../../stores/warehouse/object-keys.ts"
import { lastStatuses } from "../../stores/warehouse/meta/run-resources.ts"
import type { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { readWindows } from "./backfill.ts"
import { type Reading, type RunContext, begin, isOfListedObjects } from "./run-context.ts"
import { decideMissingRows } from "./deletions.ts"
import { readChildren } from "./children.ts"
import { readFiles } from "./files.ts"
import { read } from "./list.ts"
import { withWarnings, cappedByParents } from "./outcome.ts"
import { type Outage, watchForOutage } from "./outage.ts"
import { onTrial, resting } from "./trial.ts"
import { readWithTotal, withOwnDifference } from "./totals.ts"
import { reportEnd, reportStart } from "./report.ts"

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

export interface Extracted {
  /** One for each reading that the steps ask for. */
  readonly ended: ReadonlyArray<ResourceResult>
  /** Why the location cannot be read with this token. */
  readonly refused: BadCredentials | WrongLocation | undefined
}

/** What has not been read when the location is found to be unreadable, or the API to be down, ends with that reason. */
export const extract = Effect.fn("extract")(function* (
  steps: ReadonlyArray<Step>,
  context: RunContext,
  /** Finds the owner of the location, once the location has been read. */
  companyOf: Effect.Effect<string | undefined, Failure, Warehouse>
) {
  const ended: Array<ResourceResult> = []
  const extraction: Extraction = {
    context,
    tables: yield* trackTables(steps),
    outage: yield* watchForOutage(context.location),
    ended
  }
  const { requestsByResource } = yield* Api
  const unread = (shortfalls: Outcome["shortfalls"], why: Pick<ResourceResult, "reason" | "resumeAt">) =>
    Effect.forEach(steps.flatMap(labelsOfStep), (label) =>
      ended.some(({ resource }) => resource === label)
        ? Effect.void
        : store(
            label,
            { mode: "full", shortfalls, warnings: [], requests: requestsByResource.get(label) ?? 0 },
            why,
            extraction
          )
    )
  const refusedBy = (error: BadCredentials | WrongLocation) =>
    Effect.as(unread([{ _tag: "LocationUnreadable", detail: detailOf(error) }], { reason: "badToken" }), error)
  const refused = yield* readAll(steps, extraction, companyOf).pipe(
    Effect.flatMap((down) => (down ? unread(down.shortfalls, Struct.pick(down, ["reason", "resumeAt"])) : Effect.void)),
    Effect.as(undefined),
    Effect.catchTags({ BadCredentials: refusedBy, WrongLocation: refusedBy })
  )
  return { ended, refused } satisfies Extracted
})

/** Returns how the reading of the location ended if nothing else was read after it, because the API is down. */
const readAll = Effect.fnUntraced(function* (
  steps: ReadonlyArray<Step>,
  extraction: Extraction,
  companyOf: Effect.Effect<string | undefined, Failure, Warehouse>
) {
  const { context, ended } = extraction
  // The location comes first: one request proves that token and location are valid. The list of custom fields says which values
  // are kept out of the vault.
  const isFirst = ({ resource }: Step) =>
    ["locations", ...listingObjects].includes(resource.table) ||
    (resource.table === "custom_fields" && resource.withheld?.customFields !== undefined)
  const [first, others] = [steps.filter(isFirst), steps.filter((item) => !isFirst(item))]
  yield* Effect.forEach(
    first.toSorted((one, other) => Number(isLocation(other)) - Number(isLocation(one))),
    (item) => list(item, extraction)
  )
  // If the API is down or the daily budget is spent, all other resources would fail the same way.
  const down = ended.find(({ reason }) => reason === "retryLater")
  if (down) return down
  // The objects are partitions of others.
  if (first.some(({ resource, restsSince }) => resource.table === "objects" && restsSince === undefined)) {
    yield* context.loaded
    context.hasListedObjects = context.optional.object_keys.length === 0
    context.optional = yield* withObjectKeys(context.optional, context.location, context.resources)
  }
  // The location names the company once it is loaded. Only the resources requested by company wait for that.
  const withCompany = Effect.gen(function* () {
    if (context.company !== undefined) return
    yield* context.loaded
    context.company = yield* companyOf
  })
  const listed = others.map((item) =>
    hasCompanyParameter(item.resource)
      ? Effect.andThen(
          withCompany,
          Effect.suspend(() => list(item, extraction))
        )
      : list(item, extraction)
  )
  const children = steps.map((item) => childrenOf(item, extraction))
  yield* Effect.forEach([...listed, ...children], (effect) => effect, { concurrency: "unbounded" })
  // The records that were read have the links, also those of earlier runs.
  yield* Effect.forEach(steps, ({ refreshCutoff, resource }) =>
    resource.kind === "files"
      ? run(resource.table, readFiles(resource, refreshCutoff !== undefined, context), extraction)
      : Effect.succeed([])
  )
  return undefined
})

/** The readings that a step asks for: its list, and its requests for each parent or record. */
const labelsOfStep = ({ resource, mode }: Step): ReadonlyArray<string> => {
  const childRequest = mode === "window" ? undefined : childRequestOf(resource)
  return [
    ...((resource.kind === "list" && mode !== "children") || resource.kind === "files" ? [resource.table] : []),
    ...(childRequest ? [childRequest.label] : [])
  ]
}

/** What the readings of a run share. */
interface Extraction {
  readonly context: RunContext
  readonly tables: Effect.Success<ReturnType<typeof trackTables>>
  readonly outage: Outage
  /** Grows with each reading that ends. */
  readonly ended: Array<ResourceResult>
}

/** Tracks the readings that add rows to each table: its list, and its requests per parent. */
const trackTables = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
  const readByTable = new TotalMap<string, Deferred.Deferred<void>>()
  // A run may leave out the parents of a resource; then it uses the parents that earlier runs have read.
  const nothingToWaitFor = yield* Deferred.make<void>()
  yield* Deferred.succeed(nothingToWaitFor, undefined)
  const unfinished = new TotalMap<string, number>()
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
            unfinished.set(table, unfinished.of(table) - 1)
            return unfinished.of(table) === 0 ? Deferred.succeed(readByTable.of(table), undefined) : Effect.void
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

const run = (label: string, reading: Reads, extraction: Extraction) => {
  const { context } = extraction
  begin(context.counts, label)
  return reportStart(label, context).pipe(
    Effect.andThen(runToEnd(label, reading, extraction)),
    Effect.map((result) => [result]),
    Effect.withSpan(`read ${label}`, {
      attributes: { "sluice.location": context.location, "sluice.resource": label }
    }),
    Effect.annotateLogs({ location: context.location, resource: label })
  )
}

const list = ({ resource, embedded, mode, restsSince, ...reading }: Step, extraction: Extraction) => {
  if (mode === "children" || resource.kind !== "list") return Effect.succeed([])
  const { context, tables } = extraction
  const isNameless = hasCompanyParameter(resource) && context.company === undefined
  const reads: Reads =
    restsSince !== undefined
      ? resting(restsSince, reading.capabilities)
      : isNameless
        ? Effect.fail(new RequestRejected({ status: 0, message: withoutCompany, unsent: true }))
        : mode === "window"
          ? readWindows(resource, { ...reading, mode }, context)
          : readWithTotal(resource, { ...reading, mode }, context).pipe(
              Effect.flatMap((read) =>
                Effect.flatMap(withDeletions(read.outcome, resource, reading, embedded, extraction), (outcome) =>
                  withOwnDifference({ ...read, outcome }, resource, { ...reading, mode }, context)
                )
              )
            )
  // Without all objects, nothing says that all of their records were read.
  const underObjects = isOfListedObjects(resource, context)
    ? Effect.gen(function* () {
        const outcome = yield* reads
        return cappedByParents(outcome, "objects", yield* tables.statusesOf("objects", context.location))
      })
    : reads
  return tables.adding(
    resource.table,
    run(resource.table, onTrial(resource, resource.table, underObjects, context), extraction)
  )
}

/** They say of which objects there are records. */
const listingObjects = ["objects", "businesses"]

const withoutCompany = "the record of the location names no company: set account.company_id (SLUICE_COMPANY_ID)"

/** Decides about the rows missing from a list that was read in full, also those of the tables embedded in its pages. */
const withDeletions = Effect.fnUntraced(function* (
  outcome: Outcome,
  resource: ListResource,
  reading: Omit<Reading, "mode">,
  embedded: ReadonlyArray<Resource>,
  { context, tables }: Extraction
) {
  const { partitionColumn: column, partitions } = resource
  const isNamed = typeof partitions === "string"
  if (outcome.mode !== "full" || (isNamed && column === undefined)) return outcome
  const { cascadesFrom, childOf, isListAlone } = resource
  // Rows of records that no list returns would seem to be missing.
  if (!isComplete(outcome) || isListAlone) return withWarnings(outcome, [{ _tag: "DeletionsNotSought" }])
  for (const parent of [cascadesFrom, childOf]) if (parent) yield* Deferred.await(tables.read(parent.table))
  // A partition that was removed from the settings, or that the service does not have, leaves its rows as they are.
  const missing = context.missingPartitions.get(resource.table)
  const namedPartitions =
    isNamed && column !== undefined
      ? {
          column,
          names: partitionsOf(resource, context.optional).flatMap(([name]) => (missing?.has(name) ? [] : [name]))
        }
      : undefined
  const again = { ...reading, mode: "full" as const, checkpoints: {} }
  const readAgain = Effect.map(read(resource, again, context), isComplete)
  const warnings = yield* decideMissingRows(
    [resource, ...embedded],
    present(outcome.begunAt, "time of the reading"),
    context,
    readAgain,
    namedPartitions
  )
  const isDecided = warnings.every(({ _tag }) => _tag !== "TooManyDeletions" && _tag !== "DeletionsUnconfirmed")
  return { ...withWarnings(outcome, warnings), ...(isDecided && { soughtAt: yield* Clock.currentTimeMillis }) }
})

const childrenOf = (step: Step, extraction: Extraction) => {
  const { resource, mode, childCapabilities, refreshCutoff, parents, restsSince } = step
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
    const outcome =
      restsSince !== undefined && resource.kind === "child"
        ? yield* resting(restsSince, childCapabilities ?? noCapabilities)
        : yield* onTrial(resource, childRequest.label, reading, context)
    return cappedByParents(outcome, childRequest.table, yield* tables.statusesOf(childRequest.table, context.location))
  })
  const read = run(childRequest.label, withStatuses, extraction)
  return resource.childOf ? tables.adding(resource.table, read) : read
}

const isLocation = ({ resource }: Step) => resource.table === "locations"

type Reads = Effect.Effect<Outcome, ApiError | Failure, Api | Vault | Warehouse>

const failed = (detail: Detail): Reason => ({ _tag: "RequestFailed", detail: detailOf(detail) })

/** Runs one reading, turns its failure into an outcome, and appends the outcome to the vault. */
const runToEnd = Effect.fnUntraced(function* (resource: string, reading: Reads, extraction: Extraction) {
  const { context, outage } = extraction
  const api = yield* Api
  const elapsed = yield* stopwatch
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
        Unavailable: (error) =>
          Effect.flatMap(outage.isCauseOf(error, resource), (isDown) =>
            incomplete(failed(error), isDown || error.isBetween ? { reason: "retryLater" } : {})
          ),
        BudgetExhausted: (error) =>
          incomplete(failed(error), {
            reason: "retryLater",
            ...(error.resumeAt !== undefined && { resumeAt: error.resumeAt })
          })
      })
    )
  const result = yield* store(
    resource,
    outcome,
    { ...(reason && { reason }), ...(resumeAt && { resumeAt }) },
    extraction
  )
  yield* reportEnd(resource, { ...outcome, ...(reason && { reason }) }, yield* elapsed, context)
  return result
})

/** Appends how a reading ended to the vault. */
const store = Effect.fnUntraced(function* (
  resource: string,
  outcome: Outcome,
  why: Pick<ResourceResult, "reason" | "resumeAt">,
  { context: { location, run }, ended }: Extraction
) {
  const entry = { kind: "end", run, at: yield* Clock.currentTimeMillis, location, resource, outcome } as const
  yield* (yield* Vault).append({ entry, body: "" })
  const result: ResourceResult = { ...outcome, location, resource, ...why }
  ended.push(result)
  return result
})

/**
 * The stages of a sync or backfill, which may be stopped at any time and run again:
 *
 *     plan      selects what is due, from the state in the warehouse
 *     extract   API -> vault: pages as received, durable before their cursor is used
 *     load      vault -> warehouse: rows and progress in one transaction
 *     publish   warehouse -> files that people open, replaced all at once
 *
 * A bad value is rejected and counted; a bad page stops its resource; bad credentials stop the run.
 */
import { Effect } from "effect"
import { Api } from "../stages/api/api.ts"
import type { Catalogue } from "../catalog/discover.ts"
import type { Window } from "../catalog/timestamps.ts"
import { type SchemaPolicies, isBlocked } from "../catalog/schema-policy.ts"
import { tablesOf } from "../catalog/tables.ts"
import type { Counts } from "../stages/extract/run-context.ts"
import { extract } from "../stages/extract/extract.ts"
import { removeLeftovers } from "../output/leftovers.ts"
import { makeBackgroundLoader } from "../stages/load/background-loader.ts"
import { makeLoader } from "../stages/load/load.ts"
import { makeBackfillPlan } from "../stages/plan/backfill.ts"
import { recordCoverage } from "../stages/plan/coverage.ts"
import type { ExpectedStep } from "../stages/plan/expect.ts"
import { type Choice, makePlan } from "../stages/plan/plan.ts"
import { withPlannedTotals } from "../stages/plan/totals.ts"
import type { explained } from "../console/errors.ts"
import { failing, nightOf, publishing } from "./night.ts"
import { publishNow } from "./release.ts"
import { clockAheadMs, learnTime, settleTime, withRunClock } from "./run-clock.ts"
import { type LikelyRange, sumOf } from "../values/range.ts"
import { RunEvents } from "../values/run-event.ts"
import { statusOf, worstStatus } from "../values/status.ts"
import { missingSegments } from "../stores/vault/segments.ts"
import { Vault } from "../stores/vault/vault.ts"
import { companyOf } from "../stores/warehouse/locations.ts"
import { type RunResource, hasChanges } from "../values/run-resource.ts"
import { resourcesOf, resourcesSinceEnd, setStatuses } from "../stores/warehouse/meta/run-resources.ts"
import { beginRun, eachSync } from "../stores/warehouse/meta/runs.ts"
import { reportSchemaDrift } from "../stores/warehouse/meta/schema-changes.ts"
import { freshnessByLocation } from "../stores/warehouse/meta/watermarks.ts"
import { outputPaths } from "../output/paths.ts"
import type { AccountSettings, OutputSettings } from "../settings/settings.ts"
import type { Target } from "../settings/targets.ts"
import { prepare } from "../stores/warehouse/schema.ts"

/** A location to read, with its own budget and credentials. */
export interface SyncAccount extends Pick<AccountSettings, "location" | "company" | "optional" | "deletionShareMax"> {
  readonly api: Api["Service"]
  /** Updated while pages are received. */
  readonly counts: Counts
}

export interface SyncOptions extends Omit<Choice, "optional"> {
  /** For a backfill: the period to read, instead of what is due. */
  readonly range?: Window | undefined
  readonly catalogue: Catalogue
  readonly accounts: ReadonlyArray<SyncAccount>
  readonly output: OutputSettings
  readonly policies: SchemaPolicies
  /** Further folders to publish into. */
  readonly targets: ReadonlyArray<Target>
  /** The exit code for what stops the readings. */
  readonly codeFor: (error: Parameters<ReturnType<typeof explained>>[0]) => number
  /** Called before the first request. `isFirst`: no run has read a list to its end. */
  readonly onBegin: (isFirst: boolean) => void
  /** Called when the plan is made and readings begin. */
  readonly onPlan: (plan: PlanOfRun) => Effect.Effect<void>
  /** Called when everything is read and loaded. */
  readonly onLoaded?: () => void
}

/** What the run is expected to take, in all and by location. */
export interface PlanOfRun {
  readonly run: string
  readonly requests: LikelyRange
  readonly expectedByLocation: ReadonlyMap<string, ReadonlyArray<ExpectedStep>>
}

/** Locations that are read concurrently. Each has its own rate limit, but they share one load. */
export const locationsMax = 4

export type Synced = Effect.Success<ReturnType<typeof sync>>
export const sync = Effect.fn("sync")(function* (options: SyncOptions) {
  const { accounts, catalogue, output, range } = options
  const paths = outputPaths(output.folder)

  yield* removeLeftovers(output.folder)
  const missing = yield* missingSegments(paths.vault)
  const loader = yield* bringUpToDate(catalogue, output.folder, options.policies)
  const freshness = yield* freshnessByLocation()
  options.onBegin(freshness.size === 0)
  if (!range) yield* learnTime(catalogue, accounts, { ...options, optional: accounts[0]!.optional })
  const plans = yield* plansOf(options, freshness)
  const planned = sumOf(plans.map(({ requests }) => requests))
  const run = yield* beginRun(
    range ? "backfill" : options.each ? eachSync : options.full ? "sync --full" : "sync",
    planned
  )
  const expectedByLocation = new Map(plans.map(({ location, expected }) => [location, expected]))
  const plan = { run: run.id, requests: planned, expectedByLocation }
  yield* Effect.annotateLogs(options.onPlan(plan), { run: run.id })

  const backgroundLoader = yield* makeBackgroundLoader(loader)
  const read = (plan: PlannedAccount) => readLocation(plan, { run: run.id, loader: backgroundLoader, options })
  const requestsNow = () =>
    plans.reduce((all, { api }) => all + api.requestsByResource.values().reduce((n, m) => n + m, 0), 0)
  const readings = Effect.raceFirst(
    Effect.tap(Effect.forEach(plans, read, { concurrency: locationsMax }), () => backgroundLoader.loaded),
    backgroundLoader.run
  ).pipe(Effect.provideService(Vault, loader.storingNews(yield* Vault)))
  const stopping = { codeFor: options.codeFor, requests: requestsNow }
  const extracted = yield* failing(readings, run, stopping)
  const ended = extracted.flatMap((location) => location.ended)
  yield* (yield* Vault).seal
  yield* loader.load
  const loadedMs = yield* run.elapsed

  const requests = requestsNow()
  const drift = yield* reportSchemaDrift(run.id, (table, field) => {
    const resource = catalogue.resources.find((one) => tablesOf(one).some(({ name }) => name === table))
    return resource && isBlocked(options.policies, resource, table, field) ? resource.table : undefined
  })
  yield* setStatuses()
  // Of several locations, the others were read.
  const [only, ...others] = extracted
  if (only?.refused && others.length === 0) return yield* failing(Effect.fail(only.refused), run, stopping)
  const isOfAll = !range && !options.lists && options.only.length + options.except.length === 0
  const found = yield* isOfAll ? resourcesSinceEnd(run.id, catalogue.resources) : resourcesOf(run.id)
  const rows = found.filter((row) => row.run === run.id)
  options.onLoaded?.()
  const onEvent = yield* RunEvents
  onEvent?.({ event: "loaded", run: run.id, resources: rows })
  yield* Effect.forEach(rows.filter(hasChanges), logChanged(run.id), { discard: true })
  // The load may have added reasons to the rows.
  const status = worstStatus([...rows.map(({ status }) => status), ...ended.map((result) => statusOf(result))])
  yield* settleTime(catalogue, accounts)
  const clockMs = clockAheadMs(accounts)
  const release = publishNow(catalogue, output, { run: run.id, targets: options.targets })
  const { night, published } = yield* publishing(
    { ...run, clockAheadMs: clockMs },
    requests,
    nightOf(status, ended, clockMs),
    release
  )
  const elapsedMs = yield* run.elapsed
  return {
    run,
    ended,
    ...night,
    /** Requests sent, retries included. */
    requests,
    rows,
    /** `rows`, and before each of them what syncs did for the same resource that were stopped and that this one continues. */
    rowsWithStopped: found.filter((row) => expectedByLocation.has(row.location)),
    /** Every resource was to be read, and not some only. */
    isOfAll,
    drift,
    /** Whether the vault ends before the position up to which it was loaded. */
    isVaultTruncated: loader.isVaultTruncated,
    /** Numbers of segments that are missing in the vault. */
    missingSegments: missing,
    /** Whether a new release was published (`due`), or why not. */
    published: published.due,
    /** Of the release; absent if there is none. */
    totals: published.totals,
    /** Models that could not be built. The data are complete without them, so they are an alarm and no exit code. */
    modelProblems: published.problems,
    /** Milliseconds from the start of the run, after planning, until all records were loaded, and until its release was published. */
    loadedMs,
    elapsedMs,
    ...(clockMs !== undefined && { clockAheadMs: clockMs })
  }
}, withRunClock)

/** Each account with its plan. Locations that were never read come first, then those that were read longest ago. */
const plansOf = (options: SyncOptions, freshness: ReadonlyMap<string, number>) => {
  const { catalogue, range } = options
  const readAt = ({ location }: SyncAccount) => freshness.get(location) ?? 0
  return Effect.forEach(
    options.accounts.toSorted((one, other) => readAt(one) - readAt(other)),
    (account) => {
      const choice = { ...options, optional: account.optional }
      const plan = range
        ? makeBackfillPlan(catalogue, account.location, choice, range)
        : Effect.flatMap(makePlan(catalogue, account.location, choice), (made) => withPlannedTotals(made, account))
      return Effect.map(plan, (plan) => ({ ...account, ...plan }))
    }
  )
}

type PlannedAccount = Effect.Success<ReturnType<typeof plansOf>>[number]

interface LocationReading {
  readonly run: string
  readonly loader: Effect.Success<ReturnType<typeof makeBackgroundLoader>>
  readonly options: SyncOptions
}

const readLocation = Effect.fnUntraced(function* (
  { api, steps, location, ...account }: PlannedAccount,
  { loader, options, run }: LocationReading
) {
  const { catalogue, output, range } = options
  const context = {
    ...account,
    ...loader,
    location,
    run,
    folder: output.folder,
    files: output.files,
    resources: catalogue.resources,
    cuts: new Set<number>(),
    removed: new Map<string, number>(),
    readInFull: new Set<string>(),
    missingPartitions: new Map(),
    answers: new Map(),
    shapes: new Map()
  }
  const extracted = yield* extract(steps, context, companyOf(location)).pipe(
    Effect.provideService(Api, api),
    Effect.annotateLogs({ run })
  )
  if (!range) yield* recordCoverage(catalogue, { run, location, steps, ended: extracted.ended })
  return extracted
})

const logChanged =
  (run: string) =>
  ({ location, resource, requests, records, newRows, changedRows, deletedRows, rejected }: RunResource) =>
    Effect.annotateLogs(Effect.logInfo("resource changed"), {
      run,
      location,
      resource,
      requests,
      records,
      new: newRows,
      changed: changedRows,
      deleted: deletedRows,
      rejected
    })

/**
 * Adapts the warehouse to the definitions, and loads the pages that an interrupted run left in the vault: the plan uses the
 * state in the warehouse. Returns the loader.
 */
export const bringUpToDate = Effect.fn("bringUpToDate")(function* (
  catalogue: Catalogue,
  folder: string,
  policies: SchemaPolicies
) {
  const paths = outputPaths(folder)
  yield* prepare(catalogue)
  const loader = yield* makeLoader(catalogue.resources, paths.temporary, policies)
  yield* loader.load
  yield* setStatuses()
  return loader
})

/** A sync or backfill: builds the services, and runs it beside a progress display. */
import { Clock, Context, Effect, Fiber, Layer, Schedule } from "effect"
import { Api } from "../stages/api/api.ts"
import type { Catalogue } from "../catalog/discover.ts"
import type { Window } from "../catalog/timestamps.ts"
import { exitCodes } from "../values/failure.ts"
import { counted } from "../values/finding.ts"
import { type ExpectedStep, requestsOf } from "../stages/plan/expect.ts"
import { makePlan } from "../stages/plan/plan.ts"
import type { Flags } from "../settings/read.ts"
import type { AccountSettings, WantedSettings } from "../settings/settings.ts"
import { hashKey } from "../settings/withheld.ts"
import { type PlanOfRun, type Synced, sync } from "./sync-account.ts"
import { middleOf, rangeFields, plannedText } from "../values/range.ts"
import { type OnRunEvent, RunEvents } from "../values/run-event.ts"
import { sluiceVersion } from "../values/version.ts"
import { leftLocations } from "../stores/warehouse/meta/run-resources.ts"
import { completeReadings } from "../stores/warehouse/meta/watermarks.ts"
import { standingRejects } from "../stores/warehouse/meta/standing-rejects.ts"
import { reachedLimits } from "../stores/warehouse/meta/limits.ts"
import { unknownTimeZones } from "../stores/warehouse/time-zones.ts"
import { wideLosses } from "../stores/warehouse/meta/wide-readings.ts"
import { prepare } from "../stores/warehouse/schema.ts"
import { accountSettings, definitionsOf } from "../command/prologue.ts"
import { type ChoiceFlags, readingOf } from "../command/selection.ts"
import { refuseDemoFolder } from "../command/demo-folder.ts"
import { explained } from "../console/errors.ts"
import { liftedText, modelText } from "../console/findings.ts"
import { outputLayer } from "../command/output-layer.ts"
import { locationNames, namesOf } from "../stores/warehouse/locations.ts"
import { Output } from "../console/streams.ts"
import { progress } from "./progress.ts"
import { recentRequests, storeRecentRequests } from "./recent-requests.ts"
import { runAccounts } from "../command/recorded.ts"
import { releases, resultOf } from "./sync-result.ts"
import { reportRunProgress } from "../command/run-progress.ts"
import { noteWithheld } from "../command/withheld.ts"
import { restoredIn } from "../stores/ledger/restored.ts"
import { type Watched, sumsOf } from "./watched.ts"
import { deadlineOf } from "../command/run-flags.ts"
import { namingOf } from "./alarms-now.ts"
import { requestHandoff, yieldToSync, releaseHandoff } from "./backfill-handoff.ts"

export interface SyncFlags extends Flags, ChoiceFlags {
  readonly acceptDeletions?: boolean
  readonly deadline?: string | undefined
}

/** What a backfill reads. */
interface Past {
  readonly range: Window
  /** The command that continues it. */
  readonly typed: string
}

/** Reads what is due, or a range of the past. */
export const syncOnce = Effect.fnUntraced(function* (flags: SyncFlags, past?: Past) {
  const range = past?.range
  const command = range ? "backfill" : "sync"
  const deadline = yield* deadlineOf(flags.deadline, command)
  const choice = yield* readingOf(flags)
  const { output, accounts: settings } = yield* accountSettings(flags)
  yield* refuseDemoFolder(
    output.folder,
    settings.map(({ api }) => api.baseUrl),
    (other) => (range ? `run the same command with --output ${other}` : `./sluice sync --output ${other}`)
  )
  const { catalogue, policies, targets } = yield* definitionsOf(output)
  const key = yield* hashKey(output, catalogue)
  let suppressed = 0
  const work = Effect.gen(function* () {
    const { say } = yield* Output
    const onEvent = yield* RunEvents
    onEvent?.({ event: "started", command, version: sluiceVersion, output: output.folder })
    const { earlier, lifted } = yield* noteWithheld(output.folder, catalogue, key)
    if (lifted.length > 0) say(liftedText(lifted), "warn")
    const restored = yield* restoredIn(output.folder)
    if (restored) say(restored.text, "warn")
    // The estimate of a sync reads the warehouse before the run begins.
    if (range) yield* prepare(catalogue)
    let isNew = false
    const accounts = yield* openAccounts(settings, output.folder, {
      catalogue,
      deadline,
      acceptDeletions: flags.acceptDeletions ?? false,
      reservesForSync: range !== undefined,
      isNew: () => isNew
    })
    const watched: Watched = { accounts, expectedByLocation: new Map() }
    const synced = sync({
      catalogue,
      accounts,
      output,
      policies,
      targets,
      ...choice,
      range,
      codeFor: (error) => exitCodes[explained(settings[0]!)(error).ends],
      onBegin: (isFirst) => (isNew = isFirst),
      onLoaded: () => void (watched.isPublishing = true),
      onPlan: (plan) =>
        Effect.suspend(() => {
          watched.expectedByLocation = plan.expectedByLocation
          return announcePlan(plan, deadline, say)
        })
    })
    const ended = yield* besideWatchers(
      range ? yieldToSync(output.folder, synced) : synced,
      watched,
      `sluice ${command}`,
      output.folder
    )
    const { run, published, modelProblems } = ended
    onEvent?.({
      event: "published",
      run: run.id,
      published: releases[published],
      modelProblems: modelProblems.map(modelText)
    })
    const isPastDeadline = (yield* Clock.currentTimeMillis) >= (deadline ?? Infinity)
    return {
      ...ended,
      ...(yield* standingFacts(catalogue, settings, output.wanted)),
      notDue: yield* notDueOf(ended.ended),
      naming: namingOf(output.wanted),
      suppressed,
      earlier,
      requestsLeft: leastOf(accounts.map(({ api }) => api.usage().dailyRemaining)),
      isStoppedByDeadline: isPastDeadline && ended.exitCode === exitCodes.later
    }
  }).pipe(
    Effect.scoped,
    Effect.provide(outputLayer(output, { catalogue, hashKey: key, onRemoved: (count) => (suppressed += count) })),
    Effect.mapError(explained(settings[0]!)),
    (synced) =>
      runAccounts(command, synced, {
        output,
        catalogue,
        detailOf: (done) => ({ ...recordOf(done), locations: settings.map(({ location }) => location) })
      })
  )
  const synced = yield* range
    ? Effect.ensuring(work, releaseHandoff(output.folder))
    : requestHandoff(output.folder, work)
  const again = `./sluice sync${choice.full ? ` --again ${choice.each ? "all" : "lists"}` : ""}`
  const typed = synced.exitCode === exitCodes.later ? again : "./sluice sync"
  return resultOf(synced, past?.typed ?? typed)
})

interface Opening {
  readonly catalogue: Catalogue
  readonly acceptDeletions: boolean
  /** Epoch milliseconds. */
  readonly deadline: number | undefined
  /** Leave requests of the day to the syncs. */
  readonly reservesForSync: boolean
  /** Whether no list was read to its end yet. */
  readonly isNew: () => boolean
}

/** The accounts with their clients, whose requests the next run knows. */
const openAccounts = Effect.fnUntraced(function* (
  settings: ReadonlyArray<AccountSettings>,
  folder: string,
  { acceptDeletions, catalogue, deadline, isNew, reservesForSync }: Opening
) {
  const recentOf = yield* recentRequests(folder)
  const accounts = yield* Effect.forEach(settings, ({ api, ...account }) =>
    Effect.gen(function* () {
      const { baseUrl } = api
      const { location } = account
      const reserve = reservesForSync ? yield* reserveForSync(catalogue, account) : 0
      const limits = { ...api.limits, syncsPerDay: reserve, deadline, recent: recentOf({ baseUrl, location }) }
      const client = yield* Layer.build(Api.layer({ ...api, isNew, limits, location }))
      return {
        ...account,
        baseUrl,
        counts: new Map(),
        api: Context.get(client, Api),
        ...(acceptDeletions && { deletionShareMax: 1 })
      }
    })
  )
  yield* Effect.addFinalizer(() =>
    storeRecentRequests(
      folder,
      accounts.map(({ baseUrl, location, api }) => ({ baseUrl, location, recent: api.recent }))
    )
  )
  return accounts
})

const announcePlan = Effect.fnUntraced(function* (
  { expectedByLocation, requests, run }: PlanOfRun,
  deadline: number | undefined,
  say: Output["Service"]["say"]
) {
  const onEvent = yield* RunEvents
  onEvent?.({ event: "planned", run, requests, steps: stepsOf(expectedByLocation) })
  const isOpen = requests.max === undefined && requests.likely === undefined
  const rest = isOpen ? " How many more it takes shows when each resource has begun." : ""
  say(`Planned: ${plannedText(requests)}.${rest}`)
  yield* Effect.annotateLogs(Effect.logInfo("plan made"), {
    locations: expectedByLocation.size,
    ...rangeFields("planned", requests),
    deadline: deadline === undefined ? undefined : new Date(deadline).toISOString()
  })
})

/** Runs the work beside those who look at its counts, each at its own interval; it waits for none of them. */
const besideWatchers = Effect.fnUntraced(function* <A, E, R>(
  work: Effect.Effect<A, E, R>,
  watched: Watched,
  name: string,
  folder: string
) {
  const onEvent = yield* RunEvents
  const { say } = yield* Output
  const watchers = [
    progress(watched),
    learnNames(watched),
    reportRunProgress(folder, name, () => sumsOf(watched)),
    ...(onEvent ? [reportEvents(watched, onEvent)] : [])
  ]
  const beside = yield* Effect.forkChild(Effect.all(watchers, { concurrency: "unbounded" }))
  return yield* work.pipe(
    Effect.ensuring(Fiber.interrupt(beside)),
    Effect.onInterrupt(() =>
      Effect.sync(() => {
        const { records, requests } = sumsOf(watched)
        say(`Read until the stop: ${counted(records, "record")} with ${counted(requests, "request")}.`)
      })
    )
  )
})

/** By which the progress calls several locations: a first sync reads them within its first seconds. */
const learnNames = (watched: Watched) => {
  const isUnknown = () => watched.accounts.some(({ location }) => !watched.names?.has(location))
  const learn = Effect.map(locationNames(), (names) => void (watched.names = names))
  const rounds = { schedule: Schedule.spaced(2000), times: 60, while: isUnknown }
  return watched.accounts.length > 1 ? Effect.ignore(Effect.repeat(learn, rounds)) : Effect.void
}

/** What holds of the tables now, whatever this run has done. */
const standingFacts = Effect.fnUntraced(function* (
  { resources }: Catalogue,
  settings: ReadonlyArray<AccountSettings>,
  { named }: WantedSettings
) {
  return {
    left: yield* leftLocations(named),
    losses: yield* wideLosses(),
    limits: yield* reachedLimits(),
    unknownTimeZones: yield* unknownTimeZones(),
    standing: yield* standingRejects(resources),
    names: yield* namesOf(settings.map(({ location }) => location))
  }
})

/** Children and details of which nothing was due, with the end of their last complete reading. */
const notDueOf = Effect.fnUntraced(function* (ended: Synced["ended"]) {
  const completeAt = new Map(
    (yield* completeReadings()).map((one) => [`${one.location} ${one.resource}`, one.completeAt])
  )
  return ended.flatMap(({ location, mode, requests, resource }) => {
    const at = completeAt.get(`${location} ${resource}`)
    return mode === "children" && requests === 0 && at !== undefined ? [{ location, resource, completeAt: at }] : []
  })
})

/** Loaded only if somebody listens. */
const reportEvents = (watched: Watched, onEvent: NonNullable<OnRunEvent>) =>
  Effect.flatMap(
    Effect.promise(() => import("./progress-events.ts")),
    (_) => _.progressEvents(watched, onEvent)
  )

const stepsOf = (expectedByLocation: ReadonlyMap<string, ReadonlyArray<ExpectedStep>>) =>
  [...expectedByLocation].flatMap(([location, expected]) =>
    requestsOf(expected).map(({ label: resource, step: { mode }, requests, records }) => ({
      location,
      resource,
      mode,
      requests,
      ...(records !== undefined && { records })
    }))
  )

const leastOf = (numbers: ReadonlyArray<number | undefined>): number | undefined => {
  const known = numbers.filter((number) => number !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** What the ledger keeps of a run. */
const recordOf = ({ run, status, exitCode, requests, rows }: Synced) => {
  const sum = (count: "newRows" | "changedRows" | "deletedRows") => rows.reduce((total, row) => total + row[count], 0)
  return {
    run: run.id,
    status,
    exitCode,
    requests,
    newRows: sum("newRows"),
    changedRows: sum("changedRows"),
    deletedRows: sum("deletedRows")
  }
}

/** A sync that needs more than this is not a nightly one. */
const reserveForSyncMax = 50_000

/** Requests of the day that a backfill leaves to the syncs: twice what one would take now. */
const reserveForSync = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  { location, optional }: Pick<AccountSettings, "location" | "optional">
) {
  const { requests } = yield* makePlan(catalogue, location, { only: [], except: [], optional, full: false })
  // The upper limit of a wide range would leave nothing for the backfill.
  const likely = middleOf(requests) ?? Math.min(requests.max ?? Infinity, 3 * requests.min)
  return Math.min(2 * likely, reserveForSyncMax)
})

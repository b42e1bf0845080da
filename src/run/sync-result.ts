/** The result of a sync or backfill. */
import { verdictOf } from "../alarms/verdict.ts"
import { remedyOf } from "../alarms/verdict-text.ts"
import { exitCodes } from "../values/failure.ts"
import { addedUp } from "../values/run-resource.ts"
import type { Synced } from "./sync-account.ts"
import { reasonsOf, sentencesOf, statusOf } from "../values/status.ts"
import type { LeftLocation } from "../stores/warehouse/meta/run-resources.ts"
import type { StandingRejects } from "../stores/warehouse/meta/standing-rejects.ts"
import type { ReachedLimit } from "../stores/warehouse/meta/limits.ts"
import type { UnknownTimeZone } from "../stores/warehouse/time-zones.ts"
import type { WideLoss } from "../stores/warehouse/meta/wide-readings.ts"
import { modelText, nextForLeft } from "../console/findings.ts"
import { logEnd } from "../console/log.ts"
import { type CommandResult, instant } from "../console/result.ts"

type Ended = Synced & {
  /** The run ended early because of its `--deadline`. */
  readonly isStoppedByDeadline: boolean
  /** Records of erased people that were received and not stored. */
  readonly suppressed: number
  /** What the settings keep out and was stored before. */
  readonly earlier: ReadonlyArray<string>
  readonly left: ReadonlyArray<LeftLocation>
  readonly losses: ReadonlyArray<WideLoss>
  readonly limits: ReadonlyArray<ReachedLimit>
  readonly unknownTimeZones: ReadonlyArray<UnknownTimeZone>
  readonly standing: ReadonlyArray<StandingRejects>
  readonly notDue: ReadonlyArray<{ readonly location: string; readonly resource: string; readonly completeAt: number }>
  /** The names of the locations. */
  readonly names: Pick<CommandResult<"sync">["data"], "locations">
  /** Requests of the day that are left for the location with the fewest, if the service has reported it. */
  readonly requestsLeft: number | undefined
  readonly naming: Parameters<typeof remedyOf>[1]
}

/** What a person and the log need beside the data. */
export interface SyncResult extends CommandResult<"sync">, Pick<Ended, "status" | "isStoppedByDeadline" | "isOfAll"> {}

/** `command`: the one that continues it. */
export const resultOf = (synced: Ended, command: string): SyncResult => {
  const { earlier, exitCode, isOfAll, isStoppedByDeadline, left, limits, losses, requestsLeft, standing, status } =
    synced
  const rows = synced.rowsWithStopped
  const continued = [...new Set(rows.map(({ run }) => run))].filter((run) => run !== synced.run.id)
  return {
    exitCode,
    status,
    isStoppedByDeadline,
    isOfAll,
    next: nextOf(synced, command),
    data: {
      run: synced.run.id,
      ...synced.names,
      requests: synced.requests,
      ...(requestsLeft !== undefined && { requestsLeft }),
      published: releases[synced.published],
      ...(synced.totals && { totals: synced.totals }),
      modelProblems: synced.modelProblems.map(modelText),
      loadedMs: synced.loadedMs,
      elapsedMs: synced.elapsedMs,
      resources: [...Map.groupBy(rows, ({ location, resource }) => `${location} ${resource}`).values()].map(addedUp),
      ...(continued.length > 0 && { continued }),
      ...(synced.notDue.length > 0 && {
        notDue: synced.notDue.map(({ completeAt, ...one }) => ({ ...one, completeAt: instant(completeAt) }))
      }),
      drift: synced.drift,
      ...(losses.length > 0 && { wideLosses: losses }),
      ...(limits.length > 0 && { limits }),
      ...(synced.unknownTimeZones.length > 0 && { unknownTimeZones: synced.unknownTimeZones }),
      ...(synced.clockAheadMs !== undefined && { clockAheadMs: synced.clockAheadMs }),
      ...(standing.length > 0 && { standingRejects: standing }),
      isVaultTruncated: synced.isVaultTruncated,
      missingSegments: synced.missingSegments,
      suppressedRecords: synced.suppressed,
      ...(earlier.length > 0 && { storedEarlier: earlier }),
      ...(left.length > 0 && { leftLocations: left }),
      ended: synced.ended.map((end) => ({
        location: end.location,
        resource: end.resource,
        mode: end.mode,
        status: statusOf(end),
        ...(end.reason && { reason: end.reason }),
        ...(end.resumeAt !== undefined && { resumeAt: instant(end.resumeAt) }),
        requests: end.requests,
        warnings: sentencesOf(end)
      }))
    }
  }
}

/** The last entry of the log. */
export const logSynced = ({ data, exitCode, status }: SyncResult) =>
  logEnd(exitCode, {
    run: data.run,
    status,
    requests: data.requests,
    records: data.resources.reduce((sum, { records }) => sum + records, 0),
    new: data.resources.reduce((sum, { newRows }) => sum + newRows, 0),
    changed: data.resources.reduce((sum, { changedRows }) => sum + changedRows, 0),
    duration_ms: data.elapsedMs
  })

/** Whether a new release was published, as results say it. */
export const releases = {
  due: "released",
  unchanged: "unchanged",
  "nothing read": "nothingRead",
  "not wanted": "notWanted"
} as const

const nextOf = ({ ended, exitCode, isStoppedByDeadline, left, modelProblems, naming }: Ended, command: string) => {
  if (isStoppedByDeadline) return `${command}; it resumes where it stopped.`
  const resumeAt = ended.find((end) => end.resumeAt !== undefined)?.resumeAt
  if (resumeAt !== undefined)
    return `${command}, after ${instant(resumeAt)}, when the service accepts requests again; it resumes where it stopped.`
  if (exitCode === exitCodes.later) return `${command}, later; it resumes where it stopped.`
  if (exitCode === 0)
    return modelProblems.length > 0 ? "./sluice check" : (nextForLeft(left) ?? "./sluice explore --open")
  // What the service fails to answer, nobody here can correct; a filter that it ignores, it ignores later, too.
  const isUnfiltered =
    /^\S+ backfill\b/.test(command) &&
    ended.some(({ shortfalls }) => shortfalls.some(({ _tag }) => _tag === "NoStrategyWorks"))
  return isUnfiltered
    ? "./sluice sync --again lists: it reads whole what the service does not return by date."
    : remedyOf(causesOf(ended), naming, command)
}

/** Why not all that the run was to read was read, the worst cause first. */
const causesOf = (ended: Ended["ended"]) =>
  verdictOf({
    readings: ended.map((end) => ({ ...end, state: statusOf(end), reasons: reasonsOf(end) })),
    run: undefined,
    targets: [],
    models: []
  }).causes

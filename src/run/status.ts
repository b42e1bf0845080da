/** What is not read completely, how fresh the tables are, and what runs now. Sends no requests. */
import { releasedTotals } from "../output/manifest.ts"
import { outputPaths } from "../output/paths.ts"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { embeddedResourcesOf } from "../catalog/resource.ts"
import { singleReadsText } from "../catalog/optional.ts"
import { exitCodes } from "../values/failure.ts"
import { standingOf } from "../alarms/facts.ts"
import { readFacts, watch } from "../alarms/watch.ts"
import type { Part } from "../output/contents.ts"
import { diskUse } from "../output/disk.ts"
import { headOf, ledgerOf } from "../stores/ledger/file.ts"
import { choose } from "../stages/plan/plan.ts"
import { type ReadingStatus, ageOf, readingStatuses } from "../stages/plan/readings.ts"
import type { Flags } from "../settings/read.ts"
import { reportSettings } from "../settings/settings.ts"
import { leftLocations, pagesOf } from "../stores/warehouse/meta/run-resources.ts"
import { type Run, lastRun } from "../stores/warehouse/meta/runs.ts"
import { presentTime } from "../values/present-time.ts"
import type { TargetState } from "../stores/warehouse/meta/targets.ts"
import { wideLosses } from "../stores/warehouse/meta/wide-readings.ts"
import { Environment } from "../values/environment.ts"
import { isWhole } from "../values/state.ts"
import { catalogueOf } from "../command/prologue.ts"
import { shownAlarms } from "../console/alarm-lines.ts"
import { nothingSynced } from "../console/errors.ts"
import { namesOf } from "../stores/warehouse/locations.ts"
import { Output } from "../console/streams.ts"
import { nextForLeft } from "../console/findings.ts"
import { openReadable } from "../command/readable.ts"
import { type CommandResult, instant } from "../console/result.ts"
import { type ChoiceFlags, choiceOf } from "../command/selection.ts"

export interface StatusFlags extends Flags, ChoiceFlags {
  /** End with an exit code if there is a problem. */
  readonly check?: boolean
  /** Milliseconds after which a reading is a problem. */
  readonly maxAge?: number | undefined
}

export const statusOnce = Effect.fnUntraced(function* (flags: StatusFlags) {
  const { output, optional, locations, namedLocations } = yield* reportSettings(flags, yield* Environment)
  const { catalogue } = yield* catalogueOf(output)
  const chosen = yield* choose(catalogue, { ...(yield* choiceOf(flags)), optional, full: false })
  const resources = chosen.flatMap((one) => [one, ...embeddedResourcesOf(catalogue.resources, one.table)])
  const readable = yield* openReadable(output)
  const now = yield* Clock.currentTimeMillis
  const { run, found, left, losses, names } =
    readable.tables === undefined
      ? { run: undefined, found: [], left: [], losses: [], names: {} }
      : yield* Effect.gen(function* () {
          const last = yield* lastRun()
          return {
            run: last && { ...last, requests: last.requests ?? (yield* pagesOf(last.id, catalogue.resources)) },
            found: yield* readingStatuses(resources, locations),
            left: yield* leftLocations(namedLocations),
            losses: yield* wideLosses(),
            names: yield* namesOf(locations)
          }
        }).pipe(Effect.provide(readable.tables))
  if (!run && !readable.holder) return yield* nothingSynced(output.folder)

  const facts = readable.tables && (yield* Effect.provide(readFacts(output.alarms.limits, catalogue), readable.tables))
  const standing = standingOf(facts).filter((one) => resources.some(({ table }) => table === one.resource))
  const watched = { folder: output.folder, ...output.alarms, isRunning: readable.holder?.isRun === true }
  const { alarms } = yield* watch(watched, facts)
  const isStale = (reading: ReadingStatus) =>
    flags.maxAge !== undefined && (ageOf(reading, presentTime(now, facts?.syncs ?? [])) ?? 0) > flags.maxAge
  const readings = found.map((reading) => readingResult(reading, isStale(reading)))
  const problems = readings.filter(isProblem)
  const oldest = readings
    .filter((reading) => !isProblem(reading))
    .toSorted((one, other) => Date.parse(one.completeAt!) - Date.parse(other.completeAt!))[0]
  // While the first run works, nothing is known to be complete.
  const targets = (facts?.targets ?? []).map(targetResult)
  const limits = facts?.limits ?? []
  const singleReads = catalogue.resources
    .filter(({ singleReads }) => singleReads !== undefined)
    .map((one) => singleReadsText(one))
  const isBehind = targets.some(({ failedSince }) => failedSince !== undefined)
  const isWrong = problems.length > 0 || readings.length === 0 || isBehind
  const exitCode = isWrong && (flags.check || flags.maxAge !== undefined) ? exitCodes.partial : 0
  const next = readable.holder ? "./sluice status" : (nextForLeft(left) ?? "./sluice sync")
  const totals = yield* Effect.promise(() => releasedTotals(outputPaths(output.folder).published))
  const ledger = yield* ledgerHead(output.folder)
  const sizes = new Map((yield* diskUse(output.folder)).map(({ part, bytes }) => [part, bytes]))
  const sizeOf = (part: Part) => sizes.get(part) ?? 0
  const disk = {
    vault: sizeOf("vault"),
    warehouse: sizeOf("warehouse"),
    published: sizeOf("published"),
    files: sizeOf("files")
  }
  const result: CommandResult<"status"> = {
    exitCode,
    next,
    data: {
      source: readable.source,
      ...(readable.holder && { holder: readable.holder }),
      ...(run && { lastRun: runResult(run) }),
      ...names,
      readings,
      problems: problems.length,
      ...(totals && { totals }),
      ...(targets.length > 0 && { targets }),
      ...(left.length > 0 && { leftLocations: left }),
      ...(singleReads.length > 0 && { singleReads }),
      ...(losses.length > 0 && { wideLosses: losses }),
      ...(limits.length > 0 && { limits }),
      ...(standing.length > 0 && { standingRejects: standing }),
      alarms: shownAlarms(alarms),
      ...(ledger && { ledger }),
      disk,
      ...(oldest && {
        oldest: { location: oldest.location, resource: oldest.resource, completeAt: oldest.completeAt! }
      })
    }
  }
  return result
}, Effect.scoped)

/** Whether a reading never ended completely, or is not up to date. */
export const isProblem = ({ completeAt, isStale, state }: CommandResult<"status">["data"]["readings"][number]) =>
  !isWhole(state) || completeAt === undefined || isStale

/** Absent without a ledger, and for one that `ledger verify` rejects. */
const ledgerHead = Effect.fnUntraced(function* (folder: string) {
  const { say } = yield* Output
  const head = yield* Effect.promise(() => headOf(ledgerOf(folder)).catch((cause: Error) => cause))
  if (!(head instanceof Error)) return head.seq === 0 ? undefined : head
  say(`${ledgerOf(folder)}: ${head.message}`, "warn")
  return undefined
})

const runResult = ({ startedAt, finishedAt, exitCode, requests, plannedRequests, ...run }: Run) => ({
  ...run,
  startedAt: instant(startedAt),
  ...(finishedAt !== undefined && { finishedAt: instant(finishedAt) }),
  ...(exitCode !== undefined && { exitCode }),
  ...(requests !== undefined && { requests }),
  ...(plannedRequests !== undefined && { plannedRequests })
})

export const targetResult = ({ name, run, deliveredAt, failedSince, problem }: TargetState) => ({
  name,
  ...(run !== undefined && { run }),
  ...(deliveredAt !== undefined && { deliveredAt: instant(deliveredAt) }),
  ...(failedSince !== undefined && { failedSince: instant(failedSince) }),
  ...(problem !== undefined && { problem })
})

const readingResult = ({ location, resource, state, completeAt, last, soughtAt }: ReadingStatus, isStale: boolean) => ({
  location,
  resource,
  state,
  ...(completeAt !== undefined && { completeAt: instant(completeAt) }),
  isStale,
  ...(soughtAt !== undefined && { deletionsSoughtAt: instant(soughtAt) }),
  ...(last && { run: last.run }),
  requests: last?.requests ?? 0,
  records: last?.records ?? 0,
  newRows: last?.newRows ?? 0,
  changedRows: last?.changedRows ?? 0,
  deletedRows: last?.deletedRows ?? 0,
  rejected: last?.rejected ?? 0,
  rounded: last?.rounded ?? 0,
  warnings: last?.warnings ?? []
})

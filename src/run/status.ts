/** What is not read completely, how fresh the tables are, and what runs now. Sends no requests. */
import { releasedTotals } from "../output/manifest.ts"
import { outputPaths } from "../output/paths.ts"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Struct from "effect/Struct"
import { isOffer, singleReadsText } from "../catalog/optional.ts"
import { exitCodes } from "../values/failure.ts"
import { standingOf } from "../alarms/facts.ts"
import type { Place, Notified } from "../alarms/state.ts"
import { type Reading, ageOf } from "../alarms/reading.ts"
import { labelsOf } from "../alarms/readings.ts"
import { type Verdict, isProblem, verdictOf } from "../alarms/verdict.ts"
import { type Naming, causeText, remedyOf, verdictText } from "../alarms/verdict-text.ts"
import type { Part } from "../output/contents.ts"
import { diskUse } from "../output/disk.ts"
import { headOf, ledgerOf } from "../stores/ledger/file.ts"
import type { Flags } from "../settings/read.ts"
import { outputSettings } from "../settings/settings.ts"
import { placesOf } from "../settings/signals.ts"
import { restoredIn } from "../stores/ledger/restored.ts"
import { leftLocations, pagesOf } from "../stores/warehouse/meta/run-resources.ts"
import { type Run, lastRun } from "../stores/warehouse/meta/runs.ts"
import { presentTime } from "../values/present-time.ts"
import type { TargetState } from "../stores/warehouse/meta/targets.ts"
import { wideLosses } from "../stores/warehouse/meta/wide-readings.ts"
import { Environment } from "../values/environment.ts"
import { duration } from "../values/text.ts"
import { withoutOrphans } from "../stages/plan/plan.ts"
import { factsOf, readResources, runningOf, watchOutput } from "./alarms-now.ts"
import { catalogueOf } from "../command/prologue.ts"
import { shownAlarms } from "../console/alarm-lines.ts"
import { nothingSynced } from "../console/errors.ts"
import { namesOf } from "../stores/warehouse/locations.ts"
import { Output } from "../console/streams.ts"
import { nextForLeft } from "../console/findings.ts"
import { openReadable } from "../command/readable.ts"
import { type CommandResult, instant } from "../console/result.ts"
import { type ChoiceFlags, readingOf } from "../command/selection.ts"

export interface StatusFlags extends Flags, ChoiceFlags {
  /** End with an exit code if there is a problem. */
  readonly check?: boolean
  /** Milliseconds after which a reading is a problem. */
  readonly maxAge?: number | undefined
}

export const statusOnce = Effect.fnUntraced(function* (flags: StatusFlags) {
  const output = yield* outputSettings(flags, yield* Environment)
  const { wanted } = output
  const { catalogue } = yield* catalogueOf(output)
  const choice = yield* readingOf(flags)
  const resources = yield* readResources(catalogue, wanted, choice)
  const readable = yield* openReadable(output)
  const now = yield* Clock.currentTimeMillis
  const { run, left, losses, names, restored } =
    readable.tables === undefined
      ? { run: undefined, left: [], losses: [], names: {}, restored: undefined }
      : yield* Effect.gen(function* () {
          const last = yield* lastRun()
          return {
            run: last && { ...last, requests: last.requests ?? (yield* pagesOf(last.id, catalogue.resources)) },
            left: yield* leftLocations(wanted.named),
            losses: yield* wideLosses(),
            restored: yield* restoredIn(output.folder),
            names: yield* namesOf(wanted.locations)
          }
        }).pipe(Effect.provide(readable.tables))
  if (!run && !readable.holder) return yield* nothingSynced(output.folder)

  const facts = readable.source === "none" ? undefined : yield* factsOf(output, catalogue, readable)
  const standing = standingOf(facts).filter((one) => resources.some(({ table }) => table === one.resource))
  const { alarms, evidence, naming, notified } = yield* watchOutput(output, facts, runningOf(readable))
  const readings = Map.groupBy(facts?.readings ?? [], ({ location }) => location)
    .values()
    .flatMap((all) => {
      const read = new Set(all.filter(({ state }) => state !== "never").map(({ resource }) => resource))
      const wantedHere = withoutOrphans(resources, catalogue, choice, (table) => read.has(table))
      const labels = new Set(wantedHere.flatMap(labelsOf))
      return all.filter(({ resource }) => labels.has(resource))
    })
    .map((reading) => ({
      ...reading,
      isLate: flags.maxAge !== undefined && (ageOf(reading, presentTime(now, facts?.syncs ?? [])) ?? 0) > flags.maxAge
    }))
    .toArray()
  const verdict = verdictOf({ ...evidence, readings })
  const unanswered = placesOf(output.signals).flatMap((place) => unansweredBy(place, notified(place)))
  const targets = (facts?.targets ?? []).map(targetResult)
  const limits = facts?.limits ?? []
  const singleReads = catalogue.resources
    .filter((one) => one.singleReads !== undefined && !isOffer(one))
    .map((one) => singleReadsText(one))
  const isWrong =
    verdict.of === 0 || verdict.complete < verdict.of || verdict.causes.some(({ kind }) => kind === "target")
  const exitCode = isWrong && (flags.check || flags.maxAge !== undefined) ? exitCodes.partial : 0
  const shown = shownVerdict(verdict, naming, now)
  const next = readable.holder
    ? "wait until that has ended; its last line names the next command."
    : verdict.causes.length > 0
      ? remedyOf(verdict.causes, naming)
      : (nextForLeft(left) ?? "./sluice explore --open")
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
      verdict: shown,
      readings: readings.map(readingResult),
      problems: verdict.of - verdict.complete,
      ...(totals && { totals }),
      ...(targets.length > 0 && { targets }),
      ...(left.length > 0 && { leftLocations: left }),
      ...(singleReads.length > 0 && { singleReads }),
      ...(losses.length > 0 && { wideLosses: losses }),
      ...(limits.length > 0 && { limits }),
      ...(restored && { restored: restored.text }),
      ...(standing.length > 0 && { standingRejects: standing }),
      alarms: shownAlarms(alarms),
      ...(unanswered.length > 0 && { unanswered }),
      ...(ledger && { ledger }),
      disk,
      ...(verdict.oldest && {
        oldest: {
          ...Struct.pick(verdict.oldest, ["location", "resource"]),
          completeAt: instant(verdict.oldest.completeAt)
        }
      })
    }
  }
  return result
}, Effect.scoped)

/** As results have it. */
const shownVerdict = (verdict: Verdict, naming: Naming, now: number) => ({
  state: verdict.state,
  level: verdict.tone,
  text: verdictText(verdict, naming, (at) => `${duration(now - at)} ago`),
  causes: verdict.causes.map((cause) => ({
    kind: cause.kind,
    ...("location" in cause && { location: cause.location, resources: cause.resources }),
    text: causeText(cause, naming),
    next: remedyOf([cause], naming)
  })),
  locations: verdict.locations.map(({ oldestAt, ...one }) => ({
    ...one,
    ...(oldestAt !== undefined && { oldestAt: instant(oldestAt) })
  }))
})
const unansweredBy = (place: Place, { refused }: Notified) =>
  refused === undefined ? [] : [{ place, since: instant(refused.since), problem: refused.problem }]

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

export const targetResult = ({ name, run, deliveredAt, failedSince, problem, missing }: TargetState) => ({
  name,
  ...(run !== undefined && { run }),
  ...(deliveredAt !== undefined && { deliveredAt: instant(deliveredAt) }),
  ...(failedSince !== undefined && { failedSince: instant(failedSince) }),
  ...(problem !== undefined && { problem }),
  ...(missing && { missing })
})

const readingResult = ({
  completeAt,
  isLate,
  last,
  location,
  reasons,
  resource,
  soughtAt,
  state
}: Reading & { isLate: boolean }) => ({
  location,
  resource,
  state,
  ...(completeAt !== undefined && { completeAt: instant(completeAt) }),
  isStale: isLate,
  isProblem: isProblem({ completeAt, isLate, location, reasons, resource, state }),
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

/** `sluice status`: what is not read completely, how fresh the tables are, and what runs now. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { exitCodes } from "../values/failure.ts"
import type { Part } from "../output/contents.ts"
import { diskUse } from "../output/disk.ts"
import { headOf, ledgerOf } from "../stores/ledger/file.ts"
import { choose } from "../stages/plan/plan.ts"
import { type ReadingStatus, ageOf, readingStatuses } from "../stages/plan/readings.ts"
import type { Flags } from "../settings/read.ts"
import { schemaPolicies } from "../settings/schema-policy.ts"
import { reportSettings } from "../settings/settings.ts"
import { statusText } from "../values/status.ts"
import { megabytes } from "../values/text.ts"
import { counted } from "../values/finding.ts"
import { readFacts, watch } from "../alarms/watch.ts"
import { leftLocations, pagesOf } from "../stores/warehouse/meta/run-resources.ts"
import { type Run, lastRun } from "../stores/warehouse/meta/runs.ts"
import { alarmLines, shownAlarms } from "../run/console/alarm-lines.ts"
import { loadCatalogue } from "../run/catalogue.ts"
import { Environment } from "../values/environment.ts"
import { nothingSynced } from "../run/console/errors.ts"
import { nextForLeft, sayLeft } from "../run/left-locations.ts"
import { Output, duration, placeOf, table } from "../run/console/output.ts"
import { openReadable, sayHolder } from "../run/readable.ts"
import { instant, printResult } from "../run/result.ts"
import { choiceOf } from "../run/selection.ts"

export interface StatusFlags extends Flags {
  readonly only: string | undefined
  readonly except: string | undefined
  readonly json: boolean
  /** List every reading. */
  readonly all: boolean
  /** End with an exit code if there is a problem. */
  readonly check: boolean
  /** Milliseconds after which a reading is a problem. */
  readonly maxAge: number | undefined
}

export const status = Effect.fn("cli.status")(function* (flags: StatusFlags) {
  const { print, say } = yield* Output
  const { output, optional, locations, namedLocations } = yield* reportSettings(flags, yield* Environment)
  const catalogue = yield* loadCatalogue(output)
  yield* schemaPolicies(output, catalogue)
  const resources = yield* choose(catalogue, { ...(yield* choiceOf(flags)), optional, full: false })
  const readable = yield* openReadable(output)
  const now = yield* Clock.currentTimeMillis
  const { run, readings, facts, left } =
    readable.tables === undefined
      ? { run: undefined, readings: [], facts: undefined, left: [] }
      : yield* Effect.gen(function* () {
          const last = yield* lastRun()
          return {
            run: last && { ...last, requests: last.requests ?? (yield* pagesOf(last.id)) },
            readings: yield* readingStatuses(resources, locations),
            facts: yield* readFacts(output.alarms.limits, catalogue),
            left: yield* leftLocations(namedLocations)
          }
        }).pipe(Effect.provide(readable.tables))
  if (!run && !readable.holder) return yield* nothingSynced(output.folder)

  const isRunning = readable.holder?.isRun === true
  const { alarms } = yield* watch({ folder: output.folder, ...output.alarms, isRunning }, facts)

  const isStale = (reading: ReadingStatus) => flags.maxAge !== undefined && (ageOf(reading, now) ?? 0) > flags.maxAge
  const isProblem = (reading: ReadingStatus) =>
    !reading.state.startsWith("complete") || reading.completeAt === undefined || isStale(reading)
  const problems = readings.filter(isProblem)
  const complete = readings.filter((reading) => !isProblem(reading))
  const oldest = complete.toSorted((one, other) => one.completeAt! - other.completeAt!)[0]
  // While the first run works, nothing is known to be complete.
  const isWrong = problems.length > 0 || readings.length === 0
  const exitCode = isWrong && (flags.check || flags.maxAge !== undefined) ? exitCodes.partial : 0
  const next = readable.holder ? "./sluice status" : (nextForLeft(left) ?? "./sluice sync")
  const ledger = yield* ledgerHead(output.folder)
  const sizes = new Map((yield* diskUse(output.folder)).map(({ part, bytes }) => [part, bytes]))
  const sizeOf = (part: Part) => sizes.get(part) ?? 0
  const disk = {
    vault: sizeOf("vault"),
    warehouse: sizeOf("warehouse"),
    published: sizeOf("published"),
    files: sizeOf("files")
  }
  if (flags.json)
    return yield* printResult("status", {
      exitCode,
      next,
      data: {
        source: readable.source,
        ...(readable.holder && { holder: readable.holder }),
        ...(run && { lastRun: runResult(run) }),
        readings: readings.map((reading) => readingResult(reading, isStale(reading))),
        problems: problems.length,
        ...(left.length > 0 && { leftLocations: left }),
        alarms: shownAlarms(alarms),
        ...(ledger && { ledger }),
        disk,
        ...(oldest && {
          oldest: { location: oldest.location, resource: oldest.resource, completeAt: instant(oldest.completeAt!) }
        })
      }
    })

  const place = placeOf(readings)
  const shown = flags.all ? [...problems, ...complete] : problems
  if (shown.length > 0)
    for (const line of table(
      [...place.head, "resource", "state", "read completely", "why"],
      shown.map((reading) => [
        ...place.of(reading),
        reading.resource,
        isStale(reading) && reading.state.startsWith("complete") ? "stale" : stateTexts[reading.state],
        ago(reading.completeAt, now),
        why(reading)
      ])
    ))
      print(line)
  if (complete.length > 0)
    print(
      `${counted(complete.length, "reading")} complete${oldest ? `; the oldest, ${oldest.resource}, was read ${ago(oldest.completeAt, now)}` : ""}`
    )
  yield* sayLeft(left)
  for (const line of alarmLines(alarms)) print(line)
  yield* sayHolder(readable, now)
  if (run) say(runText(run, now))
  if (ledger) print(`Ledger: ${counted(ledger.seq, "record")}, head ${ledger.sha256.slice(0, 12)}`)
  const used = Object.entries(disk).filter(([, bytes]) => bytes > 0)
  if (used.length > 0) print(`Disk: ${used.map(([part, bytes]) => `${part} ${megabytes(bytes)}`).join(", ")}`)
  say(`Next: ${next}`)
  return exitCode
}, Effect.scoped)

/** Absent without a ledger, and for one that `ledger verify` rejects. */
const ledgerHead = Effect.fnUntraced(function* (folder: string) {
  const { say } = yield* Output
  const head = yield* Effect.promise(() => headOf(ledgerOf(folder)).catch((cause: Error) => cause))
  if (!(head instanceof Error)) return head.seq === 0 ? undefined : head
  say(`${ledgerOf(folder)}: ${head.message}`, "warn")
  return undefined
})

const stateTexts = {
  complete: "complete",
  complete_with_warnings: "complete with warnings",
  incomplete: "incomplete",
  interrupted: "interrupted",
  never: "never read"
} as const

const ago = (time: number | undefined, now: number): string =>
  time === undefined ? "never" : `${duration(now - time)} ago`

/** The first reason; --json has all of them. */
const why = ({ last }: ReadingStatus): string => {
  const [first = "", ...others] = (last?.warnings ?? []).map((warning) => warning.replaceAll(/\s+/g, " "))
  const brief = first.length > 100 ? `${first.slice(0, 99)}…` : first
  return others.length > 0 ? `${brief} (and ${others.length} more)` : brief
}

const runText = (run: Run, now: number): string => {
  const { id, command, status, requests = 0, plannedRequests, startedAt } = run
  const planned = plannedRequests === undefined ? "" : ` (${plannedRequests.toLocaleString("en-US")} planned)`
  const known = status === "interrupted" ? "at least " : ""
  return `Last run ${id}, ${command}, ${ago(startedAt, now)}: ${statusText(status)}, ${known}${counted(requests, "request")}${planned}.`
}

const runResult = ({ startedAt, finishedAt, exitCode, requests, plannedRequests, ...run }: Run) => ({
  ...run,
  startedAt: instant(startedAt),
  ...(finishedAt !== undefined && { finishedAt: instant(finishedAt) }),
  ...(exitCode !== undefined && { exitCode }),
  ...(requests !== undefined && { requests }),
  ...(plannedRequests !== undefined && { plannedRequests })
})

const readingResult = ({ location, resource, state, completeAt, last }: ReadingStatus, isStale: boolean) => ({
  location,
  resource,
  state,
  ...(completeAt !== undefined && { completeAt: instant(completeAt) }),
  isStale,
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

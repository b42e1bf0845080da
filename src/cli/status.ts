/** `sluice status`: prints what is not read completely, how fresh the tables are, and what runs now. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { counted } from "../values/finding.ts"
import { likelyText } from "../values/range.ts"
import { isWhole, stateText } from "../values/state.ts"
import { megabytes } from "../values/text.ts"
import { alarmLines } from "../console/alarm-lines.ts"
import { Output, placeOf, table } from "../console/streams.ts"
import { sayLeft, sayLimits, sayLosses, sayStanding } from "../console/findings.ts"
import { sayHolder } from "../command/readable.ts"
import { type CommandResult, printEither } from "../console/result.ts"
import { type StatusFlags, isProblem, statusOnce } from "../run/status.ts"
import { ago, completeText, targetText, totalsText } from "../run/status-text.ts"

type Result = CommandResult<"status">

interface Shown {
  readonly json: boolean
  /** List every reading. */
  readonly all: boolean
}

export const status = Effect.fn("command.status")(function* ({ all, json, ...flags }: StatusFlags & Shown) {
  const result = yield* statusOnce(flags)
  return yield* printEither("status", result, json, printStatus(result, all))
})

const printStatus = Effect.fnUntraced(function* ({ data }: Result, all: boolean) {
  const { print, printText, say } = yield* Output
  const now = yield* Clock.currentTimeMillis
  const { alarms, disk, lastRun, leftLocations = [], ledger, readings, targets = [] } = data
  const problems = readings.filter(isProblem)
  const complete = readings.filter((reading) => !isProblem(reading))
  const place = placeOf(readings, data.locations)
  const shown = all ? [...problems, ...complete] : problems
  if (shown.length > 0)
    for (const line of table(
      [...place.head, "resource", "state", "read completely", "why"],
      shown.map((reading) => [
        ...place.of(reading),
        reading.resource,
        shownState(reading),
        ago(reading.completeAt, now),
        why(reading)
      ])
    ))
      print(line)
  if (place.isOfSeveral) for (const line of locationLines(data, now)) print(line)
  const completeLine = completeText(data, now)
  if (completeLine !== undefined) print(completeLine, "ok")
  if (data.totals) print(`The last release has ${totalsText(data.totals)}`)
  const sought = readings
    .flatMap(({ deletionsSoughtAt: at, resource }) => (at === undefined ? [] : [{ at, resource }]))
    .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))[0]
  if (sought)
    print(
      `Deleted rows were last looked for in ${sought.resource} ${ago(sought.at, now)}, in the other lists since then`
    )
  for (const target of targets) print(targetText(target, now), target.failedSince === undefined ? "ok" : "error")
  yield* sayLeft(leftLocations)
  for (const text of data.singleReads ?? []) say(`${text}.`)
  yield* sayStanding(data.standingRejects)
  yield* sayLosses(data.wideLosses)
  yield* sayLimits(data.limits)
  for (const line of alarmLines(alarms)) printText(line)
  yield* sayHolder(data, now)
  if (lastRun) say(runText(lastRun, now))
  if (ledger) print(`Ledger: ${counted(ledger.seq, "record")}, head ${ledger.sha256.slice(0, 12)}`)
  const used = Object.entries(disk).filter(([, bytes]) => bytes > 0)
  if (used.length > 0) print(`Disk: ${used.map(([part, bytes]) => `${part} ${megabytes(bytes)}`).join(", ")}`)
})

/** How much of each of several locations is complete, by its name. */
const locationLines = ({ locations, readings }: Result["data"], now: number) => {
  const place = placeOf(readings, locations)
  return table(
    [...place.head, "complete", "of", "the oldest was read"],
    Array.from(Map.groupBy(readings, ({ location }) => location).values(), (own) => {
      const times = own.flatMap(({ completeAt }) => (completeAt === undefined ? [] : [completeAt]))
      const complete = own.filter((reading) => !isProblem(reading)).length
      return [...place.of(own[0]!), complete, own.length, ago(times.toSorted()[0], now)]
    })
  )
}

const shownState = ({ isStale, state }: Result["data"]["readings"][number]): string =>
  isStale && isWhole(state) ? "stale" : stateText(state)

/** The first reason, or what is kept of a reading that was stopped; --json has all reasons. */
const why = ({ records, state, warnings }: Result["data"]["readings"][number]): string => {
  if (state === "interrupted" && warnings.length === 0 && records > 0)
    return `${counted(records, "record")} kept; the next sync reads the rest`
  const [first = "", ...others] = warnings.map((warning) => warning.replaceAll(/\s+/g, " "))
  const brief = first.length > 100 ? `${first.slice(0, 99)}…` : first
  return others.length > 0 ? `${brief} (and ${others.length} more)` : brief
}

const runText = (run: NonNullable<Result["data"]["lastRun"]>, now: number): string => {
  const { id, command, status, requests = 0, planned = { min: 0 }, startedAt } = run
  const range = likelyText({ ...planned, ...(run.plannedRequests !== undefined && { likely: run.plannedRequests }) })
  const known = status === "interrupted" ? "at least " : ""
  return `Last run ${id}, ${command}, ${ago(startedAt, now)}: ${stateText(status)}, ${known}${counted(requests, "request")}${range === undefined ? "" : ` (${range} planned)`}.`
}

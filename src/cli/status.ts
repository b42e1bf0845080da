/** `sluice status`: prints what is not read completely, how fresh the tables are, and what runs now. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { itemAt } from "../catalog/present.ts"
import { counted } from "../values/finding.ts"
import { likelyText } from "../values/range.ts"
import { isWhole, stateText } from "../values/state.ts"
import { byName, megabytes } from "../values/text.ts"
import { alarmLines } from "../console/alarm-lines.ts"
import { Output, placeOf, table } from "../console/streams.ts"
import { sayLeft, sayLimits, sayLosses, sayStanding } from "../console/findings.ts"
import { sayHolder } from "../command/readable.ts"
import { type CommandResult, printEither } from "../console/result.ts"
import { type StatusFlags, statusOnce } from "../run/status.ts"
import { ago, targetText, totalsText, unansweredText } from "../run/status-text.ts"

type Result = CommandResult<"status">

export const status = Effect.fn("command.status")(function* ({
  all,
  json,
  ...flags
}: StatusFlags & { readonly json: boolean; readonly all: boolean }) {
  const result = yield* statusOnce(flags)
  return yield* printEither("status", result, json, printStatus(result, all))
})

export const printStatus = Effect.fnUntraced(function* ({ data }: Result, all: boolean) {
  const { print, printText, say } = yield* Output
  const now = yield* Clock.currentTimeMillis
  const { alarms, disk, lastRun, leftLocations = [], ledger, readings, targets = [], verdict } = data
  const place = placeOf(readings, data.locations)
  for (const line of readingLines(data, all, now)) print(line)
  if (place.isOfSeveral) for (const line of locationLines(data, now)) print(line)
  print(verdict.text, marks[verdict.level])
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
  if (data.restored !== undefined) print(data.restored, "error")
  for (const line of alarmLines(alarms)) printText(line)
  for (const one of data.unanswered ?? []) print(unansweredText(one, now), "warn")
  yield* sayHolder(data, now)
  if (lastRun) say(runText(lastRun, now))
  if (ledger) print(`Ledger: ${counted(ledger.seq, "record")}, head ${ledger.sha256.slice(0, 12)}`)
  const used = Object.entries(disk).filter(([, bytes]) => bytes > 0)
  if (used.length > 0) print(`Disk: ${used.map(([part, bytes]) => `${part} ${megabytes(bytes)}`).join(", ")}`)
})

const marks = { complete: "ok", warning: "warn", problem: "error" } as const

/** So many with one cause are lines of their own. */
const alikeMax = 5

/** What is not there, and with `all` the rest. A location that cannot be read is one line, as is what has one cause. */
const readingLines = ({ locations, readings, verdict }: Result["data"], all: boolean, now: number) => {
  const place = placeOf(readings, locations)
  const unreadable = all ? [] : verdict.causes.filter(({ kind }) => kind === "unreadable")
  const isReported = ({ location, resource }: Reading) =>
    unreadable.some((cause) => cause.location === location && cause.resources?.includes(resource))
  const shown = readings
    .filter((one) => all || (one.isProblem && !isReported(one)))
    .toSorted((one, other) => Number(other.isProblem) - Number(one.isProblem))
  const keyOf = (one: Reading) =>
    JSON.stringify([place.of(one), shownState(one), why(one), one.completeAt === undefined])
  const groups = [...Map.groupBy(shown, keyOf).values()].flatMap((alike) =>
    all || alike.length <= alikeMax ? alike.map((one) => [one]) : [alike]
  )
  const rows = [
    ...unreadable.map(({ location = "", resources = [], text }) => [
      ...place.of({ location }),
      counted(resources.length, "resource"),
      "not read",
      ago(verdict.locations.find((one) => one.location === location)?.oldestAt, now),
      text
    ]),
    ...groups.map((group) => {
      const one = itemAt(
        group.toSorted((a, b) => byName(a.completeAt ?? "", b.completeAt ?? "")),
        0
      )
      const what = group.length === 1 ? one.resource : `${counted(group.length, "resource")} (--all names them)`
      return [...place.of(one), what, shownState(one), ago(one.completeAt, now), why(one)]
    })
  ]
  return rows.length === 0 ? [] : table([...place.head, "resource", "state", "read completely", "why"], rows)
}

/** How much of each of several locations is complete, by its name; the worst first. */
const locationLines = ({ locations, readings, verdict }: Result["data"], now: number) => {
  const place = placeOf(readings, locations)
  return table(
    [...place.head, "complete", "of", "the oldest was read"],
    verdict.locations
      .toSorted(
        (one, other) =>
          one.complete / one.of - other.complete / other.of ||
          byName(place.of(one).join(" "), place.of(other).join(" "))
      )
      .map((one) => [...place.of(one), one.complete, one.of, ago(one.oldestAt, now)])
  )
}

type Reading = Result["data"]["readings"][number]

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

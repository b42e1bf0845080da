/** `sluice sync` and `sluice backfill`. */
import { timeZoneText } from "../stores/warehouse/time-zones.ts"
import { Clock, Effect } from "effect"
import { clockText, duration, some } from "../values/text.ts"
import { exitCodes } from "../values/failure.ts"
import { counted } from "../values/finding.ts"
import { hasChanges } from "../values/run-resource.ts"
import { stateText } from "../values/state.ts"
import { worstStatus } from "../values/status.ts"
import { type BackfillFlags, backfill } from "../run/backfill.ts"
import { sayEarlier, sayLeft, sayLimits, sayLosses, sayStanding, warn } from "../console/findings.ts"
import { Output, placeOf, table } from "../console/streams.ts"
import { totalsText } from "../run/status-text.ts"
import { type SyncResult, logSynced } from "../run/sync-result.ts"
import { printEither } from "../console/result.ts"
import { type SyncFlags, syncOnce } from "../run/sync.ts"

interface Json {
  readonly json: boolean
}

export const syncCommand = Effect.fn("command.sync")(function* (flags: SyncFlags & Json) {
  return yield* ended("sync", yield* syncOnce(flags), flags)
})

export const backfillCommand = Effect.fn("command.backfill")(function* (flags: BackfillFlags & Json) {
  return yield* ended("backfill", yield* backfill(flags), flags)
})

/** Prints the result, and writes the last entry of the log. */
const ended = Effect.fnUntraced(function* (name: "sync" | "backfill", result: SyncResult, { json }: Json) {
  yield* printEither(name, result, json, printSynced(result))
  yield* logSynced(result)
  return result.exitCode
})

/** Prints what a sync or backfill did, for people. */
export const printSynced = Effect.fnUntraced(function* (result: SyncResult) {
  const { print, say, isLogged } = yield* Output
  const { data, exitCode, isStoppedByDeadline } = result
  const { drift, isVaultTruncated, leftLocations = [], missingSegments, published, resources } = data
  const place = placeOf(resources, data.locations)
  const refused = new Set(data.ended.flatMap((end) => (end.reason === "badToken" ? [keyOf(end)] : [])))
  const notDue = new Set(data.notDue?.map(keyOf))
  // Of several locations, the whole list would hide what is wrong.
  const isWhole = (row: Row) =>
    row.status === "complete" && row.rounded === 0 && rejectedText(row, data.standingRejects) === 0
  const isBrief = place.isOfSeveral ? isWhole : isQuiet
  // A location that cannot be read is one sentence.
  const own = resources.filter((row) => !refused.has(keyOf(row)))
  const [quiet, loud] = [own.filter(isBrief), own.filter((row) => !isBrief(row))]
  // Why nothing was requested is said below, once.
  const shown = loud.filter((row) => row.status === "complete" || row.requests + row.records > 0 || hasChanges(row))
  // Whoever writes --quiet wants a result only if something is wrong.
  const isShown = exitCode !== 0 || isLogged("info")
  // Few services send numbers with so many decimals.
  const hasRounded = shown.some(({ rounded }) => rounded > 0)
  const tail = [
    "requests",
    "records",
    "new",
    "changed",
    "deleted",
    "rejected",
    ...(hasRounded ? ["rounded"] : []),
    "status"
  ]
  const tailOf = (row: Counts, rejected: string | number) => [
    row.requests,
    row.records,
    row.newRows,
    row.changedRows,
    row.deletedRows,
    rejected,
    ...(hasRounded ? [row.rounded] : []),
    stateText(row.status)
  ]
  if (isShown && place.isOfSeveral)
    for (const line of table(
      [...place.head, "resources", ...tail],
      sumsByLocation(data).map((sum) => [...place.of(sum), sum.resources, ...tailOf(sum, sum.rejected)])
    ))
      print(line)
  if (isShown && shown.length > 0)
    for (const line of table(
      [...place.head, "resource", ...tail],
      shown.map((row) => [...place.of(row), row.resource, ...tailOf(row, rejectedText(row, data.standingRejects))])
    ))
      print(line)
  if (isShown && shown.length < loud.length)
    print(`${shown.length > 0 ? "and " : ""}${counted(loud.length - shown.length, "resource")} not requested`)
  // A list that was read for changes may have records.
  const empty = quiet.filter(({ mode, records }) => mode === "full" && records === 0).length
  const read = quiet.filter((row) => !notDue.has(keyOf(row)))
  const [oldest] = (data.notDue ?? [])
    .map(({ completeAt }) => Date.parse(completeAt))
    .toSorted((one, other) => one - other)
  if (isShown && quiet.length > 0 && !place.isOfSeveral)
    print(
      `${shown.length > 0 ? "and " : ""}${counted(read.length, "resource")} complete without a change${empty > 0 ? `, ${empty} of them empty` : ""}${
        oldest === undefined
          ? ""
          : `; ${quiet.length - read.length} not due, as of ${duration((yield* Clock.currentTimeMillis) - oldest)} ago`
      }`
    )
  if (data.continued)
    say(
      data.continued.length === 1
        ? `These counts include run ${data.continued[0]}, which was stopped.`
        : `These counts include runs that were stopped: ${some(data.continued)}.`
    )
  const { changes, unexpectedValues } = drift
  if (changes.length > 0) say(`The service sent new fields or types; see meta.schema_changes: ${some(changes)}.`)
  if (unexpectedValues.length > 0) say(`Undocumented enum values, stored unchanged: ${some(unexpectedValues)}.`)
  const warnings = resources.flatMap((end) =>
    end.warnings.map((warning) => ({
      warning,
      from: [...place.withId(end), ...(refused.has(keyOf(end)) && place.isOfSeveral ? [] : [end.resource])].join(" ")
    }))
  )
  // One cause may reach many readings.
  for (const [warning, ends] of Map.groupBy(warnings, (one) => one.warning)) {
    const from = [...new Set(ends.map((one) => one.from))]
    say(`${some(from)}${from.length > 1 ? ", each" : ""}: ${warning}`, "warn")
  }
  yield* sayStanding(data.standingRejects)
  yield* sayLosses(data.wideLosses)
  yield* sayLimits(data.limits)
  if (data.clockAheadMs !== undefined)
    say(
      `Set it, for example with NTP: ${clockText(data.clockAheadMs)}. The times of the run are the service's, from when that was proven.`,
      "warn"
    )
  for (const one of data.unknownTimeZones ?? []) say(timeZoneText(one), "warn")
  const publishing = published === "released" ? `, published in ${duration(data.elapsedMs - data.loadedMs)}` : ""
  say(`${counted(data.requests, "request")}, loaded in ${duration(data.loadedMs)}${publishing}. Run ${data.run}.`)
  if (data.suppressedRecords > 0)
    say(
      `${counted(data.suppressedRecords, "record")} of erased people received and not stored (a retention period erases as well).`
    )
  yield* sayEarlier(data.storedEarlier)
  yield* warn(data.modelProblems)
  if (published === "unchanged") say("Nothing changed; the published files stay as they are.")
  if (published === "nothingRead") say("Nothing was published: no list has been read completely yet.")
  if (isVaultTruncated || missingSegments.length > 0)
    say(
      `Part of the vault is missing${missingSegments.length > 0 ? `, segment ${missingSegments.slice(0, 5).join(", ")}${missingSegments.length > 5 ? " and others" : ""}` : ""}: restore it from a backup. The tables are complete; do not run ./sluice rebuild without it.`,
      "warn"
    )
  yield* sayLeft(leftLocations)
  const mark =
    exitCode === 0 ? (data.standingRejects ? "warn" : "ok") : exitCode === exitCodes.partial ? "warn" : "error"
  if (data.totals && isShown) print(totalText(result, data.totals), mark)
  if (isStoppedByDeadline) say("Stopped at the deadline.", "warn")
})

/** The line that people quote. Nothing is said to be missing or not by a run that read some resources only. */
const totalText = ({ data, isOfAll }: SyncResult, totals: NonNullable<SyncResult["data"]["totals"]>) => {
  const incomplete = data.ended.filter(({ status }) => status === "incomplete").length
  const standing = (data.standingRejects ?? []).reduce((sum, { rejected }) => sum + rejected, 0)
  const missing = [
    ...(incomplete > 0 ? [`${counted(incomplete, "resource")} incomplete`] : []),
    ...(standing > 0 ? [`${counted(standing, "value or record", "values and records")} rejected`] : []),
    ...(isOfAll && incomplete + standing === 0 ? ["0 missing"] : [])
  ]
  return [totalsText(totals), ...missing].join(", ")
}

const keyOf = ({ location, resource }: { readonly location: string; readonly resource: string }) =>
  `${location} ${resource}`

type Row = SyncResult["data"]["resources"][number]
type Counts = Pick<Row, "requests" | "records" | "newRows" | "changedRows" | "deletedRows" | "rounded"> & {
  readonly status: string
}

/** What each location had, and its worst status, in the order of the settings. */
const sumsByLocation = ({ locations = [], resources }: SyncResult["data"]) => {
  const all = new Set([...locations, ...resources].map(({ location }) => location))
  return Array.from(all, (location) => {
    const own = resources.filter((row) => row.location === location)
    const sum = (of: (row: Row) => number) => own.reduce((total, row) => total + of(row), 0)
    return {
      location,
      resources: own.length,
      requests: sum(({ requests }) => requests),
      records: sum(({ records }) => records),
      newRows: sum(({ newRows }) => newRows),
      changedRows: sum(({ changedRows }) => changedRows),
      deletedRows: sum(({ deletedRows }) => deletedRows),
      rejected: sum(({ rejected }) => rejected),
      rounded: sum(({ rounded }) => rounded),
      status: own.length === 0 ? "never" : worstStatus(own.map(({ status }) => status))
    }
  })
}

/** `0 new, 3 standing` if what was rejected before is not mended yet. */
const rejectedText = ({ location, rejected, resource }: Row, all: SyncResult["data"]["standingRejects"] = []) => {
  const standing = all.find((one) => one.location === location && one.resource === resource)
  return standing === undefined ? rejected : `${rejected} new, ${standing.rejected} standing`
}

/** A complete reading without a change or a warning. The first sync prints every table that has rows. */
const isQuiet = (row: Row): boolean => row.status === "complete" && !hasChanges(row)

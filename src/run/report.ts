/** Prints what a sync or backfill did. */
import { Effect } from "effect"
import type { Catalogue } from "../catalog/discover.ts"
import { exitCodes } from "../values/failure.ts"
import type { Synced } from "./sync-account.ts"
import { sentencesOf, statusOf, statusText } from "../values/status.ts"
import { some } from "../values/text.ts"
import { counted } from "../values/finding.ts"
import type { LeftLocation } from "../stores/warehouse/meta/run-resources.ts"
import { nextForLeft, sayLeft } from "./left-locations.ts"
import { sayProblems, sentenceOf } from "./console/model-problems.ts"
import { Output, duration, placeOf, table } from "./console/output.ts"
import { instant, printResult } from "./result.ts"

type Ended = Synced & {
  /** The run ended early because of its `--deadline`. */
  readonly isStoppedByDeadline: boolean
  /** Records of erased people that were received and not stored. */
  readonly suppressed: number
  readonly left: ReadonlyArray<LeftLocation>
  /** Requests of the day that are left for the location with the fewest, if the service has reported it. */
  readonly requestsLeft: number | undefined
  readonly catalogue: Catalogue
}

interface ReportOptions {
  readonly name: "sync" | "backfill"
  readonly json: boolean
  /** The command that continues it; `undefined` if the caller names the next step. */
  readonly command: string | undefined
}

/** Prints the result, and returns its exit code. */
export const report = Effect.fnUntraced(function* (synced: Ended, { name, json, command }: ReportOptions) {
  const { print, say, isLogged } = yield* Output
  const { run, ended, exitCode, requests, rows, drift, published, modelProblems, loadedMs, elapsedMs } = synced
  const { isVaultTruncated, missingSegments } = synced
  const ends = ended.map((end) => ({ ...end, status: statusOf(end), warnings: sentencesOf(end) }))
  const next = command && nextOf(synced, command)
  if (json)
    return yield* printResult(name, {
      exitCode,
      ...(next && { next }),
      data: {
        run: run.id,
        requests,
        ...(synced.requestsLeft !== undefined && { requestsLeft: synced.requestsLeft }),
        published: releases[published],
        modelProblems: modelProblems.map(sentenceOf),
        loadedMs,
        elapsedMs,
        resources: rows,
        drift,
        isVaultTruncated,
        missingSegments,
        suppressedRecords: synced.suppressed,
        ...(synced.left.length > 0 && { leftLocations: synced.left }),
        ended: ends.map(({ location, resource, mode, status, reason, resumeAt, requests, warnings }) => ({
          location,
          resource,
          mode,
          status,
          ...(reason && { reason }),
          ...(resumeAt !== undefined && { resumeAt: instant(resumeAt) }),
          requests,
          warnings
        }))
      }
    })

  const closed = ends.filter((end) => !rows.some((row) => row.location === end.location))
  const place = placeOf([...rows, ...closed])
  const [quiet, shown] = [rows.filter(isQuiet), rows.filter((row) => !isQuiet(row))]
  // With --quiet, a result is of interest only if something is wrong.
  const isShown = exitCode !== 0 || isLogged("info")
  // Few services send numbers with so many decimals.
  const hasRounded = shown.some(({ rounded }) => rounded > 0)
  if (isShown && shown.length > 0)
    for (const line of table(
      [
        ...place.head,
        "resource",
        "requests",
        "records",
        "new",
        "changed",
        "deleted",
        "rejected",
        ...(hasRounded ? ["rounded"] : []),
        "status"
      ],
      shown.map((row) => [
        ...place.of(row),
        row.resource,
        row.requests,
        row.records,
        row.newRows,
        row.changedRows,
        row.deletedRows,
        row.rejected,
        ...(hasRounded ? [row.rounded] : []),
        statusText(row.status)
      ])
    ))
      print(line)
  if (isShown && quiet.length > 0)
    print(`${shown.length > 0 ? "and " : ""}${counted(quiet.length, "resource")} complete without a change`)
  const { changes, unexpectedValues } = drift
  if (changes.length > 0) say(`The service sent new fields or types; see meta.schema_changes: ${some(changes)}.`)
  if (unexpectedValues.length > 0) say(`Undocumented enum values, stored unchanged: ${some(unexpectedValues)}.`)
  for (const end of [...rows, ...closed])
    for (const warning of end.warnings) say([...place.of(end), `${end.resource}: ${warning}`].join(" "), "warn")
  const publishing = published === "due" ? `, published in ${duration(elapsedMs - loadedMs)}` : ""
  say(`${counted(requests, "request")}, loaded in ${duration(loadedMs)}${publishing}. Run ${run.id}.`)
  if (synced.suppressed > 0) say(`${counted(synced.suppressed, "record")} of erased people received and not stored.`)
  yield* sayProblems(modelProblems)
  if (published === "unchanged") say("Nothing changed; the published files stay as they are.")
  if (published === "nothing read") say("Nothing was published: no list has been read completely yet.")
  if (isVaultTruncated || missingSegments.length > 0)
    say(
      `Part of the vault is missing${missingSegments.length > 0 ? `, segment ${missingSegments.slice(0, 5).join(", ")}${missingSegments.length > 5 ? " and others" : ""}` : ""}: restore it from a backup. The tables are complete; do not run ./sluice rebuild without it.`,
      "warn"
    )
  yield* sayLeft(synced.left)
  if (synced.isStoppedByDeadline) say("Stopped at the deadline.", "warn")
  if (next) say(`Next: ${next}`, exitCode === 0 ? "info" : "warn")
  return exitCode
})

/** Whether a new release was published, as results say it. */
export const releases = {
  due: "released",
  unchanged: "unchanged",
  "nothing read": "nothingRead",
  "not wanted": "notWanted"
} as const

/** A complete reading without a change or a warning. The first sync prints every table that has rows. */
const isQuiet = ({ status, newRows, changedRows, deletedRows, rejected }: Synced["rows"][number]): boolean =>
  status === "complete" && newRows + changedRows + deletedRows + rejected === 0

const nextOf = (
  { ended, exitCode, isStoppedByDeadline, catalogue, left, modelProblems }: Ended,
  command: string
): string => {
  if (isStoppedByDeadline) return `${command}; it resumes where it stopped.`
  const resumeAt = ended.find((end) => end.resumeAt !== undefined)?.resumeAt
  if (resumeAt !== undefined)
    return `${command}, after ${instant(resumeAt)}, when the service accepts requests again; it resumes where it stopped.`
  if (exitCode === exitCodes.later) return `${command}, later; it resumes where it stopped.`
  if (exitCode === 0) return modelProblems.length > 0 ? "./sluice check" : (nextForLeft(left) ?? "./sluice status")
  const scopes = scopesOf(
    catalogue,
    ended.filter(({ reason }) => reason === "forbidden").map(({ resource }) => resource)
  )
  const remedy =
    scopes.length > 0 ? `add ${scopes.join(", ")} to the scopes of the token` : "correct what is named above"
  return `${remedy}, then ${command}; it reads only what is missing.`
}

/** The scopes that the readings need. */
export const scopesOf = ({ resources }: Catalogue, labels: ReadonlyArray<string>): ReadonlyArray<string> => {
  const tables = new Set(labels.map((label) => label.split("/")[0]))
  return [...new Set(resources.filter(({ table }) => tables.has(table)).map(({ scope }) => scope))].sort()
}

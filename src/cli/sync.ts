/** `sluice sync`: builds the services, runs the sync beside a progress display, and prints the result. */
import { Clock, Context, Effect, Fiber, Layer } from "effect"
import { Api } from "../api/api.ts"
import { type Catalogue, discover } from "../catalog/discover.ts"
import type { Window } from "../catalog/timestamps.ts"
import { exitCodes } from "../failure.ts"
import { makePlan } from "../plan/plan.ts"
import type { Flags } from "../settings/read.ts"
import { outputPaths } from "../settings/paths.ts"
import { schemaPolicies } from "../settings/schema-policy.ts"
import { type AccountSettings, syncSettings } from "../settings/settings.ts"
import { type Synced, sync } from "../sync.ts"
import { sentencesOf, statusOf, statusText } from "../values/status.ts"
import { beginning } from "../vault/position.ts"
import { Vault } from "../vault/vault.ts"
import { loadedPosition } from "../warehouse/meta/vault-offset.ts"
import { prepare } from "../warehouse/schema.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { choiceOf } from "./selection.ts"
import { Environment } from "./environment.ts"
import { explained } from "./errors.ts"
import { Output, duration, table } from "./output.ts"
import { type Watched, progress } from "./progress.ts"
import { logEnd } from "./log.ts"
import { deadlineOf } from "./run-flags.ts"
import { requestHandoff, yieldToSync, releaseHandoff } from "./backfill-handoff.ts"

export interface SyncFlags extends Flags {
  readonly only: string | undefined
  readonly except: string | undefined
  readonly full: boolean
  readonly acceptDeletions: boolean
  readonly json: boolean
  readonly deadline?: string | undefined
}

export const syncCommand = Effect.fn("cli.sync")(function* (flags: SyncFlags) {
  const synced = yield* syncOnce(flags)
  const resumed = flags.full && synced.exitCode === exitCodes.later ? "./sluice sync --full" : undefined
  const exitCode = yield* report(synced, flags.json, resumed)
  yield* logSynced(synced)
  return exitCode
})

/** The last entry of the log. */
export const logSynced = ({ run, status, exitCode, requests, rows, elapsedMs }: Synced) =>
  logEnd(exitCode, {
    run: run.id,
    status,
    requests,
    records: rows.reduce((sum, { records }) => sum + records, 0),
    new: rows.reduce((sum, { newRows }) => sum + newRows, 0),
    changed: rows.reduce((sum, { changedRows }) => sum + changedRows, 0),
    duration_ms: elapsedMs
  })

/** Reads what is due, or a range of the past. */
export const syncOnce = Effect.fnUntraced(function* (flags: SyncFlags, range?: Window) {
  const deadline = yield* deadlineOf(flags.deadline, range ? "backfill" : "sync")
  const environment = yield* Environment
  const { keepSecret, say } = yield* Output
  const choice = yield* choiceOf(flags)
  const { output, accounts: settings } = yield* syncSettings(flags, environment)
  settings.flatMap(({ secrets }) => secrets).forEach(keepSecret)
  const catalogue = yield* Effect.promise(() => discover())
  const policies = yield* schemaPolicies(output, catalogue)
  // The warehouse's lock comes first: it keeps a second run off the vault as well.
  const layers = Layer.provideMerge(
    Layer.unwrap(
      Effect.map(loadedPosition(), (loaded = beginning) => Vault.layer(outputPaths(output.folder).vault, loaded))
    ),
    Warehouse.layer(outputPaths(output.folder).warehouse, { ...output, access: "write" })
  )
  const work = Effect.gen(function* () {
    // The estimate of a sync reads the warehouse before the run begins.
    if (range) yield* prepare(catalogue)
    const accounts = yield* Effect.forEach(settings, ({ api, ...account }) =>
      Effect.gen(function* () {
        const reserve = range ? yield* reserveForSync(catalogue, account) : 0
        const limits = { ...api.limits, syncsPerDay: reserve, deadline }
        return {
          ...account,
          counts: new Map(),
          api: Context.get(yield* Layer.build(Api.layer({ ...api, limits })), Api),
          ...(flags.acceptDeletions && { deletionShareMax: 1 })
        }
      })
    )
    const watched: Watched = { accounts, planned: undefined }
    const beside = yield* Effect.forkChild(progress(watched))
    const synced = sync({
      catalogue,
      accounts,
      output,
      policies,
      ...choice,
      full: flags.full,
      range,
      onPlan: (requests) =>
        Effect.suspend(() => {
          watched.planned = requests
          if (requests !== undefined) say(`Planned: about ${requests} requests.`)
          return Effect.annotateLogs(Effect.logInfo("plan made"), {
            locations: accounts.length,
            planned_requests: requests,
            deadline: deadline === undefined ? undefined : new Date(deadline).toISOString()
          })
        })
    })
    const ended = yield* (range ? yieldToSync(output.folder, synced) : synced).pipe(
      Effect.ensuring(Fiber.interrupt(beside))
    )
    const isPastDeadline = (yield* Clock.currentTimeMillis) >= (deadline ?? Infinity)
    return { ...ended, isStoppedByDeadline: isPastDeadline && ended.exitCode === exitCodes.later }
  }).pipe(Effect.scoped, Effect.provide(layers), Effect.mapError(explained(settings[0]!.location)))
  return yield* range ? Effect.ensuring(work, releaseHandoff(output.folder)) : requestHandoff(output.folder, work)
})

/** A sync that needs more than this is not a nightly one. */
const reserveForSyncMax = 50_000

/** Requests of the day that a backfill leaves to the syncs: twice what one would take now. */
const reserveForSync = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  { location, optional }: Pick<AccountSettings, "location" | "optional">
) {
  const { requests = 0 } = yield* makePlan(catalogue, location, { only: [], except: [], optional, full: false })
  return Math.min(2 * requests, reserveForSyncMax)
})

/** Where several locations were read, each line says which it is about. */
const placeOf = (rows: ReadonlyArray<{ readonly location: string }>) => {
  const several = new Set(rows.map(({ location }) => location)).size > 1
  return {
    head: several ? ["location"] : [],
    of: ({ location }: { readonly location: string }) => (several ? [location] : [])
  }
}

/** Writes what a run did, and returns its exit code. */
export const report = Effect.fnUntraced(function* (
  {
    run,
    ended,
    exitCode,
    requests,
    rows,
    drift,
    isVaultTruncated,
    missingSegments,
    published,
    loadedMs,
    elapsedMs,
    isStoppedByDeadline
  }: Synced & { readonly isStoppedByDeadline: boolean },
  json: boolean,
  /** The command that continues it. */
  command = "./sluice sync"
) {
  const { print, say, isLogged } = yield* Output
  const ends = ended.map((end) => ({ ...end, status: statusOf(end), warnings: sentencesOf(end) }))
  if (json) {
    print(
      JSON.stringify({
        run: run.id,
        exitCode,
        requests,
        published,
        loadedMs,
        elapsedMs,
        resources: rows,
        drift,
        ended: ends
      })
    )
    return exitCode
  }
  const closed = ends.filter((end) => !rows.some((row) => row.location === end.location))
  const place = placeOf([...rows, ...closed])
  const lines = table(
    [...place.head, "resource", "requests", "records", "new", "changed", "rejected", "status"],
    rows.map((row) => [
      ...place.of(row),
      row.resource,
      row.requests,
      row.records,
      row.newRows,
      row.changedRows,
      row.rejected,
      statusText(row.status)
    ])
  )
  // With --quiet, a result is of interest only if something is wrong.
  if (exitCode !== 0 || isLogged("info")) lines.forEach(print)
  const { changes, unexpectedValues } = drift
  if (changes.length > 0) say(`The service sent new fields or types; see meta.schema_changes: ${some(changes)}.`)
  if (unexpectedValues.length > 0) say(`Undocumented enum values, stored unchanged: ${some(unexpectedValues)}.`)
  for (const end of [...rows, ...closed])
    for (const warning of end.warnings) say([...place.of(end), `${end.resource}: ${warning}`].join(" "), "warn")
  const publishing = published === "due" ? `, published in ${duration(elapsedMs - loadedMs)}` : ""
  say(`${requests} requests, loaded in ${duration(loadedMs)}${publishing}. Run ${run.id}.`)
  if (published === "unchanged") say("Nothing changed; the published files stay as they are.")
  if (published === "nothing read") say("Nothing was published: no list has been read completely yet.")
  if (isVaultTruncated || missingSegments.length > 0)
    say(
      `Part of the vault is missing${missingSegments.length > 0 ? `, segment ${missingSegments.slice(0, 5).join(", ")}${missingSegments.length > 5 ? " and others" : ""}` : ""}: restore it from a backup. The tables are complete; do not run ./sluice rebuild without it.`,
      "warn"
    )
  const resumeAt = ended.find((end) => end.resumeAt !== undefined)?.resumeAt
  if (resumeAt !== undefined)
    say(
      `The service accepts no more requests for now. Next: ${command}, after ${new Date(resumeAt).toISOString()}; it resumes where it stopped.`,
      "warn"
    )
  else if (isStoppedByDeadline) say(`Stopped at the deadline; ${command} resumes.`, "warn")
  else if (exitCode !== 0)
    say(`Next: correct what is named above, then ${command}; it reads only what is missing.`, "warn")
  else say("Next: ./sluice status")
  return exitCode
})

/** The first five on one line, shortened, and how many more there are. */
const some = (changes: ReadonlyArray<string>): string => {
  const brief = changes.slice(0, 5).map((change) => change.replaceAll(/\s+/g, " ").slice(0, 80))
  return `${brief.join(", ")}${changes.length > 5 ? `, and ${changes.length - 5} more` : ""}`
}

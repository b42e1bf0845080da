/**
 * What surrounds the work of a command that changes the output folder. From the inside out: the report beside the release, the
 * record in the ledger, and the signals, which tell whether all of this succeeded.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Catalogue } from "../catalog/discover.ts"
import type { OutputSettings } from "../settings/settings.ts"
import type { Detail, Kind } from "../stores/ledger/record.ts"
import { explanationOf } from "../console/errors.ts"
import { Output } from "../console/streams.ts"
import { type Reported, RunFeatures, type Subject } from "./features.ts"
import { Clock } from "effect"
import { onDisk } from "../output/files.ts"
import { appendRecord, ledgerOf } from "../stores/ledger/file.ts"
import { releaseOf } from "../stores/ledger/release.ts"
import { Environment } from "../values/environment.ts"
import { instant } from "../console/result.ts"

export interface RunOptions<A> {
  readonly output: OutputSettings
  readonly catalogue: Catalogue
  /** What the ledger keeps of successful work. */
  readonly detailOf: (done: A) => Detail
}

/** Runs work that requests nothing from the service. */
export const run = <A, E, R>(
  kind: Kind,
  work: Effect.Effect<A, E, R>,
  { output, catalogue, detailOf }: RunOptions<A>
) => recorded(withReport(work, output, catalogue), output.folder, kind, detailOf)

/** Runs work that reads accounts: it also reports to the places that the settings name. Without any, nothing of it is loaded. */
export const runAccounts = <A extends { readonly exitCode: number }, E, R>(
  kind: "sync" | "backfill",
  work: Effect.Effect<A, E, R>,
  options: RunOptions<A> & { readonly output: Reported }
) => {
  const { catalogue, output } = options
  const surrounded = run(kind, work, options)
  if (!output.signals.isOn) return surrounded
  const subject: Subject = { command: kind, output, catalogue }
  return Effect.flatMap(
    Effect.promise(() => import("./signals.ts")),
    (_) => _.withSignals(subject, surrounded)
  )
}

/**
 * Writes the report into the current release after a command, also after one that failed. Without a release there is no
 * report. An error is a warning, because the tables are right without a report.
 */
const withReport = <A, E, R>(command: Effect.Effect<A, E, R>, output: OutputSettings, catalogue: Catalogue) =>
  Effect.onExit(command, (exit) =>
    Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)
      ? Effect.void
      : Effect.flatMap(RunFeatures, ({ writeReport }) => writeReport(output, catalogue)).pipe(
          // After a command that failed, its own error is the message that matters.
          Effect.catchCause((cause) => (Exit.isFailure(exit) ? Effect.void : warnOf(Cause.squash(cause))))
        )
  )

const warnOf = Effect.fnUntraced(function* (error: unknown) {
  const { redacted, say } = yield* Output
  say(redacted(`The report was not written: ${explanationOf(error)?.message ?? String(error)}`), "warn")
})

/**
 * Records how the work ended. A command that found the output folder in use has done nothing, so it has no record. Fails if
 * the record of successful work cannot be written: the work is saved, and the command can run again.
 */
export const recorded = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  output: string,
  kind: Kind,
  detailOf: (done: A) => Detail
) =>
  work.pipe(
    Effect.onError((cause) => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.ignore(record(output, kind, { status: "stopped" }))
      const ends = explanationOf(Cause.squash(cause))?.ends ?? "internal"
      return ends === "locked" ? Effect.void : Effect.ignore(record(output, kind, { status: "failed", ends }))
    }),
    Effect.tap((done) => record(output, kind, detailOf(done)))
  )

export type Recorded = ReturnType<typeof record>
/** Appends a record with the current release. */
export const record = Effect.fnUntraced(function* (output: string, kind: Kind, detail: Detail) {
  const { say } = yield* Output
  // The console says so, with the session of the browser.
  const { SLUICE_STARTED_BY: startedBy } = yield* Environment
  const path = ledgerOf(output)
  const at = instant(yield* Clock.currentTimeMillis)
  const { torn } = yield* onDisk(path, "written", async () => {
    const release = await releaseOf(output)
    return appendRecord(output, at, kind, {
      ...detail,
      ...(startedBy !== undefined && { startedBy }),
      ...(release && { release: { ...release } })
    })
  }).pipe(Effect.uninterruptible)
  if (torn !== undefined) say(`The last record of ${path} was cut short by a crash; it is moved to ${torn}.`, "warn")
})

/** Writes a record of each command that changes the output folder into its ledger. */
import { Cause, Clock, Effect } from "effect"
import { onDisk } from "../output/files.ts"
import { appendRecord, ledgerOf } from "../stores/ledger/file.ts"
import type { Detail, Kind } from "../stores/ledger/record.ts"
import { releaseOf } from "../stores/ledger/release.ts"
import { explanationOf } from "./console/errors.ts"
import { Output } from "./console/output.ts"
import { instant } from "./result.ts"

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

/** Appends a record with the current release. */
export const record = Effect.fnUntraced(function* (output: string, kind: Kind, detail: Detail) {
  const { say } = yield* Output
  const path = ledgerOf(output)
  const at = instant(yield* Clock.currentTimeMillis)
  const { torn } = yield* onDisk(path, "written", async () => {
    const release = await releaseOf(output)
    return appendRecord(output, at, kind, { ...detail, ...(release && { release: { ...release } }) })
  }).pipe(Effect.uninterruptible)
  if (torn !== undefined) say(`The last record of ${path} was cut short by a crash; it is moved to ${torn}.`, "warn")
})

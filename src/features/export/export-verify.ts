/** `sluice export verify`: checks a bundle, also one of another machine; it needs neither settings nor an output folder. */
import { Effect } from "effect"
import { realpath, stat } from "node:fs/promises"
import { verifyBundle } from "./bundle/verify/verify.ts"
import { type Failure, exitCodes } from "../../values/failure.ts"
import { onDisk } from "../../output/files.ts"
import { counted, levelWords } from "../../values/finding.ts"
import { CommandError, failedError, usageError } from "../../console/errors.ts"
import { findingLine } from "../../console/findings.ts"
import { shown } from "../../console/result.ts"

export const exportVerify = Effect.fn("command.exportVerify")(function* ({
  folder: given
}: {
  readonly folder: string
}) {
  const found = yield* Effect.promise(() => stat(given).catch(() => undefined))
  if (!found?.isDirectory())
    return yield* usageError(
      found ? `${given} is a file, and a bundle is checked as a folder.` : `There is no folder ${given}.`,
      /\.zip$/i.test(given)
        ? `unzip ${given}, then ./sluice export verify with the folder in it.`
        : found
          ? `tar -xf ${given}, then ./sluice export verify with the folder in it.`
          : "./sluice export verify --help"
    )
  const check = yield* Effect.tryPromise({
    try: async (signal) => verifyBundle(await realpath(given), signal),
    catch: (cause) => cause
  }).pipe(
    Effect.catch((cause): Effect.Effect<never, Failure | CommandError> =>
      // An error without a code is none of the system: the bundle is one that this check cannot cope with.
      cause instanceof Error && "code" in cause
        ? onDisk(given, "read", () => Promise.reject(cause))
        : Effect.fail(
            failedError(
              `The check of ${given} failed, so nothing is known of it: ${cause instanceof Error ? cause.message : String(cause)}.`,
              "request the bundle again from whoever sent it."
            )
          )
    )
  )
  const { findings, files, bytes, tables } = check
  const isIntact = findings.length === 0
  const exitCode = isIntact ? 0 : exitCodes.failed
  const next = isIntact
    ? "compare the SHA-256 of its manifest-sha256.txt with the one that you were given."
    : "request the bundle again from whoever sent it, or export it again: ./sluice export bundle."
  const words = levelWords.bundle
  const looked = `${counted(files, "file")}, ${counted(bytes, "byte")}, the control totals of ${counted(tables, "table")}`
  return shown("export-verify", { exitCode, next, data: { folder: given, isIntact, ...check } }, () => [
    ...findings.map((one) => findingLine(words[one.level], one, words)),
    isIntact
      ? `ok: ${looked}`
      : `${counted(findings.length, "finding")}; compared without one: the control totals of ${counted(tables, "table")}`
  ])
})

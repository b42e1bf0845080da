/** `sluice export bundle`: writes tables of the current release as a bag that an auditor can check without sluice. */
import { Clock, Effect } from "effect"
import { basename, resolve } from "node:path"
import { writeBundle } from "../bundle/bundle.ts"
import { isRecipient } from "../bundle/encrypt.ts"
import { BundleError } from "../bundle/errors.ts"
import { signerOf } from "../bundle/sign.ts"
import { currentRelease } from "../bundle/source.ts"
import { targetProblem } from "../bundle/target.ts"
import { discover } from "../catalog/discover.ts"
import type { Flags } from "../settings/read.ts"
import { commaSeparated } from "../settings/kinds.ts"
import { outputSettings } from "../settings/settings.ts"
import { counted } from "../verify/finding.ts"
import { chosenTables } from "./chosen-tables.ts"
import { Environment } from "./environment.ts"
import { CommandError } from "./errors.ts"
import { Output, duration } from "./output.ts"
import { record } from "./recorded.ts"
import { printResult } from "./result.ts"
import { choiceOf } from "./selection.ts"

export interface ExportBundleFlags extends Flags {
  readonly target: string
  readonly only: string | undefined
  readonly except: string | undefined
  /** Replace an existing bundle. */
  readonly force: boolean
  /** `minisign:FILE` or `ssh:FILE`. */
  readonly sign: string | undefined
  /** Recipients of age, separated by commas. */
  readonly encryptTo: string | undefined
  readonly json: boolean
}

export const exportBundle = Effect.fn("cli.exportBundle")(function* (flags: ExportBundleFlags) {
  const { print, say, isLogged } = yield* Output
  const startedAt = yield* Clock.currentTimeMillis
  const output = yield* outputSettings(flags, yield* Environment)
  const target = resolve(flags.target)
  const format = formatOf(target)
  const recipients = commaSeparated(flags.encryptTo ?? "")
  const signer = flags.sign === undefined ? undefined : signerOf(flags.sign, output.folder)
  const wrong = recipients.find((recipient) => !isRecipient(recipient))
  const isAge = /\.age$/i.test(target)
  const problem =
    typeof signer === "string"
      ? `--sign ${flags.sign}: ${signer}`
      : wrong !== undefined
        ? `--encrypt-to ${wrong}: expected a recipient of age, age1 and 58 characters`
        : isAge !== recipients.length > 0 || (isAge && format === "folder")
          ? "an encrypted bundle needs --encrypt-to and a name that ends in .tar.age or .zip.age"
          : yield* Effect.promise(() => targetProblem(target, format === "folder", flags.force))
  if (problem !== undefined)
    return yield* new CommandError({
      ends: "usage",
      message: `${flags.target}: ${problem}.`,
      next: "./sluice export bundle audit-2026-11 (a new folder), or audit-2026-11.tar, or audit-2026-11.zip"
    })
  const catalogue = yield* Effect.promise(() => discover())
  const choice = yield* choiceOf(flags)
  const { run, writtenAt, ...written } = yield* Effect.gen(function* () {
    const release = yield* currentRelease(output.folder)
    const names = release.tables.map(({ name }) => name)
    const only = choice.only.length === 0 ? names : choice.only
    const tables = yield* chosenTables({ tables: names, familyByTable: catalogue.familyByTable }, { ...choice, only })
    const { run, writtenAt } = release
    const written = yield* writeBundle({
      output,
      release,
      catalogue,
      tables,
      target,
      format,
      signer: typeof signer === "string" ? undefined : signer,
      recipients
    })
    // The name only: the folders above it may contain the name of a person.
    const bundle = { bundle: basename(target), run, writtenAt, manifestSha256: written.manifestSha256 }
    yield* record(output.folder, "export", bundle)
    return { run, writtenAt, ...written }
  }).pipe(
    Effect.catchIf(
      (error) => error instanceof BundleError,
      ({ message, next }) => Effect.fail(new CommandError({ ends: "failed", message, next }))
    )
  )
  const next =
    format === "folder"
      ? `./sluice export verify ${flags.target}, or without sluice as in ${flags.target}/data/README.md.`
      : `unpack ${flags.target}, then ./sluice export verify sluice-${run}, or without sluice as in its data/README.md.`
  if (flags.json)
    return yield* printResult("export-bundle", {
      exitCode: 0,
      next,
      data: { path: target, format, run, writtenAt, ...written }
    })
  if (isLogged("info"))
    print(
      `${counted(written.tables, "table")} of the release of ${writtenAt} in ${target}: ${counted(written.files, "file")}, ${counted(written.rows, "row")}, in ${duration((yield* Clock.currentTimeMillis) - startedAt)}`
    )
  say(`Next: ${next}`)
  return 0
})

const formatOf = (target: string) =>
  /\.tar(\.age)?$/i.test(target) ? "tar" : /\.zip(\.age)?$/i.test(target) ? "zip" : "folder"

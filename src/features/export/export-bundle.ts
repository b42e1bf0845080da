/** `sluice export bundle`: writes tables of the current release as a bag that an auditor can check without sluice. */
import { Effect } from "effect"
import { basename, resolve } from "node:path"
import { stopwatch } from "../../values/stopwatch.ts"
import { writeBundle } from "./bundle/bundle.ts"
import { signerOf } from "./bundle/sign.ts"
import { currentRelease } from "./bundle/source.ts"
import { targetProblem } from "./bundle/target.ts"
import type { Flags } from "../../settings/read.ts"
import { outputPaths } from "../../output/paths.ts"
import { outputSettings } from "../../settings/settings.ts"
import type { PublishSettings } from "../../settings/targets.ts"
import { counted } from "../../values/finding.ts"
import { loadCatalogue } from "../../command/catalogue.ts"
import { chosenTables } from "./chosen-tables.ts"
import { Environment } from "../../values/environment.ts"
import { usageError } from "../../console/errors.ts"
import { duration } from "../../values/text.ts"
import { record } from "../../command/recorded.ts"
import { shown } from "../../console/result.ts"
import { choiceOf } from "../../command/selection.ts"

export interface ExportBundleFlags extends Flags {
  readonly target: string
  readonly only: string | undefined
  readonly except: string | undefined
  /** Replace an existing bundle. */
  readonly force: boolean
  /** `minisign:FILE` or `ssh:FILE`. */
  readonly sign: string | undefined
  /** The profile of the release, if it is not that of the output folder. */
  readonly profile: string | undefined
}

export const exportBundle = Effect.fn("command.exportBundle")(function* (flags: ExportBundleFlags) {
  const elapsed = yield* stopwatch
  const output = yield* outputSettings(flags, yield* Environment)
  const target = resolve(flags.target)
  const format = formatOf(target)
  const signer = flags.sign === undefined ? undefined : signerOf(flags.sign, output.folder)
  const problem =
    typeof signer === "string"
      ? `--sign ${flags.sign}: ${signer}`
      : yield* Effect.promise(() => targetProblem(target, format === "folder", flags.force))
  if (problem !== undefined)
    return yield* usageError(
      `${flags.target}: ${problem}.`,
      "./sluice export bundle audit-2026-11 (a new folder), or audit-2026-11.tar, or audit-2026-11.zip"
    )
  const catalogue = yield* loadCatalogue(output)
  const choice = yield* choiceOf(flags)
  const { run, writtenAt, ...written } = yield* Effect.gen(function* () {
    const release = yield* currentRelease(yield* releaseFolder(flags.profile, output))
    const names = release.tables.map(({ name }) => name)
    const only = choice.only.length === 0 ? names : choice.only
    const tables = yield* chosenTables({ tables: names, familyByTable: catalogue.familyByTable }, { ...choice, only })
    const { run, writtenAt } = release
    const written = yield* writeBundle({
      output,
      release,
      // The name only: the folders above it may contain the name of a person.
      record: ({ manifestSha256 }) =>
        record(output.folder, "export", { bundle: basename(target), run, writtenAt, manifestSha256 }),
      catalogue,
      tables,
      target,
      format,
      signer: typeof signer === "string" ? undefined : signer
    })
    return { run, writtenAt, ...written }
  })
  const next =
    format === "folder"
      ? `./sluice export verify ${flags.target}, or without sluice as in ${flags.target}/data/README.md.`
      : `unpack ${flags.target}, then ./sluice export verify sluice-${run}, or without sluice as in its data/README.md.`
  const took = duration(yield* elapsed)
  const data = { path: target, format, run, writtenAt, ...written }
  return shown("export-bundle", { exitCode: 0, next, data }, () => [
    `${counted(written.tables, "table")} of the release of ${writtenAt} in ${target}: ${counted(written.files, "file")}, ${counted(written.rows, "row")}, in ${took}`
  ])
})

/** The link to the release: that of the output folder, or that of the target with this profile. */
const releaseFolder = Effect.fnUntraced(function* (
  profile: string | undefined,
  { folder, publishing }: { readonly folder: string; readonly publishing: PublishSettings }
) {
  if (profile === undefined) return outputPaths(folder).published
  const releases = publishing.targets.filter(({ destination }) => destination.gets !== "rows")
  const found = releases.filter((target) => target.profile === profile)
  if (found.length === 1) return found[0]!.folder
  const known = releases.map((target) => `${target.name} (${target.profile})`).join(", ") || "none"
  return yield* usageError(
    `--profile ${profile}: ${counted(found.length, "[[publish]] folder")} of the settings ${found.length === 1 ? "has" : "have"} this profile; there are: ${known}.`,
    "name the profile of exactly one of them, or add a [[publish]] to the settings"
  )
})

const formatOf = (target: string): "tar" | "zip" | "folder" =>
  /\.tar$/i.test(target) ? "tar" : /\.zip$/i.test(target) ? "zip" : "folder"

/** `sluice verify`: checks that vault, tables and files are complete and agree, and compares a sample with the service. */
import { Clock, Effect } from "effect"
import { Api } from "../../stages/api/api.ts"
import { Failure, exitCodes } from "../../values/failure.ts"
import type { Catalogue } from "../../catalog/discover.ts"
import { type WithholdOptions, withholderOf } from "../../catalog/withhold.ts"
import { columnHash } from "../../settings/masking.ts"
import { hashKey } from "../../settings/withheld.ts"
import { normaliserOf } from "../../stages/load/normalise/normalise.ts"
import { replayInto } from "../../run/replay.ts"
import type { Flags } from "../../settings/read.ts"
import { outputPaths } from "../../output/paths.ts"
import { type OutputSettings, outputSettings } from "../../settings/settings.ts"
import { type Checked, counted, isWrong, levelWords, worstFirst } from "../../values/finding.ts"
import { checkPublished } from "../../destinations/folder/compare.ts"
import { type SampleOptions, type Sampled, checkSample } from "./sample.ts"
import { finished, nextStep, verify, verifyVault } from "./verify.ts"
import { accountSettings, catalogueOf } from "../../command/prologue.ts"
import { Environment } from "../../values/environment.ts"
import { CommandError, explained, usageError } from "../../console/errors.ts"
import { findingLine } from "../../console/findings.ts"
import { Output, table } from "../../console/streams.ts"
import { type Holder, type Readable, openReadable, sayHolder } from "../../command/readable.ts"
import { info, printShown, shown } from "../../console/result.ts"

export interface VerifyFlags extends Flags {
  readonly sample: number | undefined
  /** Every record of the vault, not a sample. */
  readonly all: boolean
  readonly json: boolean
}

/** Findings of one check that are printed; --json has them all. */
const reportMax = 10

export const verifyCommand = Effect.fn("command.verify")(function* (flags: VerifyFlags) {
  if (flags.sample !== undefined && flags.sample < 1)
    return yield* usageError(`--sample ${flags.sample}: must be at least 1.`, "./sluice verify --sample 50")
  const { say } = yield* Output
  // Missing settings of the accounts are reported before the long part.
  const { output, accounts } =
    flags.sample === undefined
      ? { output: yield* outputSettings(flags, yield* Environment), accounts: [] }
      : yield* accountSettings(flags)
  const { catalogue, policies } = yield* catalogueOf(output)
  const progress = (check: string) => Effect.sync(() => say(`Checking ${check} …`))
  const readable = yield* openReadable(output).pipe(
    Effect.catch((failure) =>
      failure.reason._tag === "WarehouseDamaged" ? Effect.succeed(failure) : Effect.fail(failure)
    )
  )
  if (readable instanceof Failure) {
    yield* progress("the vault")
    return report(yield* verifyVault(output.folder, readable))
  }
  if (readable.source !== "warehouse") return yield* verifyRelease(readable, output, flags)

  return yield* Effect.gen(function* () {
    const replay = replayInto(catalogue, output, policies)
    const checked = yield* verify(catalogue, output, { all: flags.all, replay }, progress)
    if (flags.sample === undefined) return report(checked)
    yield* progress(`${flags.sample} rows with the service`)
    const rows = Math.ceil(flags.sample / accounts.length)
    const withheld = { hash: columnHash(yield* hashKey(output, catalogue)), fieldsOf: () => undefined }
    const samples = yield* Effect.forEach(accounts, (account) =>
      checkSample({ catalogue, location: account.location, rows, normaliserOf: stored(catalogue, withheld) }).pipe(
        Effect.map((sampled) => (accounts.length === 1 ? sampled : withLocation(sampled, account.location))),
        Effect.provide(Api.layer(account.api)),
        Effect.mapError(explained(account))
      )
    ).pipe(
      // Report what was found before the error, too.
      Effect.tapError(() => (flags.json ? Effect.void : printShown(report(checked), false)))
    )
    return report([...checked, ...samples.map((sampled) => sampled.checked)], samples)
  }).pipe(Effect.provide(readable.tables))
}, Effect.scoped)

/** Normalises records as those that were stored: without what the settings keep out. */
const stored =
  ({ resources }: Catalogue, options: WithholdOptions): SampleOptions["normaliserOf"] =>
  (resource) => {
    const [withholder, normalise] = [withholderOf(resource, resources, options), normaliserOf(resource)]
    return (record, origin) => normalise(withholder ? withholder(record, origin.location) : record, origin)
  }

/** While another program has the warehouse open, only the last release is checked, and the result says so. */
const verifyRelease = Effect.fnUntraced(function* (
  readable: Exclude<Readable, { readonly source: "warehouse" }>,
  { folder }: Pick<OutputSettings, "folder">,
  flags: VerifyFlags
) {
  const { say } = yield* Output
  if (readable.source === "none") return yield* readable.locked
  yield* sayHolder(readable, yield* Clock.currentTimeMillis)
  if (flags.sample !== undefined || flags.all)
    return yield* new CommandError({
      ends: "locked",
      message: `--${flags.all ? "all" : "sample"} needs the warehouse, which is in use.`,
      next: "./sluice status"
    })
  say("Checking published files …")
  const published = finished("published", "published", checkPublished(outputPaths(folder).published))
  const checked = yield* Effect.provide(published, readable.tables)
  say("Only the published files were checked, not the vault and the warehouse.")
  return report([checked], undefined, readable.holder)
})

/** What was found. */
const report = (checked: ReadonlyArray<Checked>, samples?: ReadonlyArray<Sampled>, holder?: Holder) => {
  const isRight = !checked.some(isWrong)
  const exitCode = isRight ? 0 : exitCodes.failed
  const next = nextStep(checked, [...new Set(samples?.flatMap(({ disagreeing }) => disagreeing))])
  const data = {
    isRight,
    checks: checked,
    ...(samples && { sample: sampleResult(samples) }),
    ...(holder && { holder })
  }
  return shown("verify", { exitCode, next, data }, function* () {
    yield* table(
      ["check", "looked at", "findings"],
      checked.map((one) => [one.check, one.looked, summary(one)])
    )
    const words = levelWords.verify
    for (const { check, findings } of checked) {
      // Notes must not hide what is wrong.
      for (const { level, where, what } of worstFirst(findings).slice(0, reportMax))
        // An example may contain line breaks.
        yield info(
          findingLine(words[level], { where: `${check}: ${where}`, what: what.replaceAll(/\s+/g, " ") }, words)
        )
      if (findings.length > reportMax)
        yield info(`       ${check}: ${findings.length - reportMax} more; --json has them all`)
    }
  })
}

const withLocation = (sampled: Sampled, location: string): Sampled => ({
  ...sampled,
  checked: { ...sampled.checked, check: `sample ${location}` }
})

const sampleResult = (samples: ReadonlyArray<Sampled>) => {
  const sum = (status: keyof Sampled["numbers"]) => samples.reduce((total, { numbers }) => total + numbers[status], 0)
  return {
    agree: sum("agree"),
    differ: sum("differ"),
    changedSince: sum("changed since"),
    deletedSince: sum("deleted since"),
    notReadable: sum("not readable")
  }
}

const summary = ({ findings }: Checked): string => {
  const wrongs = findings.filter(({ level }) => level === "wrong").length
  const notes = findings.length - wrongs
  const parts = [...(wrongs > 0 ? [`${wrongs} wrong`] : []), ...(notes > 0 ? [counted(notes, "note")] : [])]
  return parts.length === 0 ? "ok" : `${wrongs > 0 ? "" : "ok, "}${parts.join(", ")}`
}

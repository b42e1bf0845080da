/** `sluice ledger`: shows the record of every command that changed the output folder, and checks that nobody changed it. */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { readFile, readdir } from "node:fs/promises"
import { join } from "node:path"
import { exitCodes } from "../../values/failure.ts"
import { checksumOf, onDisk } from "../../output/files.ts"
import { ledgerOf } from "../../stores/ledger/file.ts"
import { ledgerProblem } from "../../stores/ledger/guard.ts"
import { type LedgerCheck, checkLedger } from "../../stores/ledger/verify.ts"
import type { Flags } from "../../settings/read.ts"
import { outputPaths } from "../../output/paths.ts"
import { type OutputSettings, outputSettings } from "../../settings/settings.ts"
import { counted } from "../../values/finding.ts"
import { runsNewestFirst } from "../../stores/warehouse/meta/runs.ts"
import { Environment } from "../../values/environment.ts"
import { nothingSynced, usageError } from "../../console/errors.ts"
import { table } from "../../console/streams.ts"
import { openReadable } from "../../command/readable.ts"
import { shown, warning } from "../../console/result.ts"

const readLedger = Effect.fnUntraced(function* (flags: Flags) {
  const output = yield* outputSettings(flags, yield* Environment)
  const path = ledgerOf(output.folder)
  if (!existsSync(path))
    return yield* nothingSynced(output.folder, `There is no ledger in ${output.folder}: the first sync begins it.`)
  return { output, path, check: yield* onDisk(path, "read", () => checkLedger(path)) }
})

export const ledgerShow = Effect.fn("command.ledgerShow")(function* (flags: Flags) {
  const { check } = yield* readLedger(flags)
  const next = "./sluice ledger verify"
  const rows = check.records.map(({ seq, at, kind, detail }) => [
    seq,
    at,
    kind,
    Object.entries(detail)
      .filter(([, value]) => typeof value !== "object")
      .map(([key, value]) => `${key}=${String(value)}`)
      .join(" ")
  ])
  return shown("ledger-show", { exitCode: 0, next, data: { records: check.records } }, function* () {
    yield* table(["record", "at", "kind", "detail"], rows)
    if (check.problem) yield warning(`Line ${check.problem.line} and later lines are not shown: ${check.problem.what}.`)
  })
})

export const ledgerVerify = Effect.fn("command.ledgerVerify")(function* (
  flags: Flags & { readonly bundle: string | undefined }
) {
  const { output, path, check } = yield* readLedger(flags)
  const findings = [
    ...(check.problem ? [`${path} line ${check.problem.line}: ${check.problem.what}`] : []),
    ...(flags.bundle === undefined ? [] : yield* bundleFindings(flags.bundle, check)),
    ...(check.problem ? [] : yield* runFindings(output, check)),
    ...(yield* certificateFindings(output, check))
  ]
  const isIntact = findings.length === 0
  const exitCode = isIntact ? 0 : exitCodes.failed
  const next = isIntact
    ? "./sluice export bundle"
    : "restore the ledger from a backup, and find out who can write the folder."
  const { head } = check
  return shown("ledger-verify", { exitCode, next, data: { isIntact, head, findings } }, () => [
    ...findings.map((finding) => `WRONG  ${finding}`),
    `${isIntact ? "ok: " : ""}${counted(head.seq, "record")} in order${isIntact ? "" : " before the first finding"}, head ${head.sha256}`
  ])
}, Effect.scoped)

/** The ledger continues the one that a bundle had contained. */
const bundleFindings = Effect.fnUntraced(function* (folder: string, { hashes }: LedgerCheck) {
  const info = join(folder, "bag-info.txt")
  const text = yield* onDisk(info, "read", () => readFile(info, "utf8"))
  const [, seq, sha256] = /^Ledger-Head: (\d+) ([0-9a-f]{64})$/m.exec(text) ?? []
  if (seq === undefined)
    return yield* usageError(`${info} does not name the head of a ledger (Ledger-Head).`, "./sluice ledger verify")
  const found = hashes[Number(seq) - 1]
  if (Number(seq) === 0 || found === sha256) return []
  return [
    found === undefined
      ? `${folder}: it has ${seq} records of the ledger, and the ledger has ${hashes.length} that are intact`
      : `${folder}: record ${seq} is another one than in the ledger, so a record up to it was changed`
  ]
})

/** Records that were removed from the beginning or the end cannot be seen in the file, but `meta.runs` knows their runs. */
const runFindings = Effect.fnUntraced(function* (output: OutputSettings, { records }: LedgerCheck) {
  if (!existsSync(outputPaths(output.folder).warehouse)) return []
  const { tables } = yield* openReadable(output)
  if (tables === undefined) return []
  const [problem, runs] = yield* Effect.all([ledgerProblem(output.folder), runsNewestFirst()]).pipe(
    Effect.provide(tables)
  )
  const recorded = new Set(records.map(({ detail }) => detail["run"]))
  const removed = runs
    .filter(({ id, finishedAt }) => finishedAt !== undefined && !recorded.has(id))
    .map(
      ({ id }) => `meta.runs: run ${id} has no record: it was removed, or the process was killed before it wrote one`
    )
  return [...(problem === undefined ? [] : [`${ledgerOf(output.folder)}: ${problem}`]), ...removed]
})

/** Each certificate of an erasure has a record with its checksum, and each such record its certificate. */
const certificateFindings = Effect.fnUntraced(function* ({ folder }: OutputSettings, { records }: LedgerCheck) {
  const certificates = outputPaths(folder).certificates
  const named = new Map(records.flatMap(({ detail }) => certificateOf(detail["certificate"], detail["sha256"])))
  const names = existsSync(certificates) ? yield* onDisk(certificates, "read", () => readdir(certificates)) : []
  const findings = [...named.keys()]
    .filter((name) => !names.includes(name))
    .map((name) => `${join(certificates, name)}: its record is in the ledger, and the file is missing`)
  for (const name of names) {
    const path = join(certificates, name)
    const { sha256 } = yield* onDisk(path, "read", () => checksumOf(path))
    if (named.get(name) !== sha256)
      findings.push(
        `${path}: ${named.has(name) ? "it is not the file that the ledger names" : "it has no record: it was removed, or the process was killed before it wrote one"}`
      )
  }
  return findings
})

const certificateOf = (name: unknown, sha256: unknown): ReadonlyArray<readonly [string, string]> =>
  typeof name === "string" && typeof sha256 === "string" ? [[name, sha256]] : []

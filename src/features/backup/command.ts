/** `sluice backup`: a copy of the output folder from which syncs continue, and the comparison of a copy with its checksums. */
import { Clock, Effect } from "effect"
import { existsSync, realpathSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { firstPartOf, outputFileOf, outputFiles, portableFiles } from "../../output/contents.ts"
import { onDisk, readJson } from "../../output/files.ts"
import { makeOutputFolder, namesIn } from "../../output/folder.ts"
import { outputPaths } from "../../output/paths.ts"
import { isBelow } from "../../output/remove.ts"
import { failedError, nothingSynced, usageError } from "../../console/errors.ts"
import { record } from "../../command/recorded.ts"
import { Output } from "../../console/streams.ts"
import { info, instant, shown } from "../../console/result.ts"
import type { Flags } from "../../settings/read.ts"
import { outputSettings } from "../../settings/settings.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { Environment } from "../../values/environment.ts"
import { exitCodes, failure } from "../../values/failure.ts"
import { counted } from "../../values/finding.ts"
import { megabytes } from "../../values/text.ts"
import { sluiceVersion } from "../../values/version.ts"
import { type Problem, Manifest, copyInto, problemsOf } from "./copy.ts"

export const backup = Effect.fn("command.backup")(function* (
  flags: Flags & { readonly folder: string; readonly tokens: boolean; readonly check: boolean }
) {
  const target = resolve(flags.folder)
  if (flags.check) return yield* checkBackup(target)
  const { folder, memoryMb } = yield* outputSettings(flags, yield* Environment)
  const { warehouse } = outputPaths(folder)
  if (!existsSync(warehouse)) return yield* nothingSynced(folder)
  yield* checkTarget(target, folder)
  const work = Effect.gen(function* () {
    // What a killed run has left in the log becomes a part of the file.
    yield* (yield* Warehouse).run("CHECKPOINT")
    const { files, links } = yield* onDisk(folder, "read", () => portableFiles(folder))
    const link = links.find((path) => outputFileOf(firstPartOf(path)) !== undefined)
    if (link !== undefined) return yield* linked(join(folder, link))
    const isLeftOut = (path: string) => path === outputFiles.tokens.name && !flags.tokens
    const leftOut = [...files.filter(isLeftOut), ...links]
    const at = instant(yield* Clock.currentTimeMillis)
    yield* onDisk(target, "created", () => makeOutputFolder(target))
    const paths = files.filter((path) => !isLeftOut(path))
    // Before the first byte goes there, so that a crash hides no copy; the name only, because the folders above it may
    // contain the name of a person.
    yield* record(folder, "export", { what: "backup", file: basename(target) })
    return yield* copyInto(target, folder, paths, { tool: sluiceVersion, at, leftOut })
  }).pipe(Effect.provide(Warehouse.layer(warehouse, { memoryMb, access: "write", anyFormat: true })))
  return yield* report(target, yield* work, [])
})

/** Another program may open the folder at any time, so it must be new, and neither folder may contain the other. */
const checkTarget = Effect.fnUntraced(function* (target: string, folder: string) {
  const problem = (message: string) => usageError(message, "Name a folder that is empty or does not exist.")
  const [real, realFolder] = [realPath(target), realPath(folder)]
  if (isBelow(real, realFolder) || isBelow(realFolder, real))
    return yield* problem(`${target} and the output folder ${folder} are inside each other.`)
  const names = yield* onDisk(target, "read", () => namesIn(target))
  if (names.includes(outputFiles.backupIncomplete.name))
    return yield* failure({ _tag: "BackupIncomplete", folder: target })
  if (names.length > 0) return yield* problem(`${target} is not empty: it has ${names.slice(0, 3).join(", ")}.`)
})

/** The folder may not exist yet. */
const realPath = (path: string): string => {
  if (existsSync(path)) return realpathSync(path)
  return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path))
}

const linked = (path: string) =>
  failedError(
    `${path} is a link, and a backup does not follow links: it would be incomplete.`,
    "Put the files where the link is, or copy the folder with a program that follows links, while no run works."
  )

const checkBackup = Effect.fnUntraced(function* (target: string) {
  if (existsSync(outputPaths(target).backupIncomplete))
    return yield* failure({ _tag: "BackupIncomplete", folder: target })
  const manifest = yield* readJson(outputPaths(target).backup, Manifest)
  if (manifest === undefined)
    return yield* usageError(
      `${target} is no backup: it has no ${outputFiles.backup.name}.`,
      "./sluice backup makes one; ./sluice verify checks any output folder."
    )
  return yield* report(target, manifest, yield* problemsOf(target, manifest))
})

const report = Effect.fnUntraced(function* (
  target: string,
  { at, files, leftOut }: Manifest,
  problems: ReadonlyArray<Problem>
) {
  const { isLogged } = yield* Output
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const secrets = files.map(({ path }) => path).filter((path) => outputFileOf(path)?.kind === "secret")
  const exitCode = problems.length > 0 ? exitCodes.failed : 0
  const next =
    exitCode === 0
      ? `./sluice verify --output ${target}`
      : "Use another backup. ./sluice verify --output names what is damaged; what is in its vault can be rebuilt."
  const data = { folder: target, at, files: files.length, bytes, secrets, leftOut, problems }
  return shown("backup", { exitCode, next, data }, function* () {
    for (const { path, problem } of problems) yield `WRONG  ${path}: ${problem}`
    if (isLogged("info"))
      yield `${counted(files.length, "file")} in ${target}, ${megabytes(bytes)}, each compared with its checksum${problems.length > 0 ? `: ${problems.length} wrong` : ""}`
    if (secrets.length > 0) yield info(`It has ${secrets.join(" and ")}: keep it as safe as the output folder.`)
    if (leftOut.length > 0) yield info(`It does not have ${leftOut.join(", ")}.`)
  })
})

/**
 * Copies an output folder while the caller has its warehouse open to write, so that no run changes anything.
 *
 *     begun      backup.incomplete exists: every command refuses the folder
 *     copied     every file is flushed to disk, and has the checksum of its source when it is read again
 *     complete   backup.json exists, and backup.incomplete does not
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { mkdir, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { checksumOf, copyDurably, onDisk, syncFolder, writeDurably } from "../../output/files.ts"
import { outputPaths } from "../../output/paths.ts"
import { failedError } from "../../console/errors.ts"
import * as Schema from "effect/Schema"
import { firstPartOf, portableFiles } from "../../output/contents.ts"
import { removeBelow } from "../../output/remove.ts"

/** What was written is removed again if this fails. */
export const copyInto = (
  target: string,
  source: string,
  paths: ReadonlyArray<string>,
  about: Omit<Manifest, "files">
) =>
  Effect.gen(function* () {
    const { backup, backupIncomplete } = outputPaths(target)
    yield* onDisk(backupIncomplete, "written", () => writeDurably(backupIncomplete, ""))
    const files = yield* Effect.forEach(paths, (path) =>
      onDisk(join(target, path), "written", async () => ({
        path,
        ...(await copied(join(source, path), join(target, path)))
      }))
    )
    const folders = new Set(paths.flatMap((path) => foldersOf(path)))
    for (const folder of folders) yield* onDisk(join(target, folder), "written", () => syncFolder(join(target, folder)))
    const manifest: Manifest = { ...about, files }
    const [problem] = yield* problemsOf(target, manifest)
    if (problem)
      return yield* failedError(
        `${join(target, problem.path)} was not written as it was read: ${problem.problem}.`,
        "Check that disk, then make the backup in another folder."
      )
    yield* onDisk(backup, "written", () => writeDurably(backup, `${JSON.stringify(manifest, null, 1)}\n`))
    yield* onDisk(backupIncomplete, "removed", async () => {
      await rm(backupIncomplete)
      await syncFolder(target)
      await syncFolder(dirname(target))
    })
    return manifest
  }).pipe(Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : Effect.ignore(removeFrom(target, paths)))))

/** The mark goes last: without it, half a backup would look like a whole one. */
const removeFrom = (target: string, paths: ReadonlyArray<string>) =>
  onDisk(target, "removed", async () => {
    const { backup, backupIncomplete } = outputPaths(target)
    const names = new Set(paths.map(firstPartOf))
    for (const path of [...Array.from(names, (name) => join(target, name)), backup, `${backup}.part`, backupIncomplete])
      await removeBelow(target, path)
  })

/** The folders above a path in the output folder, which is `.`. */
const foldersOf = (path: string): ReadonlyArray<string> => {
  const folder = dirname(path)
  return folder === "." ? ["."] : [folder, ...foldersOf(folder)]
}

const copied = async (from: string, to: string) => {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  return copyDurably(from, to)
}

/** `backup.json`: the files of a backup with their checksums, and whether they are still what they were. */
export const Manifest = Schema.Struct({
  /** The version of sluice that made it. */
  tool: Schema.String,
  /** ISO 8601. */
  at: Schema.String,
  files: Schema.Array(
    Schema.Struct({
      /** Relative to the folder. */
      path: Schema.String,
      bytes: Schema.Int,
      /** Hexadecimal. */
      sha256: Schema.String
    })
  ),
  leftOut: Schema.Array(Schema.String)
})
export type Manifest = typeof Manifest.Type

export interface Problem {
  readonly path: string
  readonly problem: string
}

/** Reads every file of the backup. */
export const problemsOf = Effect.fnUntraced(function* (folder: string, { files }: Manifest) {
  const found = new Set((yield* onDisk(folder, "read", () => portableFiles(folder))).files)
  const problems: Array<Problem> = []
  for (const { bytes, path, sha256 } of files) {
    if (!found.delete(path)) {
      problems.push({ path, problem: "it is missing" })
      continue
    }
    const now = yield* onDisk(join(folder, path), "read", () => checksumOf(join(folder, path)))
    if (now.bytes !== bytes) problems.push({ path, problem: `it has ${now.bytes} bytes, and had ${bytes}` })
    else if (now.sha256 !== sha256) problems.push({ path, problem: "its content is not what it was" })
  }
  return [...problems, ...Array.from(found, (path) => ({ path, problem: "it was added" }))]
})

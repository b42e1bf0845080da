/** `backup.json`: the files of a backup with their checksums, and whether they are still what they were. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import { checksumOf, onDisk } from "../../output/files.ts"
import { portableFiles } from "../../output/portable-files.ts"

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

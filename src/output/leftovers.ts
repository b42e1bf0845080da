/**
 * Removes files that a killed run left in the output folder. Only a command that holds the warehouse for writing may do
 * this, because no other process uses these files then.
 */
import type { Effect } from "effect"
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import type { Failure } from "../values/failure.ts"
import { onDisk } from "./files.ts"
import { outputPaths, verifyPrefix } from "./paths.ts"

/** The names to remove in each folder. */
const leftoversOf = (output: string): ReadonlyArray<readonly [folder: string, names: RegExp]> => {
  const { vault, versions } = outputPaths(output)
  return [
    // Batches of the load, an unfinished rebuild or erasure (with a new catalog of the lake) with its log and temporary files, and folders of verify.
    [
      output,
      new RegExp(
        `^(tmp|(rebuilt\\.duckdb|warehouse\\.duckdb\\.(copy(-[0-9a-f]+)?|erased))(\\.wal|\\.tmp)?|lake\\.ducklake\\.new|${verifyPrefix}\\d+)$`
      )
    ],
    // A segment whose compression was interrupted; its plain file exists.
    [vault, /^\d{6,}\.ndjson\.zst\.part$/],
    // A release that was being written.
    [versions, /^\d{6,}-[A-Za-z0-9_-]*\.building$/]
  ]
}

export const removeLeftovers = (output: string): Effect.Effect<void, Failure> =>
  onDisk(output, "written", async () => {
    for (const [folder, pattern] of leftoversOf(output)) {
      const names = await readdir(folder).catch(emptyIfMissing)
      for (const name of names.filter((candidate) => pattern.test(candidate)))
        await rm(join(folder, name), { recursive: true, force: true })
    }
  })

const emptyIfMissing = (cause: NodeJS.ErrnoException): ReadonlyArray<string> => {
  if (cause.code === "ENOENT") return []
  throw cause
}

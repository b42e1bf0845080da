/** Removes what a killed run left in the output folder. Only a command that holds the warehouse for writing may: then nothing else uses it. */
import type { Effect } from "effect"
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import type { Failure } from "./failure.ts"
import { onDisk } from "./io/files.ts"
import { outputPaths, verifyPrefix } from "./settings/paths.ts"

/** The names to remove, by folder; everything else stays. */
const leftoversOf = (output: string): ReadonlyArray<readonly [folder: string, names: RegExp]> => {
  const { vault, versions } = outputPaths(output)
  return [
    // Batches; an unfinished rebuild, with its log and temporary files; what verify compared with.
    [output, new RegExp(`^(tmp|rebuilt\\.duckdb(\\.wal|\\.tmp)?|${verifyPrefix}\\d+)$`)],
    // A segment that was being compressed; the plain one is there.
    [vault, /^\d{6,}\.ndjson\.zst\.part$/],
    // A version that was being written.
    [versions, /^\d{6,}-[A-Za-z0-9_-]*\.building$/]
  ]
}

export const removeLeftovers = (output: string): Effect.Effect<void, Failure> =>
  onDisk(output, "written", async () => {
    for (const [folder, pattern] of leftoversOf(output)) {
      const names = await readdir(folder).catch(none)
      for (const name of names.filter((one) => pattern.test(one)))
        await rm(join(folder, name), { recursive: true, force: true })
    }
  })

const none = (cause: NodeJS.ErrnoException): ReadonlyArray<string> => {
  if (cause.code === "ENOENT") return []
  throw cause
}

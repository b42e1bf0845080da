/**
 * Removes files that a killed run left in the output folder. Only a command that holds the warehouse for writing may do
 * this, because no other process uses these files then.
 */
import type { Effect } from "effect"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import type { Failure } from "../values/failure.ts"
import { onDisk } from "./files.ts"
import { namesIn } from "./folder.ts"
import { isScratch } from "./contents.ts"
import { isBuilding, outputPaths } from "./paths.ts"
import { isPartial, isUnrecorded } from "./stored-files.ts"

/** What to remove in each folder. */
const leftoversOf = (
  output: string,
  withUnrecorded: boolean
): ReadonlyArray<readonly [folder: string, isLeft: (name: string) => boolean]> => {
  const { files, vault, versions } = outputPaths(output)
  return [
    [output, isScratch],
    // A segment whose compression was interrupted; its plain file exists.
    [vault, (name) => /^\d{6,}\.ndjson\.zst\.part$/.test(name)],
    // A release that was being written.
    [versions, isBuilding],
    [files, (name) => isPartial(name) || (withUnrecorded && isUnrecorded(name))]
  ]
}

/** `withUnrecorded`: also the notes about files that no row names yet, which the next sync would read. */
export const removeLeftovers = (output: string, withUnrecorded = false): Effect.Effect<void, Failure> =>
  onDisk(output, "written", async () => {
    for (const [folder, isLeft] of leftoversOf(output, withUnrecorded)) {
      const names = await namesIn(folder)
      for (const name of names.filter(isLeft)) await rm(join(folder, name), { recursive: true, force: true })
    }
  })

/**
 * Removes files that a killed run left in the output folder, and finds those that were set aside. Only a command that holds the
 * warehouse for writing may remove them, because no other process uses these files then.
 */
import type { Effect } from "effect"
import { dirname, join } from "node:path"
import type { Failure } from "../values/failure.ts"
import { onDisk } from "./files.ts"
import { namesIn } from "./folder.ts"
import { isScratch, outputFileOf, outputFiles } from "./contents.ts"
import { isBuilding, outputPaths } from "./paths.ts"
import { isPartial, isUnrecorded } from "./stored-files.ts"
import { removeBelow } from "./remove.ts"

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
      for (const name of names.filter(isLeft)) await removeBelow(folder, name)
    }
  })

/** A file that a command has set aside instead of removing it: an incomplete write of the vault, or a damaged warehouse. */
export interface SetAside {
  readonly path: string
  readonly why: string
}

/** Whether it is the name of an incomplete write of a segment. */
export const isTornWrite = (name: string): boolean => /^\d+\.ndjson\.torn-\d+$/.test(name)

export const setAsideIn = async (output: string): Promise<ReadonlyArray<SetAside>> => {
  const { damaged, vault } = outputPaths(output)
  return [
    ...(await filesIn(vault, isTornWrite)).map((path) => ({
      path,
      why: "an incomplete write that a sync has set aside"
    })),
    ...(await filesIn(dirname(damaged), (name) => outputFileOf(name) === outputFiles.damaged)).map((path) => ({
      path,
      why: "a damaged warehouse that a rebuild has replaced"
    }))
  ]
}

const filesIn = async (folder: string, isSetAside: (name: string) => boolean): Promise<ReadonlyArray<string>> => {
  const names = await namesIn(folder)
  return names.filter(isSetAside).map((name) => join(folder, name))
}

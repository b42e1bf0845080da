/** The output folder, created so that only its owner can access it. */
import { chmod, mkdir, readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { readmeName } from "../settings/paths.ts"

/**
 * Creates the output folder, or restricts the access to one with only the README, as in a clone of the repository. Any
 * other folder keeps the mode that its owner gave it.
 */
export const makeOutputFolder = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const names = await readdir(folder)
  if (names.length === 1 && names[0] === readmeName) await chmod(folder, 0o700)
}

/** Removes everything in the folder except the README of the repository. */
export const emptyOutputFolder = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder))
    if (name !== readmeName) await rm(join(folder, name), { recursive: true, force: true })
}

/** The output folder: closed to others before anything is in it. */
import { chmod, mkdir, readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { readmeName } from "../settings/paths.ts"

/** Makes the folder, or closes the one that a clone brought. A folder that is in use keeps the mode that its owner gave it. */
export const makeOutputFolder = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const names = await readdir(folder)
  if (names.length === 1 && names[0] === readmeName) await chmod(folder, 0o700)
}

/** Removes everything but the page that a clone brought. */
export const emptyOutputFolder = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder))
    if (name !== readmeName) await rm(join(folder, name), { recursive: true, force: true })
}

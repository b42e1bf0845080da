/**
 * The place of a bundle. It is made in a hidden folder beside it and renamed when it is complete, so its name never stands for
 * half a bundle.
 *
 *     building   .audit.tar.<pid>.building    the next export to this place removes what a crash leaves
 *     replaced   .audit.tar.<pid>.replaced    the earlier bundle, with --force, until the new one has its name
 */
import { existsSync } from "node:fs"
import { lstat, mkdir, readdir, rename } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { syncFolder } from "../../../output/files.ts"
import { removeBelow } from "../../../output/remove.ts"
import { codeOf } from "../../../values/thrown.ts"

/** Why the target cannot be written; `undefined` if it can. */
export const targetProblem = async (target: string, isFolder: boolean, force: boolean): Promise<string | undefined> => {
  if (!existsSync(dirname(target))) return `there is no folder ${dirname(target)}`
  const found = await lstat(target).catch(() => undefined)
  if (found === undefined) return undefined
  if (!force) return "it exists; --force replaces it"
  if (found.isDirectory() !== isFolder) return `it is ${found.isDirectory() ? "a folder" : "not a folder"}`
  // --force must not remove a folder with other files.
  return isFolder && !existsSync(join(target, "bagit.txt"))
    ? "it is a folder without bagit.txt, so not a bundle"
    : undefined
}

/** Creates the folder in which the bundle is made, and removes those of exports that were killed. */
export const beginTarget = async (target: string): Promise<string> => {
  const folder = dirname(target)
  for (const name of await readdir(folder)) {
    const pid = leftoverOf(name, basename(target))
    if (pid !== undefined && !isRunning(pid)) await removeBelow(folder, name)
  }
  const building = join(folder, `.${basename(target)}.${process.pid}.building`)
  await removeBelow(folder, building)
  await mkdir(building, { mode: 0o700 })
  return building
}

/** Gives the complete bundle its name. */
export const commitTarget = async (made: string, target: string): Promise<void> => {
  const replaced = join(dirname(target), `.${basename(target)}.${process.pid}.replaced`)
  const isReplaced = existsSync(target)
  // A folder cannot be renamed to a name that a folder has.
  if (isReplaced) await rename(target, replaced)
  await rename(made, target)
  await syncFolder(dirname(target))
  if (isReplaced) await removeBelow(dirname(target), replaced)
}

const leftoverOf = (name: string, target: string): number | undefined => {
  const prefix = `.${target}.`
  const [, pid] = name.startsWith(prefix) ? (/^(\d+)\.(building|replaced)$/.exec(name.slice(prefix.length)) ?? []) : []
  return pid === undefined ? undefined : Number(pid)
}

const isRunning = (pid: number): boolean => {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === "EPERM"
  }
}

/** Removes files and folders. What is removed with all its content is strictly inside a folder that the caller is sure of. */
import { realpath, rm } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { ifMissing } from "./files.ts"

/**
 * Removes what `path` names, with everything in it; nothing if it is not there. `path` must lead to something strictly inside
 * `folder`, also after the links in both were followed; a link itself is removed, not what it points to. Rejects otherwise.
 */
export const removeBelow = async (folder: string, path: string): Promise<void> => {
  const target = resolve(folder, path)
  if (!isInside(resolve(folder), target)) throw new Outside(folder, path)
  const [root, parent] = await Promise.all([realpath(folder), realpath(dirname(target))]).catch(
    ifMissing([undefined, undefined])
  )
  if (root === undefined || parent === undefined) return
  const real = join(parent, basename(target))
  if (!isInside(root, real)) throw new Outside(folder, path)
  await rm(real, { recursive: true, force: true })
}

/** Rejects if `path`, which exists, is not strictly inside `folder` after the links in both were followed. */
export const checkInside = async (folder: string, path: string): Promise<void> => {
  const [root, real] = await Promise.all([realpath(folder), realpath(path)])
  if (!isInside(root, real)) throw new Outside(folder, path)
}

/** Something that is not inside the folder in which it should be. */
class Outside extends Error {
  constructor(folder: string, path: string) {
    super(`${JSON.stringify(path)} is not inside ${folder}, which nothing may leave`)
  }
}

const isInside = (folder: string, path: string): boolean => isBelow(path, folder) && relative(folder, path) !== ""

/** Whether an absolute path is a folder or inside it: by whole names, so that `/srv/crm-2` is not in `/srv/crm`. */
export const isBelow = (path: string, folder: string): boolean => {
  const rest = relative(folder, path)
  return rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest)
}

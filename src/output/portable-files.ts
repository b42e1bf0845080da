/** What of an output folder another machine needs: the files of a snapshot and of a backup. */
import { readdir } from "node:fs/promises"
import { join, relative } from "node:path"
import { isLocal } from "./contents.ts"

/** Paths relative to the folder. Links are not followed, so what is behind one is missing from the files. */
export const portableFiles = async (folder: string) => {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true })).map((entry) => ({
    path: relative(folder, join(entry.parentPath, entry.name)),
    isFile: entry.isFile(),
    isLink: entry.isSymbolicLink()
  }))
  const portable = entries
    .filter(({ path }) => !isLocal(path))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
  return {
    files: portable.filter(({ isFile }) => isFile).map(({ path }) => path),
    links: portable.filter(({ isLink }) => isLink).map(({ path }) => path)
  }
}

/** The files of a bundle: readable only by their owner, with the time of the release, durable, and with their checksums. */
import { createHash } from "node:crypto"
import { mkdir, open, readdir, utimes, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { checksumOf, syncFolder, unlessRefused } from "../../../output/files.ts"

export interface SealedFile {
  /** Relative to the bag, with `/`. */
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  readonly sha512: string
}

/** The bag in the making. */
export interface Building {
  readonly folder: string
  /** The time of every file. */
  readonly time: Date
}

export const makeFolderOf = (path: string) => mkdir(dirname(path), { recursive: true, mode: 0o700 })

/** Gives a file that has been written its mode and time, flushes it to disk, and computes its checksums. */
export const seal = async ({ folder, time }: Building, path: string): Promise<SealedFile> => {
  const file = join(folder, path)
  const sha512 = createHash("sha512")
  const checksum = await checksumOf(file, (chunk) => sha512.update(chunk))
  await using handle = await open(file, "r+")
  await unlessRefused(() => handle.chmod(0o600))
  await unlessRefused(() => handle.utimes(time, time))
  await handle.sync()
  return { path, ...checksum, sha512: sha512.digest("hex") }
}

export const sealText = async (building: Building, path: string, text: string): Promise<SealedFile> => {
  const file = join(building.folder, path)
  await makeFolderOf(file)
  await writeFile(file, text, { mode: 0o600 })
  return seal(building, path)
}

/** Gives the folders the time of the release; writing files into them has changed it. */
export const sealFolders = async ({ folder, time }: Building): Promise<void> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
  for (const path of [...folders, folder]) {
    await utimes(path, time, time)
    await syncFolder(path)
  }
}

/** JSON with an object a line where lists are long, for people and for `diff`. */
export const jsonText = (value: object): string => `${JSON.stringify(value, null, 1)}\n`

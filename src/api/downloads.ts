/** Answers that are files: streamed to disk, never held in memory, in place only when they are whole. */
import type { Effect } from "effect"
import { createHash } from "node:crypto"
import { mkdir, open, readdir, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Failure } from "../failure.ts"
import { onDisk } from "../io/files.ts"
import { spellings } from "./response-body.ts"

/** Where an answer goes: a name below a folder, the ending left to what comes. */
export interface FileTarget {
  readonly folder: string
  readonly name: string
}

/** A file that came, as the row of a table tells it. */
export interface Stored {
  /** Below the target's folder. */
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  readonly content_type: string
}

/** A disk that does not take a file: no other attempt at the request betters that. */
export class DiskTrouble extends Error {}

/** A file that is not kept, and would be no other if it came again. */
export class Unwanted extends Error {}

export interface FileSink {
  readonly target: FileTarget
  readonly megabytesMax: number
  /** Texts that it must not hold. */
  readonly secrets: Iterable<string>
}

/** Rejects with DiskTrouble, Unwanted or what the connection says, and leaves nothing of the file then. */
export const store = async (
  body: AsyncIterable<Buffer>,
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>,
  { target: { folder, name }, megabytesMax, secrets }: FileSink
): Promise<Stored> => {
  const contentType = String(headers["content-type"] ?? "")
  const path = `${name}${endings.get(contentType.split(";")[0]!.trim().toLowerCase()) ?? ".bin"}`
  const target = join(folder, path)
  const part = `${target}${partEnding}`
  const hash = createHash("sha256")
  let bytes = 0
  const sought = [...secrets].flatMap(spellings)
  const overlap = Math.max(0, ...sought.map(({ length }) => length))
  const announced = Number(headers["content-length"] ?? 0)
  let tail = Buffer.alloc(0)
  try {
    await orDiskTrouble(mkdir(dirname(target), { recursive: true, mode: 0o700 }))
    {
      await using file = await orDiskTrouble(open(part, "w", 0o600))
      for await (const piece of body) {
        bytes += piece.length
        if (Math.max(announced, bytes) > megabytesMax * megabyte)
          throw new Unwanted(`the file is larger than output.file_mb_max, ${megabytesMax} MB`)
        const seen = Buffer.concat([tail, piece])
        if (sought.some((secret) => seen.includes(secret)))
          throw new Unwanted("the file repeats our credentials and was not kept")
        if (overlap > 0) tail = seen.subarray(-overlap)
        await orDiskTrouble(file.writeFile(piece))
        hash.update(piece)
      }
      await orDiskTrouble(file.sync())
    }
    await orDiskTrouble(rename(part, target))
  } catch (cause) {
    await rm(part, { force: true }).catch(() => undefined)
    throw cause
  }
  return { path, bytes, sha256: hash.digest("hex"), content_type: contentType }
}

const megabyte = 1024 * 1024

const orDiskTrouble = <A>(doing: Promise<A>): Promise<A> =>
  doing.catch((cause: Error) => {
    throw new DiskTrouble(cause.message, { cause })
  })

const partEnding = ".part"

/** Removes what transfers left that a crash ended. No other run may be under way. */
export const removePartialDownloads = (folder: string): Effect.Effect<void, Failure> =>
  onDisk(folder, "written", async () => {
    const names = await readdir(folder, { recursive: true }).catch((cause: NodeJS.ErrnoException) =>
      cause.code === "ENOENT" ? [] : Promise.reject(cause)
    )
    for (const name of names) if (name.endsWith(partEnding)) await rm(join(folder, name), { force: true })
  })

const endings: ReadonlyMap<string, string> = new Map([
  ["audio/x-wav", ".wav"],
  ["audio/wav", ".wav"],
  ["audio/mpeg", ".mp3"],
  ["audio/ogg", ".ogg"],
  ["audio/mp4", ".m4a"]
])

/** A file name for an id, whatever is in it: no path leads out of the folder, and case does not matter. */
export const fileName = (id: string): string =>
  `${id.replaceAll(/[^\w-]/g, "_").slice(0, 60)}-${createHash("sha256").update(id).digest("hex").slice(0, 12)}`

/** Downloads files: streams them to disk, and puts them in place only when they are complete. */
import type { Effect } from "effect"
import { createHash } from "node:crypto"
import { mkdir, open, readdir, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Failure } from "../../values/failure.ts"
import { onDisk } from "../../output/files.ts"
import { spellings } from "./response-body.ts"

/** Where to store a file: a folder, and a path below it without the extension, which depends on the content type. */
export interface FileTarget {
  readonly folder: string
  readonly name: string
}

/** A stored file, as a table describes it. */
export interface StoredFile {
  /** Relative to the folder of the target. */
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  readonly content_type: string
}

/** A file cannot be written. A retry of the request would not help. */
export class DiskError extends Error {}

/** A file is not stored because of its content or size. A retry would return the same file. */
export class FileRejected extends Error {}

export interface FileSink {
  readonly target: FileTarget
  readonly megabytesMax: number
  /** Texts that the file must not contain. */
  readonly secrets: Iterable<string>
}

/** Stores a body. Rejects with DiskError, FileRejected or the error of the connection, and then leaves no file. */
export const store = async (
  body: AsyncIterable<Buffer>,
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>,
  { target: { folder, name }, megabytesMax, secrets }: FileSink
): Promise<StoredFile> => {
  const contentType = String(headers["content-type"] ?? "")
  const path = `${name}${extensions.get(contentType.split(";")[0]!.trim().toLowerCase()) ?? ".bin"}`
  const target = join(folder, path)
  const part = `${target}${partExtension}`
  const hash = createHash("sha256")
  let bytes = 0
  const forbidden = [...secrets].flatMap(spellings)
  const overlap = Math.max(0, ...forbidden.map(({ length }) => length))
  const announced = Number(headers["content-length"] ?? 0)
  let tail = Buffer.alloc(0)
  try {
    await orDiskError(mkdir(dirname(target), { recursive: true, mode: 0o700 }))
    {
      await using file = await orDiskError(open(part, "w", 0o600))
      for await (const chunk of body) {
        bytes += chunk.length
        if (Math.max(announced, bytes) > megabytesMax * megabyte)
          throw new FileRejected(`the file is larger than output.file_mb_max, ${megabytesMax} MB`)
        const searched = Buffer.concat([tail, chunk])
        if (forbidden.some((text) => searched.includes(text)))
          throw new FileRejected("the file contains the credentials and was not stored")
        if (overlap > 0) tail = searched.subarray(-overlap)
        await orDiskError(file.writeFile(chunk))
        hash.update(chunk)
      }
      await orDiskError(file.sync())
    }
    await orDiskError(rename(part, target))
  } catch (cause) {
    await rm(part, { force: true }).catch(() => undefined)
    throw cause
  }
  return { path, bytes, sha256: hash.digest("hex"), content_type: contentType }
}

const megabyte = 1024 * 1024

const orDiskError = <A>(operation: Promise<A>): Promise<A> =>
  operation.catch((cause: Error) => {
    throw new DiskError(cause.message, { cause })
  })

const partExtension = ".part"

/** Removes partial files of downloads that a crash interrupted. No other run may be active. */
export const removePartialDownloads = (folder: string): Effect.Effect<void, Failure> =>
  onDisk(folder, "written", async () => {
    const names = await readdir(folder, { recursive: true }).catch((cause: NodeJS.ErrnoException) =>
      cause.code === "ENOENT" ? [] : Promise.reject(cause)
    )
    for (const name of names) if (name.endsWith(partExtension)) await rm(join(folder, name), { force: true })
  })

const extensions: ReadonlyMap<string, string> = new Map([
  ["audio/x-wav", ".wav"],
  ["audio/wav", ".wav"],
  ["audio/mpeg", ".mp3"],
  ["audio/ogg", ".ogg"],
  ["audio/mp4", ".m4a"]
])

/** A file name for any id: it cannot leave the folder, and ids that differ only in case get different names. */
export const fileName = (id: string): string =>
  `${id.replaceAll(/[^\w-]/g, "_").slice(0, 60)}-${createHash("sha256").update(id).digest("hex").slice(0, 12)}`

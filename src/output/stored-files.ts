/**
 * Files of the account, such as attachments and recordings, named by their content: `files/ab/cdef….jpg`. A file that many
 * records have is stored once.
 */
import { type Hash, createHash } from "node:crypto"
import { execFile } from "node:child_process"
import { closeSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { type FileHandle, mkdir, open, readFile, readdir, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type * as Effect from "effect/Effect"
import type { Failure } from "../values/failure.ts"
import { onDisk } from "./files.ts"
import { namesIn } from "./folder.ts"
import { filesName, outputPaths } from "./paths.ts"

/** A stored file, as a table describes it. */
export interface StoredFile {
  /** Relative to the output folder. */
  readonly path: string
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
  /** The MIME type that its first bytes have; `undefined` for a text, and for a type that has no signature. */
  readonly found: string | undefined
}

/** A file cannot be written. A retry of the request would not help. */
export class DiskError extends Error {}

/** A file that is being received. */
export interface IncomingFile {
  readonly bytes: () => number
  readonly write: (chunk: Buffer) => Promise<void>
  /** Forgets what was written. */
  readonly restart: () => Promise<void>
  /** The type that its first bytes show; of a file that is not complete, the first `headBytes` must have been written. */
  readonly type: () => Promise<FoundType | undefined>
  /**
   * Puts it in place under the name of its content, unless it is there. It is durable once `syncFiles` has returned.
   * `isStored`: whether the file with a path is known to be whole.
   */
  readonly keep: (isStored?: (path: string) => boolean) => Promise<StoredFile>
  readonly discard: () => Promise<void>
}

/** A smaller file is written at once when it is complete. */
const bufferedBytesMax = 256 * 1024
/** The chunks of a large file are garbage that the engine sees late, because they lie outside its heap. */
const collectEvery = 8 * 1024 * 1024
const collectChunks = (): void => {
  if (collect === undefined) {
    setFlagsFromString("--expose-gc")
    collect = runInNewContext("gc") as typeof collect
  }
  collect!({ type: "minor" })
}
let collect: ((options: { readonly type: "minor" }) => void) | undefined
/** The signatures of types are in the first bytes. */
export const headBytes = 4100

interface FoundType {
  readonly ext: string
  readonly mime: string
}

/** `folder`: the output folder. Errors of the disk are `DiskError`. */
export const receiveFile = (folder: string): IncomingFile => {
  const part = join(folder, filesName, `${process.pid}-${nextPart++}${partExtension}`)
  let hash: Hash = createHash("sha256")
  let head = Buffer.alloc(0)
  let buffered: Array<Buffer> = []
  let [bytes, bufferedBytes, collectedAt] = [0, 0, 0]
  let file: FileHandle | undefined
  let type: Promise<FoundType | undefined> | undefined
  const flush = async () => {
    await makeFolder(dirname(part))
    file ??= await open(part, "w", 0o600)
    await file.writev(buffered)
    ;[buffered, bufferedBytes] = [[], 0]
    if (bytes - collectedAt > collectEvery) {
      collectedAt = bytes
      collectChunks()
    }
  }
  const discard = async () => {
    await file?.close().catch(() => {})
    if (file) await rm(part, { force: true }).catch(() => {})
    file = undefined
  }
  const foundType = () => (type ??= typeOf(head))
  return {
    bytes: () => bytes,
    write: async (chunk) => {
      hash.update(chunk)
      bytes += chunk.length
      if (head.length < headBytes) head = Buffer.concat([head, chunk.subarray(0, headBytes - head.length)])
      buffered.push(chunk)
      bufferedBytes += chunk.length
      if (bufferedBytes > bufferedBytesMax) await orDiskError(flush())
    },
    restart: async () => {
      await discard()
      hash = createHash("sha256")
      head = Buffer.alloc(0)
      type = undefined
      ;[buffered, bufferedBytes, bytes] = [[], 0, 0]
    },
    type: foundType,
    keep: async (isStored = () => false) => {
      const sha256 = hash.digest("hex")
      const type = await foundType()
      const path = join(filesName, sha256.slice(0, 2), `${sha256.slice(2)}${type ? `.${type.ext}` : ""}`)
      const stored = { path, bytes, sha256, found: type?.mime }
      if (isStored(path)) return stored
      const target = join(folder, path)
      await orDiskError(
        (async () => {
          await makeFolder(dirname(target))
          // For a small file, operations that block the process take half the time of those that do not.
          if (file === undefined && writeNew(target, buffered)) return
          await flush()
          await file!.close()
          renameSync(part, target)
          file = undefined
        })()
      )
      return stored
    },
    discard
  }
}

/** Whether a path of a row is one that sluice gives to files; those of recordings had a folder of their own once. */
export const isStoredPath = (path: string): boolean =>
  new RegExp(`^${filesName}/([0-9a-f]{2}/[0-9a-f]{62}|recordings/[\\w-]+)(\\.[0-9a-z]+)?$`).test(path)

/** The type that the bytes themselves show: what a server says of a file is not trusted. */
const typeOf = async (head: Buffer): Promise<FoundType | undefined> => {
  if (detect === undefined) {
    const { fileTypeFromBuffer } = await import("file-type")
    detect = fileTypeFromBuffer
  }
  return detect(head).catch(() => undefined)
}
let detect: ((bytes: Uint8Array) => Promise<FoundType | undefined>) | undefined

/** Writes a file that is not there yet. Until a row names it, nobody minds if it is cut. */
const writeNew = (path: string, content: ReadonlyArray<Buffer>): boolean => {
  try {
    writeFileSync(path, content.length === 1 ? content[0]! : Buffer.concat(content), { flag: "wx", mode: 0o600 })
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return false
    throw cause
  }
}

/** Makes stored files durable. */
export const syncFiles = async (folder: string, paths: Iterable<string>): Promise<void> => {
  // One call for the whole file system takes a tenth of the time of one for each file; not every system has it.
  const [first, ...others] = paths
  if (first === undefined) return
  if (others.length > 100 && process.platform === "linux" && (await syncFileSystem(folder))) return
  for (const path of [first, ...others]) {
    await using file = await open(join(folder, path), "r")
    await file.datasync()
  }
}

const syncFileSystem = (folder: string): Promise<boolean> =>
  new Promise((resolve) => execFile("sync", ["-f", folder], (error) => resolve(error === null)))

let nextPart = 0
const partExtension = ".part"

const made = new Set<string>()
const makeFolder = async (folder: string): Promise<void> => {
  if (made.has(folder)) return
  await mkdir(folder, { recursive: true, mode: 0o700 })
  made.add(folder)
}

const orDiskError = <A>(operation: Promise<A>): Promise<A> =>
  operation.catch((cause: Error) => {
    throw new DiskError(cause.message, { cause })
  })

/** What was stored and is not in the vault yet: a process that is killed costs the files that it was fetching, and no other. */
export interface Unrecorded {
  readonly add: (records: ReadonlyArray<object>) => void
  readonly clear: () => void
}

const unrecordedEnd = `.fetched${partExtension}`

/** Nothing of it is flushed to disk: it need not outlive the machine. */
export const unrecordedOf = (folder: string, location: string): Unrecorded => {
  const path = join(folder, filesName, `${createHash("sha256").update(location).digest("hex")}${unrecordedEnd}`)
  let file: number | undefined
  return {
    add: (records) => {
      file ??= openSync(path, "a", 0o600)
      writeSync(file, records.map((record) => `${JSON.stringify({ location, record })}\n`).join(""))
    },
    clear: () => {
      if (file !== undefined) closeSync(file)
      rmSync(path, { force: true })
    }
  }
}

/** What killed runs have left, by location. A last line that was cut is left out. */
export const takeUnrecorded = (folder: string): Effect.Effect<ReadonlyMap<string, ReadonlyArray<object>>, Failure> =>
  onDisk(folder, "read", async () => {
    const found = new Map<string, Array<object>>()
    const names = await namesIn(outputPaths(folder).files)
    for (const name of names.filter((one) => one.endsWith(unrecordedEnd)))
      for (const line of (await readFile(join(folder, filesName, name), "utf8")).split("\n").slice(0, -1)) {
        const { location, record } = JSON.parse(line) as { readonly location: string; readonly record: object }
        const of = found.get(location) ?? []
        of.push(record)
        found.set(location, of)
      }
    return found
  })

/** The paths of all files below `files`, relative to the output folder, in order. */
export const storedPaths = (folder: string): Effect.Effect<ReadonlyArray<string>, Failure> => {
  const { files } = outputPaths(folder)
  return onDisk(files, "read", async () => {
    const entries = await readdir(files, { recursive: true, withFileTypes: true }).catch((cause) =>
      cause.code === "ENOENT" ? [] : Promise.reject(cause)
    )
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(filesName, join(entry.parentPath, entry.name).slice(files.length + 1)))
      .sort()
  })
}

/** Removes the parts of files that a crash interrupted. No other run may be active. */
export const removePartialFiles = (folder: string): Effect.Effect<void, Failure> =>
  onDisk(outputPaths(folder).files, "written", async () => {
    for (const name of await namesIn(outputPaths(folder).files))
      if (name.endsWith(partExtension)) await rm(join(outputPaths(folder).files, name), { force: true })
  })

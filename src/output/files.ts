/** File operations: failures that name the file, durable writes, and checksums. */
import * as Effect from "effect/Effect"
import { constants, createReadStream, createWriteStream, writeFileSync } from "node:fs"
import { access, chmod, lstat, mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { pipeline } from "node:stream/promises"
import { type Failure, type FileOperation, fileFailure } from "../values/failure.ts"
import { reading } from "./held-files.ts"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { codeOf } from "../values/thrown.ts"
import { nodeCrypto } from "../values/node.ts"

/** Runs a file operation. Any error becomes a failure that names the path and the operation. */
export const onDisk = <A>(path: string, operation: FileOperation, run: () => Promise<A>): Effect.Effect<A, Failure> =>
  Effect.tryPromise({ try: run, catch: (cause) => fileFailure(path, operation, cause) })

/**
 * Writes a small file, which only the owner can read. Not durable. Operations that do not block the process take more CPU than
 * writing some kilobytes.
 */
export const writeSmall = (path: string, content: string | Buffer): Effect.Effect<void, Failure> =>
  Effect.try({
    try: () => writeFileSync(path, content, { mode: 0o600 }),
    catch: (cause) => fileFailure(path, "written", cause)
  })

/** The folder itself, or the first above it that exists. */
export const nearestFolder = async (folder: string): Promise<string> =>
  (await lstat(folder).catch(() => undefined)) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder))

/** Writes a file of its own and removes it; in the nearest folder above if this one does not exist yet. */
export const probeFolder = (folder: string) =>
  onDisk(folder, "written", async () => {
    const path = join(await nearestFolder(folder), `.sluice-${nodeCrypto().randomUUID()}`)
    await writeFile(path, "", { flag: "wx", mode: 0o600 })
    await rm(path)
  })

/** Moves the bytes of `part` to the end of `file`. */
export const appendTo = async (file: string, part: string): Promise<void> => {
  await pipeline(createReadStream(part), createWriteStream(file, { flags: "a" }))
  await rm(part)
}

/** Whether a file system does not have what was asked, as SMB, exFAT and FUSE say it of links, modes and flushed folders. */
export const isRefused = (cause: unknown): boolean =>
  /^(EPERM|EACCES|ENOSYS|ENOTSUP|EOPNOTSUPP|EINVAL|EBADF|EISDIR|ENOTTY)$/.test(String(codeOf(cause)))

/** For what makes a file safer, and is left out where the file system does not have it. */
export const unlessRefused = (run: () => Promise<void>): Promise<void> =>
  run().catch((cause) => {
    if (!isRefused(cause)) throw cause
  })

/** Lets nobody else read the file, which exists; a file system without modes decides itself who may. */
export const closeToOthers = async (path: string): Promise<void> => {
  try {
    await chmod(path, 0o600)
  } catch (cause) {
    const isWritable = await access(path, constants.W_OK).then(
      () => true,
      () => false
    )
    if (!isRefused(cause) || !isWritable) throw cause
  }
}

/** Flushes a folder to disk, without which a new or renamed file in it is not durable. */
export const syncFolder = (folder: string): Promise<void> =>
  unlessRefused(async () => {
    await using handle = await open(folder, "r")
    await handle.sync()
  })

/** Writes a file durably and atomically: a crash leaves the old content or the new one. Only the owner can read it. */
export const writeDurably = async (path: string, content: string | Uint8Array): Promise<void> => {
  const part = `${path}.part`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  {
    await using file = await open(part, "w", 0o600)
    await file.writeFile(content)
    await file.sync()
  }
  await rename(part, path)
  await syncFolder(dirname(path))
}

/** Room on disk for a file that is written later. */
export interface Room {
  /** As `writeDurably`, without any more space. */
  readonly write: (content: string) => Promise<void>
  readonly release: () => Promise<void>
}

/**
 * Takes room for a file of up to `bytes` durably. A file system that never overwrites in place, such as Btrfs, needs more
 * space for the content all the same.
 */
export const takeRoom = async (path: string, bytes: number): Promise<Room> => {
  const part = `${path}.part`
  const release = () => rm(part, { force: true })
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  try {
    await using file = await open(part, "w", 0o600)
    // A file system may compress; random bytes take their room.
    await file.writeFile(nodeCrypto().randomBytes(bytes))
    await file.sync()
    await syncFolder(dirname(path))
  } catch (cause) {
    await release().catch(() => {})
    throw cause
  }
  return {
    release,
    write: async (content) => {
      {
        await using file = await open(part, "r+")
        await file.write(content, 0)
        await file.truncate(Buffer.byteLength(content))
        await file.sync()
      }
      await rename(part, path)
      await syncFolder(dirname(path))
    }
  }
}

/** Writes a file atomically, but not durably: a crash may leave any earlier content. Only the owner can read it. */
export const writeAtomically = async (path: string, content: string): Promise<void> => {
  const part = `${path}.part`
  await writeFile(part, content, { mode: 0o600 })
  await rename(part, path)
}

export interface Checksum {
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

export const checksumOfBytes = (bytes: Buffer): Checksum => ({
  bytes: bytes.length,
  sha256: nodeCrypto().hash("sha256", bytes)
})

/** Reads a file once, in chunks. A chunk is valid until `onChunk` has ended. */
export const checksumOf = (path: string, onChunk?: (chunk: Buffer) => unknown): Promise<Checksum> =>
  reading(path, async (file) => {
    const { size } = await file.stat()
    // All chunks share one buffer, because those of a stream become garbage faster than garbage is collected.
    const buffer = Buffer.allocUnsafeSlow(Math.min(Math.max(size, 1), chunkBytes))
    const sha256 = nodeCrypto().createHash("sha256")
    let bytes = 0
    for (;;) {
      const { bytesRead } = await file.read(buffer)
      if (bytesRead === 0) return { bytes, sha256: sha256.digest("hex") }
      const chunk = buffer.subarray(0, bytesRead)
      sha256.update(chunk)
      await onChunk?.(chunk)
      bytes += bytesRead
    }
  })

/** Copies a file durably to a path at which there is none. Only the owner can read it. */
export const copyDurably = async (from: string, to: string): Promise<Checksum> => {
  await using written = await open(to, "wx", 0o600)
  const checksum = await checksumOf(from, (chunk) => written.writeFile(chunk))
  await written.sync()
  return checksum
}

const chunkBytes = 256 * 1024

/** The checksum of a file; `undefined` if it does not exist. */
export const checksumIfPresent = (path: string, onChunk?: (chunk: Buffer) => void): Promise<Checksum | undefined> =>
  checksumOf(path, onChunk).catch(missing)

/** Whether the promise is fulfilled. */
export const succeeds = (run: () => Promise<unknown>): Effect.Effect<boolean> =>
  Effect.isSuccess(Effect.tryPromise(run))

/** For `catch`: what stands for a file or a folder that does not exist. */
export const ifMissing =
  <A>(value: A) =>
  (cause: NodeJS.ErrnoException): A => {
    if (cause.code === "ENOENT") return value
    throw cause
  }

const missing = (cause: NodeJS.ErrnoException): undefined => {
  if (cause.code === "ENOENT" || cause.code === "ENOTDIR") return undefined
  throw cause
}

/** Counts the records of a CSV file (RFC 4180): a line break inside quotes belongs to a cell. */
export class CsvCounter {
  lines = 0
  private quoted = false

  readonly take = (chunk: Buffer): void => {
    for (const byte of chunk)
      if (byte === quote) this.quoted = !this.quoted
      else if (byte === lineFeed && !this.quoted) this.lines++
  }
}
const quote = 0x22
const lineFeed = 0x0a

/** The content; `undefined` without a file. Fails if it has another shape, and does not quote it: it may name people. */
export const readJson = <A>(path: string, schema: Schema.Codec<A, unknown>): Effect.Effect<A | undefined, Failure> => {
  const decode = Schema.decodeUnknownOption(Schema.fromJsonString(schema))
  return onDisk(path, "read", async () => {
    const text = await readFile(path, "utf8").catch(ifMissing(undefined))
    if (text === undefined) return undefined
    const content = decode(text)
    if (Option.isNone(content)) throw new Error("it does not have the content that sluice writes")
    return content.value
  })
}

/**
 * The vault: every page exactly as received, appended durably before anything is done with its cursor.
 * It is the write-ahead log of a run, the raw archive, and what `rebuild` makes the tables from.
 *
 *     vault/000007.ndjson       the open segment; a torn last frame is cut off when the vault is opened
 *     vault/000006.ndjson.zst   sealed, never written again
 */
import { Context, Effect, Layer, type Scope, Semaphore } from "effect"
import { createReadStream, createWriteStream } from "node:fs"
import { pipeline } from "node:stream/promises"
import { constants, createZstdCompress, zstdDecompress } from "node:zlib"
import { type FileHandle, mkdir, open, readFile, readdir, rename, rm, truncate, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { Failure, diskFailure } from "../failure.ts"
import { type Decoded, type Frame, decode, encode } from "./frame.ts"

/** A place in the vault: a segment's number and a byte in its uncompressed form. */
export interface Position {
  readonly segment: number
  readonly offset: number
}
export const beginning: Position = { segment: 1, offset: 0 }

export interface Read {
  readonly frames: ReadonlyArray<Decoded>
  /** Where to read on. Equal to the place read from: there is no more for now. */
  readonly next: Position
}

export class Vault extends Context.Service<
  Vault,
  {
    /** Returns when the frame would survive a power cut. Fails with a Failure when the disk refuses. */
    readonly append: (frame: Frame) => Effect.Effect<void, Failure>
    /** Whole frames from a place on, at least one where there is one, about `bytes` in all. */
    readonly read: (from: Position, bytes: number) => Effect.Effect<Read, Failure>
    /** Compresses the open segment and begins a new one. */
    readonly seal: Effect.Effect<void, Failure>
    /** Bytes appended since the vault was opened. */
    readonly appendedBytes: () => number
    /** The place behind the last durable frame. */
    readonly end: () => Position
  }
>()("sluice/vault/Vault") {
  static readonly layer = (folder: string) => Layer.effect(Vault, openVault(folder))
}

/** A sealed segment is read in one piece, so its size bounds memory. */
const segmentBytesMax = 16 * 1024 * 1024

const openVault = Effect.fn("vault.open")(function* (
  folder: string
): Effect.fn.Return<Vault["Service"], Failure, Scope.Scope> {
  const attempt = <A>(what: string, run: () => Promise<A>) =>
    Effect.tryPromise({ try: run, catch: (cause) => diskFailure(`The vault in ${folder} could not be ${what}`, cause) })
  const writer = yield* Effect.acquireRelease(
    attempt("opened", () => Writer.open(folder)),
    (writer) => Effect.promise(() => writer.close())
  )
  const reading = yield* Semaphore.make(1)
  return Vault.of({
    append: (frame) => attempt("written", () => writer.append(encode(frame))),
    read: (from, bytes) =>
      attempt("read", () => readFrames(folder, from, bytes, writer.durableFrom(from))).pipe(reading.withPermits(1)),
    seal: attempt("sealed", () => writer.seal()),
    appendedBytes: () => writer.appendedBytes,
    end: () => writer.end()
  })
})

/** Appends in groups: what arrives while one write is being synced goes out with the next. */
class Writer {
  appendedBytes = 0
  private readonly folder: string
  private segment: number
  private size: number
  private file: FileHandle
  private pending: Array<Buffer> = []
  private flushing: Promise<void> = Promise.resolve()
  private scheduled: Promise<void> | undefined
  private broken: unknown
  /** Full segments being compressed, beside everything else. */
  private compressing: Promise<void> = Promise.resolve()

  private constructor(folder: string, segment: number, size: number, file: FileHandle) {
    this.folder = folder
    this.segment = segment
    this.size = size
    this.file = file
  }

  static async open(folder: string): Promise<Writer> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const segments = await segmentsIn(folder)
    const last = segments.at(-1)
    const segment = last === undefined ? 1 : last.sealed ? last.number + 1 : last.number
    const path = plainPath(folder, segment)
    const file = await open(path, "a", 0o600)
    const content = await readFile(path)
    const size = framesIn(content, 0, content.length).end
    if (size < content.length) {
      // A crash while writing. The tail is of no use, but it is not ours to throw away.
      await writeFile(`${path}.torn-${size}`, content.subarray(size), { mode: 0o600 })
      await truncate(path, size)
    }
    await syncFolder(folder)
    return new Writer(folder, segment, size, file)
  }

  /** How much may be read from a place on: of the open segment only what is synced. */
  durableFrom(from: Position): number {
    return from.segment === this.segment ? this.size - from.offset : Number.POSITIVE_INFINITY
  }

  end(): Position {
    return { segment: this.segment, offset: this.size }
  }

  append(bytes: Buffer): Promise<void> {
    // After a refused write the tail of the file is unknown; the next opening cuts it off.
    if (this.broken !== undefined) return Promise.reject(this.broken)
    this.pending.push(bytes)
    this.scheduled ??= this.flushing = this.flushing.then(() => this.flush())
    return this.scheduled
  }

  private async flush(): Promise<void> {
    const batch = Buffer.concat(this.pending)
    this.pending = []
    this.scheduled = undefined
    try {
      if (this.broken !== undefined) throw this.broken
      if (this.size >= segmentBytesMax) await this.rotate()
      await this.file.appendFile(batch)
      await this.file.datasync()
      this.size += batch.length
      this.appendedBytes += batch.length
    } catch (cause) {
      this.broken = cause
      throw cause
    }
  }

  async seal(): Promise<void> {
    await this.flushing.catch(() => undefined)
    if (this.size > 0) await this.rotate()
    await this.compressing
  }

  private async rotate(): Promise<void> {
    const [full, number] = [this.file, this.segment]
    this.file = await open(plainPath(this.folder, number + 1), "a", 0o600)
    this.segment = number + 1
    this.size = 0
    await full.close()
    this.compressing = this.compressing.then(() => compress(this.folder, number))
    // Told where it is waited for: in seal and close. The plain segment stays until it is compressed.
    this.compressing.catch(() => undefined)
  }

  async close(): Promise<void> {
    await this.flushing.catch(() => undefined)
    await this.compressing.catch(() => undefined)
    await this.file.close()
  }
}

const plainPath = (folder: string, segment: number) => join(folder, `${String(segment).padStart(6, "0")}.ndjson`)
const sealedPath = (folder: string, segment: number) => `${plainPath(folder, segment)}.zst`

/** The compressed copy is complete and synced before the plain one goes, so a crash leaves at least one. */
const compress = async (folder: string, segment: number): Promise<void> => {
  const temporary = `${sealedPath(folder, segment)}.part`
  await pipeline(
    createReadStream(plainPath(folder, segment)),
    createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
    createWriteStream(temporary, { mode: 0o600, flush: true })
  )
  await rename(temporary, sealedPath(folder, segment))
  await syncFolder(folder)
  await rm(plainPath(folder, segment))
}

const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, "r")
  await handle.sync()
  await handle.close()
}

const segmentsIn = async (folder: string) => {
  const files = await readdir(folder)
  const sealed = new Set(files.filter((file) => file.endsWith(".ndjson.zst")).map((file) => Number.parseInt(file, 10)))
  const plain = files.filter((file) => file.endsWith(".ndjson")).map((file) => Number.parseInt(file, 10))
  for (const number of plain) if (sealed.has(number)) await rm(plainPath(folder, number))
  return [...new Set([...sealed, ...plain])]
    .sort((a, b) => a - b)
    .map((number) => ({ number, sealed: sealed.has(number) }))
}

const readFrames = async (folder: string, from: Position, bytes: number, durable: number): Promise<Read> => {
  if (durable <= 0) return { frames: [], next: from }
  const plain = await readSlice(plainPath(folder, from.segment), from.offset, Math.min(bytes, durable))
  const sealed = plain ? undefined : await unpacked(sealedPath(folder, from.segment))
  if (!plain && !sealed) return { frames: [], next: from }
  const { frames, end } = sealed ? framesIn(sealed, from.offset, bytes) : framesIn(plain!, 0, bytes)
  // A frame larger than the slice: read again with room for it.
  if (plain && frames.length === 0 && plain.length === bytes) return readFrames(folder, from, bytes * 4, durable)
  const next = { segment: from.segment, offset: sealed ? end : from.offset + end }
  const whole = sealed ? end === sealed.length : frames.length > 0 || plain!.length === 0
  if (frames.length === 0 && !whole) throw new Error(`segment ${from.segment} is damaged at byte ${from.offset}`)
  return { frames, next: sealed && frames.length === 0 ? { segment: from.segment + 1, offset: 0 } : next }
}

const readSlice = async (path: string, offset: number, bytes: number): Promise<Buffer | undefined> => {
  const file = await open(path, "r").catch(missing)
  if (!file) return undefined
  try {
    if (slice.length < bytes) slice = Buffer.allocUnsafeSlow(bytes)
    const { bytesRead } = await file.read(slice, 0, bytes, offset)
    return slice.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
/** Used again by every read: a new one each time is garbage faster than it is collected. Reads take turns. */
let slice = Buffer.alloc(0)

const unpacked = async (path: string): Promise<Buffer | undefined> => {
  const packed = await readFile(path).catch(missing)
  return packed && promisify(zstdDecompress)(packed, { chunkSize: 4 * 1024 * 1024 })
}

const missing = (cause: NodeJS.ErrnoException): undefined => {
  if (cause.code === "ENOENT") return undefined
  throw cause
}

const framesIn = (segment: Buffer, start: number, bytes: number) => {
  const frames: Array<Decoded> = []
  let end = start
  while (end - start < bytes) {
    const frame = decode(segment, end)
    if (!frame) break
    frames.push(frame)
    end = frame.end
  }
  return { frames, end }
}

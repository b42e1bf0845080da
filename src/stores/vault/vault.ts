/**
 * The vault stores every page exactly as received, durably, before its cursor is used. It is the write-ahead log of a run,
 * the archive of responses, and the source from which `rebuild` makes the tables.
 *
 *     vault/000007.ndjson       the open segment; opening the vault removes a torn last frame
 *     vault/000006.ndjson.zst   sealed, never written again
 */
import { type Limit, Limits } from "../../values/limits.ts"
import { Context, Effect, Layer, Semaphore } from "effect"
import { type Failure, type FileOperation, failure, fileFailure } from "../../values/failure.ts"
import { Signal } from "../../values/signal.ts"
import { Damage, Older, damagedAt, framesIn, readPlain, readSealed } from "./segments.ts"
import { type Frame, Decoded, bodyIn, encode } from "./frame.ts"
import { type Position, isBefore } from "./position.ts"
import { Writer } from "./writer.ts"

export interface Read {
  readonly frames: ReadonlyArray<Decoded>
  /** Where to continue. */
  readonly next: Position
  /** Bytes of the frames in the vault; 0 if there are none at the position, because its segment or the vault ends. */
  readonly bytes: number
}

export class Vault extends Context.Service<
  Vault,
  {
    /** Returns when the frame is durable. Fails if it cannot be written, and from then on always. */
    readonly append: (frame: Frame) => Effect.Effect<void, Failure>
    /**
     * Frames from a position on, at least one if there is one: about `bytes`, or up to a few megabytes if they are still in
     * memory. Fails if the vault is damaged.
     */
    readonly read: (from: Position, bytes: number) => Effect.Effect<Read, Failure>
    /** Compresses the open segment and starts a new one. */
    readonly seal: Effect.Effect<void, Failure>
    /** Bytes appended since the vault was opened. */
    readonly appendedBytes: () => number
    /** The position after the last durable frame. */
    readonly end: () => Position
    /** Notified of every frame. */
    readonly grown: Signal
  }
>()("sluice/vault/Vault") {
  /** `loaded`: the position up to which the warehouse has loaded the vault; without it, everything counts as loaded. */
  static readonly layer = (folder: string, loaded?: Position) => Layer.effect(Vault, openVault(folder, loaded))
}

const openVault = Effect.fn("vault.open")(function* (folder: string, loaded: Position | undefined) {
  const attempt = <A>(operation: FileOperation, run: () => Promise<A>) =>
    Effect.tryPromise({
      try: run,
      catch: (cause) =>
        cause instanceof Damage
          ? failure({ _tag: "VaultDamaged", folder, detail: cause.message })
          : cause instanceof Older
            ? failure({ _tag: "VaultOlder", folder })
            : fileFailure(folder, operation, cause)
    })
  const limits = (yield* Limits).vault
  const writer = yield* Effect.acquireRelease(
    attempt("opened", () => Writer.open(folder, limits.segmentBytes, loaded)),
    (writer) => Effect.promise(() => writer.close())
  )
  const readLock = yield* Semaphore.make(1)
  const segments = new Segments(folder)
  const recentFrames = new RecentFrames(limits.recentBytes)
  const grown = new Signal()
  return Vault.of({
    append: (frame) =>
      attempt("written", async () => {
        const bytes = encode(frame)
        const begin = await writer.append(bytes)
        recentFrames.push(begin, new Decoded(frame.entry, bodyIn(bytes), begin.offset + bytes.length))
        grown.notify()
      }),
    read: Effect.fnUntraced(function* (from, bytes) {
      const frames = recentFrames.take(from)
      const end = frames.at(-1)?.end
      return end === undefined
        ? yield* attempt("read", () => readFrames(from, bytes, writer.end(), segments))
        : { frames, next: { segment: from.segment, offset: end }, bytes: end - from.offset }
    }, readLock.withPermits(1)),
    seal: attempt("written", () => writer.seal()),
    appendedBytes: () => writer.appendedBytes,
    end: () => writer.end(),
    grown
  })
})

/**
 * `end`: the end of the synced bytes, which limits reading in the open segment. After the last frame of a segment, reading
 * continues with the next segment.
 */
const readFrames = async (from: Position, bytes: number, end: Position, segments: Segments): Promise<Read> => {
  const isOpen = from.segment >= end.segment
  const durable = isOpen ? end.offset - from.offset : Number.POSITIVE_INFINITY
  if (durable <= 0) return { frames: [], next: from, bytes: 0 }
  const plain = await segments.plain(from.segment, from.offset, Math.min(bytes, durable))
  const segment = plain ?? (await segments.sealed(from.segment))
  if (!segment) throw new Damage(`segment ${from.segment} is missing`)
  const start = plain ? 0 : from.offset
  const { frames, end: read } = framesIn(segment, start, bytes)
  const before = from.offset - start
  if (frames.length > 0)
    return {
      frames: frames.map(({ entry, bytes, end }) => new Decoded(entry, bytes, before + end)),
      next: { segment: from.segment, offset: before + read },
      bytes: read - start
    }
  // The frame is larger than the slice, so read a larger slice.
  if (plain && plain.length === bytes) return readFrames(from, bytes * 4, end, segments)
  if (segment.length > start) throw damagedAt(from.segment, from.offset)
  return readFrames({ segment: from.segment + 1, offset: 0 }, bytes, end, segments)
}

/** Reads sealed segments. The last one is cached, because it is read in slices. */
class Segments {
  readonly folder: string
  private slice = Buffer.alloc(0)
  private last: { readonly number: number; readonly content: Buffer } | undefined

  constructor(folder: string) {
    this.folder = folder
  }

  /** Bytes of a plain segment, valid until the next call; `undefined` if there is no such file. */
  async plain(number: number, offset: number, bytes: number): Promise<Buffer | undefined> {
    // New buffers would become garbage faster than garbage is collected.
    if (this.slice.length < bytes) this.slice = Buffer.allocUnsafeSlow(bytes)
    return readPlain(this.folder, number, offset, this.slice.subarray(0, bytes))
  }

  async sealed(number: number): Promise<Buffer | undefined> {
    if (this.last?.number === number) return this.last.content
    const content = await readSealed(this.folder, number).catch((cause: NodeJS.ErrnoException) => {
      throw cause.code?.startsWith("Z") ? new Damage(`segment ${number} cannot be unpacked: ${cause.message}`) : cause
    })
    this.last = content && { number, content }
    return content
  }
}

/** Keeps the newest frames in memory, so that the load need not read them again. */
class RecentFrames {
  /** Oldest first. */
  private frames: Array<RecentFrame> = []
  private bytes = 0
  private readonly bytesMax: Limit

  constructor(bytesMax: Limit) {
    this.bytesMax = bytesMax
  }

  push(begin: Position, frame: Decoded): void {
    this.frames.push({ begin, frame })
    this.bytes += sizeOf({ begin, frame })
    while (this.bytesMax.isExceededBy(this.bytes)) this.bytes -= sizeOf(this.frames.shift()!)
  }

  /** Returns the consecutive frames from a position on, and forgets them and all earlier ones. */
  take({ segment, offset }: Position): ReadonlyArray<Decoded> {
    const frames: Array<Decoded> = []
    let end = offset
    for (const { begin, frame } of this.frames)
      if (begin.segment === segment && begin.offset === end) {
        frames.push(frame)
        end = frame.end
      }
    this.frames = this.frames.filter(({ begin }) => !isBefore(begin, { segment, offset: end }))
    this.bytes = this.frames.reduce((sum, recent) => sum + sizeOf(recent), 0)
    return frames
  }
}

interface RecentFrame {
  readonly begin: Position
  readonly frame: Decoded
}
const sizeOf = ({ begin, frame }: RecentFrame) => frame.end - begin.offset

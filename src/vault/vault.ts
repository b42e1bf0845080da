/**
 * The vault: every page exactly as received, appended durably before anything is done with its cursor.
 * It is the write-ahead log of a run, the raw archive, and what `rebuild` makes the tables from.
 *
 *     vault/000007.ndjson       the open segment; a torn last frame is cut off when the vault is opened
 *     vault/000006.ndjson.zst   sealed, never written again
 */
import { Context, Effect, Layer, type Scope, Semaphore } from "effect"
import { type Failure, type FileOperation, failure, fileFailure } from "../failure.ts"
import { Damage, damagedAt } from "./damage.ts"
import { type Decoded, type Frame, encode } from "./frame.ts"
import type { Position } from "./position.ts"
import { framesIn, readPlain, readSealed } from "./segments.ts"
import { RecentFrames } from "./recent-frames.ts"
import { Writer } from "./writer.ts"

export interface Read {
  readonly frames: ReadonlyArray<Decoded>
  /** Where to read on. */
  readonly next: Position
  /** What they take of the vault; 0 where there is no more for now. */
  readonly bytes: number
}

export class Vault extends Context.Service<
  Vault,
  {
    /** Returns when the frame would survive a power cut. Fails with a Failure when the disk refuses. */
    readonly append: (frame: Frame) => Effect.Effect<void, Failure>
    /** Whole frames from a place on, at least one where there is one, `bytes` or a few megabytes in all. */
    readonly read: (from: Position, bytes: number) => Effect.Effect<Read, Failure>
    /** Compresses the open segment and begins a new one. */
    readonly seal: Effect.Effect<void, Failure>
    /** Bytes appended since the vault was opened. */
    readonly appendedBytes: () => number
    /** The place behind the last durable frame. */
    readonly end: () => Position
  }
>()("sluice/vault/Vault") {
  /** `loaded`: the place up to which the warehouse has loaded the vault; without it, everything counts as loaded. */
  static readonly layer = (folder: string, loaded?: Position) => Layer.effect(Vault, openVault(folder, loaded))
}

const openVault = Effect.fn("vault.open")(function* (
  folder: string,
  loaded: Position | undefined
): Effect.fn.Return<Vault["Service"], Failure, Scope.Scope> {
  const attempt = <A>(operation: FileOperation, run: () => Promise<A>) =>
    Effect.tryPromise({
      try: run,
      catch: (cause) =>
        cause instanceof Damage
          ? failure({ _tag: "VaultDamaged", folder, detail: cause.message })
          : fileFailure(folder, operation, cause)
    })
  const writer = yield* Effect.acquireRelease(
    attempt("opened", () => Writer.open(folder, loaded)),
    (writer) => Effect.promise(() => writer.close())
  )
  const reading = yield* Semaphore.make(1)
  const segments = new Segments(folder)
  const tail = new RecentFrames()
  return Vault.of({
    append: (frame) =>
      attempt("written", async () => {
        const bytes = encode(frame)
        const begin = await writer.append(bytes)
        tail.push(begin, { ...frame, end: begin.offset + bytes.length })
      }),
    read: Effect.fnUntraced(function* (from, bytes) {
      const frames = tail.take(from)
      const end = frames.at(-1)?.end
      return end === undefined
        ? yield* attempt("read", () => readFrames(from, bytes, writer.end(), segments))
        : { frames, next: { segment: from.segment, offset: end }, bytes: end - from.offset }
    }, reading.withPermits(1)),
    seal: attempt("written", () => writer.seal()),
    appendedBytes: () => writer.appendedBytes,
    end: () => writer.end()
  })
})

/**
 * `end`: what is synced; of the open segment no more may be read. Behind the last frame of a segment comes the first of
 * the next one.
 */
const readFrames = async (from: Position, bytes: number, end: Position, segments: Segments): Promise<Read> => {
  const open = from.segment >= end.segment
  const durable = open ? end.offset - from.offset : Number.POSITIVE_INFINITY
  if (durable <= 0) return { frames: [], next: from, bytes: 0 }
  const plain = await readPlain(segments.folder, from.segment, from.offset, Math.min(bytes, durable))
  const segment = plain ?? (await segments.sealed(from.segment))
  if (!segment) throw new Damage(`segment ${from.segment} is missing`)
  const start = plain ? 0 : from.offset
  const { frames, end: read } = framesIn(segment, start, bytes)
  const before = from.offset - start
  if (frames.length > 0)
    return {
      frames: frames.map((frame) => ({ ...frame, end: before + frame.end })),
      next: { segment: from.segment, offset: before + read },
      bytes: read - start
    }
  // A frame larger than the slice: read again with room for it.
  if (plain && plain.length === bytes) return readFrames(from, bytes * 4, end, segments)
  if (segment.length > start) throw damagedAt(from.segment, from.offset)
  return readFrames({ segment: from.segment + 1, offset: 0 }, bytes, end, segments)
}

/** Sealed segments, of which the last one read is kept: it is asked for piece by piece. */
class Segments {
  readonly folder: string
  private last: { readonly number: number; readonly content: Buffer } | undefined

  constructor(folder: string) {
    this.folder = folder
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

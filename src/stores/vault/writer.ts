/** Appends to the vault: owns the open segment, and seals segments that are full. */
import type { Limit } from "../../values/limits.ts"
import { type FileHandle, mkdir, open, readFile, truncate, writeFile } from "node:fs/promises"
import { ifMissing, syncFolder } from "../../output/files.ts"
import { Older, compress, damagedAt, plainPath, readSealed, segmentsIn } from "./segments.ts"
import { isOlder, isTorn, validUntil } from "./frame.ts"
import { type Position, isBefore } from "./position.ts"

/** Groups writes: frames that arrive during a flush to disk are written together by the next one. */
export class Writer {
  appendedBytes = 0
  private readonly folder: string
  private readonly segmentBytes: Limit
  private segment: number
  private size: number
  private file: FileHandle
  private pending: Array<Buffer> = []
  private pendingBytes = 0
  private flushing: Promise<unknown> = Promise.resolve()
  private scheduled: Promise<Position> | undefined
  private writeError: unknown
  /** Ends when all full segments are compressed, in the background. */
  private compressing: Promise<void> = Promise.resolve()

  private constructor(folder: string, segmentBytes: Limit, segment: number, size: number, file: FileHandle) {
    this.folder = folder
    this.segmentBytes = segmentBytes
    this.segment = segment
    this.size = size
    this.file = file
  }

  /** `loaded`: the position up to which the warehouse has loaded the vault; without it, everything counts as loaded. */
  static async open(folder: string, segmentBytes: Limit, loaded?: Position): Promise<Writer> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const { all, plain } = await segmentsIn(folder)
    const last = all.at(-1) ?? 1
    const segment = all.length === 0 || plain.includes(last) ? last : last + 1
    // The warehouse has the format of a vault that is loaded.
    const [first] = all
    const isLoadedFrom = first === undefined || (loaded && isBefore({ segment: first, offset: 0 }, loaded))
    if (!isLoadedFrom && isOlder(await contentOf(folder, first, plain))) throw new Older()
    // A crash may have prevented the compression of a full segment.
    for (const number of plain) if (number !== segment) await compress(folder, number)
    const path = plainPath(folder, segment)
    const content = await readFile(path).catch(ifMissing(Buffer.alloc(0)))
    const size = validUntil(content)
    if (size < content.length) {
      // Valid frames may follow damage, so nothing but a torn write is removed.
      const isLoaded = loaded === undefined || isBefore({ segment, offset: size }, loaded)
      if (!isTorn(content, size, isLoaded)) throw damagedAt(segment, size)
      // The torn bytes have no use for sluice, but they are the user's data, so a copy is kept.
      await writeFile(`${path}.torn-${size}`, content.subarray(size), { mode: 0o600 })
      await truncate(path, size)
    }
    const file = await open(path, "a", 0o600)
    await syncFolder(folder)
    return new Writer(folder, segmentBytes, segment, size, file)
  }

  end(): Position {
    return { segment: this.segment, offset: this.size }
  }

  /** Returns the position of the bytes once they are durable. */
  async append(bytes: Buffer): Promise<Position> {
    // After a failed write the end of the file is unknown; the next opening removes what is torn.
    if (this.writeError !== undefined) throw this.writeError
    const before = this.pendingBytes
    this.pending.push(bytes)
    this.pendingBytes += bytes.length
    this.scheduled ??= this.flushing.then(() => this.flush())
    this.flushing = this.scheduled
    const { segment, offset } = await this.scheduled
    return { segment, offset: offset + before }
  }

  /** Writes the pending bytes, and returns their position. */
  private async flush(): Promise<Position> {
    const batch = Buffer.concat(this.pending)
    this.pending = []
    this.pendingBytes = 0
    this.scheduled = undefined
    try {
      if (this.writeError !== undefined) throw this.writeError
      if (this.segmentBytes.isReachedBy(this.size)) await this.rotate()
      await this.file.appendFile(batch)
      await this.file.datasync()
      const start = this.end()
      this.size += batch.length
      this.appendedBytes += batch.length
      return start
    } catch (cause) {
      this.writeError = cause
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
    // What is synced in a file that is not in its folder yet is lost with the power.
    await syncFolder(this.folder)
    this.segment = number + 1
    this.size = 0
    await full.close()
    this.compressing = this.compressing.then(() => compress(this.folder, number))
    // seal() reports the error; close() does not, because the plain segment stays, and the next opening compresses it.
    this.compressing.catch(() => undefined)
  }

  async close(): Promise<void> {
    await this.flushing.catch(() => undefined)
    await this.compressing.catch(() => undefined)
    await this.file.close()
  }
}

/** What cannot be unpacked is damaged, which reading says. */
const contentOf = async (folder: string, segment: number, plain: ReadonlyArray<number>): Promise<Buffer> =>
  plain.includes(segment)
    ? readFile(plainPath(folder, segment))
    : ((await readSealed(folder, segment).catch(() => undefined)) ?? Buffer.alloc(0))

/**
 * The last frames appended, as long as the load keeps up: what was just written need not be read, checked and parsed
 * again. A load that lags finds the frames on disk.
 */
import type { Decoded } from "./frame.ts"
import { type Position, isBefore } from "./position.ts"

interface Kept {
  readonly at: Position
  readonly frame: Decoded
  readonly bytes: number
}

/** Of bodies; parsed they take about five times that in memory. */
const bytesMax = 12 * 1024 * 1024

export class Tail {
  private frames: Array<Kept> = []
  private bytes = 0

  /** In the order of the vault. */
  push(at: Position, frame: Decoded): void {
    const bytes = frame.end - at.offset
    if (this.bytes + bytes > bytesMax) this.frames = []
    this.frames.push({ at, frame, bytes })
    this.bytes = this.frames.length === 1 ? bytes : this.bytes + bytes
  }

  /** Frames from a place on, about `bytes` of them; none where the place is not among what is kept. Forgets earlier ones. */
  read(from: Position, bytes: number): ReadonlyArray<Decoded> {
    const later = this.frames.findIndex(({ at }) => !isBefore(at, from))
    this.frames.splice(0, later < 0 ? this.frames.length : later)
    this.bytes = this.frames.reduce((sum, kept) => sum + kept.bytes, 0)
    const found: Array<Decoded> = []
    let { offset } = from
    for (const { at, frame } of this.frames) {
      if (at.segment !== from.segment || at.offset !== offset || offset - from.offset >= bytes) break
      found.push(frame)
      offset = frame.end
    }
    return found
  }
}

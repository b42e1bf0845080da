/** Keeps the newest frames in memory, so that the load need not read them again. */
import type { Decoded } from "./frame.ts"
import { type Position, isBefore } from "./position.ts"

const bytesMax = 4 * 1024 * 1024

export class RecentFrames {
  /** Oldest first. */
  private frames: Array<RecentFrame> = []
  private bytes = 0

  push(begin: Position, frame: Decoded): void {
    this.frames.push({ begin, frame })
    this.bytes += sizeOf({ begin, frame })
    while (this.bytes > bytesMax) this.bytes -= sizeOf(this.frames.shift()!)
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

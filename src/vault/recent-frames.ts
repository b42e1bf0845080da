/** The frames appended last, kept in memory: the load that follows need not read and parse them again. */
import type { Decoded } from "./frame.ts"
import { type Position, isBefore } from "./position.ts"

/** Of the vault; as values they take some ten times that. */
const bytesMax = 4 * 1024 * 1024

export class RecentFrames {
  /** Oldest first. */
  private kept: Array<Kept> = []
  private bytes = 0

  push(begin: Position, frame: Decoded): void {
    this.kept.push({ begin, frame })
    this.bytes += sizeOf({ begin, frame })
    while (this.bytes > bytesMax) this.bytes -= sizeOf(this.kept.shift()!)
  }

  /** The frames from a place on, as far as they are here; from then on neither they nor earlier ones are. */
  take({ segment, offset }: Position): ReadonlyArray<Decoded> {
    const frames: Array<Decoded> = []
    let end = offset
    for (const { begin, frame } of this.kept)
      if (begin.segment === segment && begin.offset === end) {
        frames.push(frame)
        end = frame.end
      }
    this.kept = this.kept.filter(({ begin }) => !isBefore(begin, { segment, offset: end }))
    this.bytes = this.kept.reduce((sum, one) => sum + sizeOf(one), 0)
    return frames
  }
}

interface Kept {
  readonly begin: Position
  readonly frame: Decoded
}
const sizeOf = ({ begin, frame }: Kept) => frame.end - begin.offset

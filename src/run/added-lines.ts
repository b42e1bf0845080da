/** The lines that a process adds to a file, read a part at a time: neither a file nor a line of any length is held as a whole. */
import { type FileHandle, open } from "node:fs/promises"

const partBytes = 65_536
/** Of a longer line, this much is kept. A result of it has its exit code at its beginning. */
const lineBytesMax = 4_000_000

export class AddedLines {
  readonly #path: string
  #position = 0
  #line: Array<Buffer> = []
  #lineBytes = 0
  /** The first line was begun before what is read, so it is none. */
  #skips = false
  /** `tailBytes`: of what was added since the last reading, only about so much of its end. */
  readonly #tailBytes: number
  constructor(path: string, tailBytes = Infinity) {
    this.#path = path
    this.#tailBytes = tailBytes
  }

  /** Calls `onLine` with each line that ended since the last time. `isCut`: its end is missing. Not twice at once. */
  async read(onLine: (line: string, isCut: boolean) => void): Promise<void> {
    let opened: FileHandle | undefined
    try {
      opened = await open(this.#path)
    } catch {
      return
    }
    await using file = opened
    const { size } = await file.stat()
    const tail = size - this.#tailBytes
    if (tail > this.#position) {
      this.#position = tail
      this.#skips = true
    }
    const buffer = Buffer.allocUnsafe(partBytes)
    // What is added meanwhile is read the next time: a process may write faster than this.
    while (this.#position < size) {
      const { bytesRead } = await file.read(buffer, 0, partBytes, this.#position)
      if (bytesRead === 0) return
      this.#position += bytesRead
      let from = 0
      for (let end: number; (end = buffer.indexOf(10, from)) >= 0 && end < bytesRead; from = end + 1) {
        this.#keep(buffer.subarray(from, end))
        if (!this.#skips) onLine(Buffer.concat(this.#line).toString(), this.#lineBytes > lineBytesMax)
        this.#skips = false
        this.#line = []
        this.#lineBytes = 0
      }
      this.#keep(buffer.subarray(from, bytesRead))
    }
  }

  #keep(part: Buffer): void {
    const left = lineBytesMax - this.#lineBytes
    if (left > 0 && part.length > 0) this.#line.push(Buffer.from(part.subarray(0, left)))
    this.#lineBytes += part.length
  }
}

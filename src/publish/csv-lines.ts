/** Lines of a CSV file, as bytes: a line end inside quotes does not end a line. */
import type { FileHandle } from "node:fs/promises"

export const [quote, comma, lineFeed, carriageReturn] = [0x22, 0x2c, 0x0a, 0x0d]
const chunkBytes = 256 * 1024

/** Some lines at a time, with their line ends; they are valid until the next lines are read. */
export async function* linesOf(file: FileHandle): AsyncGenerator<ReadonlyArray<Buffer>> {
  let buffer = Buffer.allocUnsafeSlow(chunkBytes)
  /** Bytes at the beginning of the buffer that belong to an incomplete line. */
  let rest = 0
  for (;;) {
    // A line that is longer than the buffer.
    if (rest === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2)
    const { bytesRead } = await file.read(buffer, rest, buffer.length - rest)
    if (bytesRead === 0) return
    const end = rest + bytesRead
    const lines: Array<Buffer> = []
    let begin = 0
    let isQuoted = false
    for (let at = 0; at < end; at++) {
      const byte = buffer[at]!
      if (byte === quote) isQuoted = !isQuoted
      else if (byte === lineFeed && !isQuoted) {
        lines.push(buffer.subarray(begin, at + 1))
        begin = at + 1
      }
    }
    if (lines.length > 0) yield lines
    buffer.copyWithin(0, begin, end)
    rest = end - begin
  }
}

/** Collects bytes and writes many at a time. */
export class BufferedFile {
  private readonly file: FileHandle
  private pieces: Array<Buffer> = []
  private bytes = 0

  constructor(file: FileHandle) {
    this.file = file
  }

  /** The pieces may be changed after the call. */
  async append(...pieces: ReadonlyArray<Buffer>): Promise<void> {
    const copy = Buffer.concat(pieces)
    this.pieces.push(copy)
    this.bytes += copy.length
    if (this.bytes >= chunkBytes) await this.flush()
  }

  async flush(): Promise<void> {
    const bytes = Buffer.concat(this.pieces)
    for (let written = 0; written < bytes.length;)
      written += (await this.file.write(bytes, written, bytes.length - written)).bytesWritten
    this.pieces = []
    this.bytes = 0
  }
}

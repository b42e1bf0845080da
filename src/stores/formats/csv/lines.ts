/** Lines of a CSV file, as bytes: a line end inside quotes does not end a line. */
import type { FileHandle } from "node:fs/promises"

export const [quote, comma, lineFeed, carriageReturn] = [0x22, 0x2c, 0x0a, 0x0d]
const chunkBytes = 256 * 1024

/** Some lines of a file, one after the other. */
export interface Lines {
  readonly bytes: Buffer
  /** Where each line ends, with its line end; the first begins at 0. */
  readonly ends: ReadonlyArray<number>
}

/** The lines are valid until the next ones are read. */
export async function* linesOf(file: FileHandle): AsyncGenerator<Lines> {
  let buffer = Buffer.allocUnsafeSlow(chunkBytes)
  /** Bytes at the beginning of the buffer that belong to an incomplete line. */
  let rest = 0
  for (;;) {
    // A line that is longer than the buffer.
    if (rest === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2)
    const { bytesRead } = await file.read(buffer, rest, buffer.length - rest)
    if (bytesRead === 0) return
    const size = rest + bytesRead
    const ends: Array<number> = []
    let isQuoted = false
    for (let at = 0; at < size; at++) {
      const byte = buffer[at]!
      if (byte === quote) isQuoted = !isQuoted
      else if (byte === lineFeed && !isQuoted) ends.push(at + 1)
    }
    const end = ends.at(-1) ?? 0
    if (end > 0) yield { bytes: buffer, ends }
    buffer.copyWithin(0, end, size)
    rest = size - end
  }
}

/** Collects bytes and writes many at a time. */
export class BufferedFile {
  private readonly file: FileHandle
  private readonly buffer = Buffer.allocUnsafeSlow(chunkBytes)
  private used = 0

  constructor(file: FileHandle) {
    this.file = file
  }

  /** The bytes may be changed after the call. */
  async append(bytes: Buffer): Promise<void> {
    if (this.used + bytes.length > chunkBytes) await this.flush()
    if (bytes.length > chunkBytes) return this.write(bytes)
    this.used += bytes.copy(this.buffer, this.used)
  }

  async flush(): Promise<void> {
    await this.write(this.buffer.subarray(0, this.used))
    this.used = 0
  }

  private async write(bytes: Buffer): Promise<void> {
    for (let written = 0; written < bytes.length;)
      written += (await this.file.write(bytes, written, bytes.length - written)).bytesWritten
  }
}

/**
 * Buffers lines for a file, few of them at a time. They are bytes, because a string that grows line by line is copied once
 * more to be written, and both copies are garbage.
 */
import { literal } from "../../stores/warehouse/sql.ts"
import { ByteBuffer } from "./normalise/byte-buffer.ts"

const none = Buffer.alloc(0)

export class NdjsonFile extends ByteBuffer {
  length = 0
  private start = 0
  /** Bytes of the longest line. */
  longest = 0
  readonly path: string

  constructor(path: string) {
    super(none)
    this.path = path
  }

  /** Adds a line. */
  push(line: string): void {
    this.begin(line)
    this.finish()
  }

  /** Begins a line, which `finish` ends. */
  begin(text: string): void {
    this.start = this.end
    this.end += this.room(3 * text.length).write(text, this.end)
  }

  /** Adds bytes to the line. */
  put(bytes: Uint8Array, from: number, to: number): void {
    const own = this.room(to - from)
    // A call costs more than a few bytes.
    if (to - from > 64) own.set(bytes.subarray(from, to), this.end)
    else for (let at = from, end = this.end; at < to; at++) own[end++] = bytes[at]!
    this.end += to - from
  }

  finish(): void {
    this.room(1)[this.end++] = lineFeed
    this.length++
    this.longest = Math.max(this.longest, this.end - this.start)
  }

  /** Returns and clears the lines if they are worth a write or if these are the last; the next line overwrites them. */
  take(isLast: boolean): Buffer {
    if (!isLast && this.end < bytesMin) return none
    const lines = this.bytes.subarray(0, this.end)
    this.end = 0
    if (isLast) this.bytes = none
    return lines
  }
}

const lineFeed = 10
const bytesMin = 256 * 1024

/** FROM clause that reads the files. Of several, each line has the path of its own in `_file`. */
export const readNdjson = (
  files: NdjsonFile | readonly [NdjsonFile, ...Array<NdjsonFile>],
  columns: string
): string => {
  const all = [files].flat()
  // DuckDB sizes its buffers by this maximum.
  const size = Math.max(1024 * 1024, ...all.map(({ longest }) => longest * 4))
  const origin = all.length === 1 ? "" : ", filename = '_file'"
  return `read_json([${all.map(({ path }) => literal(path)).join(", ")}], format = 'newline_delimited', maximum_object_size = ${size}, columns = {${columns}}${origin})`
}

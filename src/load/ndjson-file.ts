/** Buffers lines for a file, few of them at a time. */
import { literal } from "../warehouse/sql.ts"

export class NdjsonFile {
  length = 0
  /** Characters of the longest line. */
  longest = 0
  readonly path: string
  private buffered = ""

  constructor(path: string) {
    this.path = path
  }

  push(line: string): void {
    this.length++
    this.longest = Math.max(this.longest, line.length)
    this.buffered += `${line}\n`
  }

  /** Returns and clears the buffered lines if they are worth a write or if these are the last. */
  take(isLast: boolean): string {
    if (!isLast && this.buffered.length < charactersMin) return ""
    const text = this.buffered
    this.buffered = ""
    return text
  }
}

const charactersMin = 256 * 1024

/** FROM clause that reads the file. */
export const readNdjson = ({ path, longest }: NdjsonFile, columns: string): string => {
  // DuckDB sizes its buffers by this maximum.
  const size = Math.max(1024 * 1024, longest * 4)
  return `read_json(${literal(path)}, format = 'newline_delimited', maximum_object_size = ${size}, columns = {${columns}})`
}

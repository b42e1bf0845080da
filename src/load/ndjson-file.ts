/** Lines on their way to a file, of which few are in memory. */
import { literal } from "../warehouse/sql.ts"

export class NdjsonFile {
  length = 0
  /** Characters of the longest. */
  longest = 0
  readonly path: string
  private waiting = ""

  constructor(path: string) {
    this.path = path
  }

  push(line: string): void {
    this.length++
    this.longest = Math.max(this.longest, line.length)
    this.waiting += `${line}\n`
  }

  /** What waits, if it is worth a writing or the last. */
  take(last: boolean): string {
    if (!last && this.waiting.length < charactersMin) return ""
    const text = this.waiting
    this.waiting = ""
    return text
  }
}

const charactersMin = 256 * 1024

/** FROM clause that reads them. */
export const readNdjson = ({ path, longest }: NdjsonFile, columns: string): string => {
  // DuckDB sizes its buffers by the longest line it is told to expect.
  const size = Math.max(1024 * 1024, longest * 4)
  return `read_json(${literal(path)}, format = 'newline_delimited', maximum_object_size = ${size}, columns = {${columns}})`
}

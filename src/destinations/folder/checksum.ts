/** Reads files of any size once, in chunks. */
import { type Checksum, checksumOf } from "../../output/files.ts"

/** The checksum of a file; `undefined` if it does not exist. */
export const checksumIfPresent = (path: string, onChunk?: (chunk: Buffer) => void): Promise<Checksum | undefined> =>
  checksumOf(path, onChunk).catch(missing)

const missing = (cause: NodeJS.ErrnoException): undefined => {
  if (cause.code === "ENOENT" || cause.code === "ENOTDIR") return undefined
  throw cause
}

/** Counts the records of a CSV file (RFC 4180): a line break inside quotes belongs to a cell. */
export class CsvCounter {
  lines = 0
  private quoted = false

  readonly take = (chunk: Buffer): void => {
    for (const byte of chunk)
      if (byte === quote) this.quoted = !this.quoted
      else if (byte === lineFeed && !this.quoted) this.lines++
  }
}
const quote = 0x22
const lineFeed = 0x0a

/** Files of any size, read once and a piece at a time. */
import { type Checksum, checksumOf } from "../io/files.ts"

/** `undefined` where there is no such file. */
export const checksumIfThere = (path: string, onPiece?: (piece: Buffer) => void): Promise<Checksum | undefined> =>
  checksumOf(path, onPiece).catch(missing)

const missing = (cause: NodeJS.ErrnoException): undefined => {
  if (cause.code === "ENOENT" || cause.code === "ENOTDIR") return undefined
  throw cause
}

/** Counts the records of a CSV file, RFC 4180: a line end inside quotes is part of a cell. */
export class CsvCounter {
  lines = 0
  private quoted = false

  readonly take = (piece: Buffer): void => {
    for (const byte of piece)
      if (byte === quote) this.quoted = !this.quoted
      else if (byte === lineFeed && !this.quoted) this.lines++
  }
}
const quote = 0x22
const lineFeed = 0x0a

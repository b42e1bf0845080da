/** Files of any size, read once and a piece at a time. */
import { createHash } from "node:crypto"
import { open } from "node:fs/promises"

export interface Fingerprint {
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

/** `undefined` where there is no such file. */
export const fingerprintOf = async (
  path: string,
  watch?: (piece: Buffer) => void
): Promise<Fingerprint | undefined> => {
  const file = await open(path, "r").catch(missing)
  if (!file) return undefined
  await using handle = file
  const hash = createHash("sha256")
  let bytes = 0
  for await (const piece of handle.createReadStream({ autoClose: false, highWaterMark: 1 << 20 })) {
    hash.update(piece)
    watch?.(piece)
    bytes += piece.length
  }
  return { bytes, sha256: hash.digest("hex") }
}

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

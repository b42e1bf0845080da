/** Work on files: failures that name the file, writes that survive a power cut, and checksums. */
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { mkdir, open, rename } from "node:fs/promises"
import { dirname } from "node:path"
import { type Failure, type FileOperation, fileFailure } from "../failure.ts"

/** Runs file work whose failure is the disk's or the permissions'. */
export const onDisk = <A>(path: string, operation: FileOperation, work: () => Promise<A>): Effect.Effect<A, Failure> =>
  Effect.tryPromise({ try: work, catch: (cause) => fileFailure(path, operation, cause) })

/** A new or renamed file is durable only once its folder is. */
export const syncFolder = async (folder: string): Promise<void> => {
  await using handle = await open(folder, "r")
  await handle.sync()
}

/** Writes a file that only its owner can read. A crash leaves the old content or the new one, never a part. */
export const writeDurably = async (path: string, content: string): Promise<void> => {
  const part = `${path}.part`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  {
    await using file = await open(part, "w", 0o600)
    await file.writeFile(content)
    await file.sync()
  }
  await rename(part, path)
  await syncFolder(dirname(path))
}

export interface Checksum {
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

/** Reads the file once, a piece at a time; a piece is valid until `onPiece` returns. */
export const checksumOf = async (path: string, onPiece?: (piece: Buffer) => void): Promise<Checksum> => {
  await using file = await open(path, "r")
  const { size } = await file.stat()
  // One buffer for all pieces: the pieces of a stream are garbage faster than they are collected.
  const buffer = Buffer.allocUnsafeSlow(Math.min(Math.max(size, 1), pieceBytes))
  const hash = createHash("sha256")
  let bytes = 0
  for (;;) {
    const { bytesRead } = await file.read(buffer)
    if (bytesRead === 0) return { bytes, sha256: hash.digest("hex") }
    const piece = buffer.subarray(0, bytesRead)
    hash.update(piece)
    onPiece?.(piece)
    bytes += bytesRead
  }
}

const pieceBytes = 256 * 1024

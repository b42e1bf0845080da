/** The files of the vault: the open segment plain, the others compressed. */
import { createWriteStream } from "node:fs"
import { open, readFile, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { promisify } from "node:util"
import { constants, createZstdCompress, zstdDecompress } from "node:zlib"
import { syncFolder } from "../io/files.ts"
import { damagedAt } from "./damage.ts"
import { type Decoded, decode, validUntil } from "./frame.ts"

export const plainPath = (folder: string, segment: number) => join(folder, `${String(segment).padStart(6, "0")}.ndjson`)
const sealedPath = (folder: string, segment: number) => `${plainPath(folder, segment)}.zst`

/** Numbers of the segments in their order, and which of them are plain. Clears what a crash left half done. */
export const segmentsIn = async (folder: string) => {
  const files = await readdir(folder)
  const numbers = (ending: string) =>
    files.filter((file) => file.endsWith(ending)).map((file) => Number.parseInt(file, 10))
  const sealed = new Set(numbers(".ndjson.zst"))
  for (const number of numbers(".ndjson")) if (sealed.has(number)) await rm(plainPath(folder, number))
  const plain = numbers(".ndjson").filter((number) => !sealed.has(number))
  const ascending = (a: number, b: number) => a - b
  return { all: [...sealed, ...plain].sort(ascending), plain: plain.sort(ascending) }
}

/**
 * The compressed copy is complete and synced before the plain one goes, so a crash leaves at least one. What is compressed
 * is what was checked: a sealed segment is vouched for by its own checksum, which says nothing of damage before it.
 */
export const compress = async (folder: string, segment: number): Promise<void> => {
  const temporary = `${sealedPath(folder, segment)}.part`
  const content = await readFile(plainPath(folder, segment))
  const whole = validUntil(content)
  if (whole < content.length) throw damagedAt(segment, whole)
  await pipeline(
    piecesOf(content),
    createZstdCompress({ chunkSize: pieceBytes, params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
    createWriteStream(temporary, { mode: 0o600, flush: true })
  )
  await rename(temporary, sealedPath(folder, segment))
  await syncFolder(folder)
  await rm(plainPath(folder, segment))
}

function* piecesOf(content: Buffer) {
  for (let at = 0; at < content.length; at += pieceBytes) yield content.subarray(at, at + pieceBytes)
}

/** Each piece goes through the main thread: a segment of 16 MB in 16 turns. */
const pieceBytes = 1024 * 1024

/** Bytes of a plain segment; `undefined` where there is none. Valid until the next call. */
export const readPlain = async (
  folder: string,
  segment: number,
  offset: number,
  bytes: number
): Promise<Buffer | undefined> => {
  const file = await open(plainPath(folder, segment), "r").catch(missing)
  if (!file) return undefined
  try {
    if (slice.length < bytes) slice = Buffer.allocUnsafeSlow(bytes)
    const { bytesRead } = await file.read(slice, 0, bytes, offset)
    return slice.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
/** Used again by every read: a new one each time is garbage faster than it is collected. */
let slice = Buffer.alloc(0)

/** A sealed segment, unpacked; `undefined` where there is none. */
export const readSealed = async (folder: string, segment: number): Promise<Buffer | undefined> => {
  const packed = await readFile(sealedPath(folder, segment)).catch(missing)
  return packed && promisify(zstdDecompress)(packed, { chunkSize: 4 * 1024 * 1024 })
}

const missing = (cause: NodeJS.ErrnoException): undefined => {
  if (cause.code === "ENOENT") return undefined
  throw cause
}

/** Whole frames from `start`, about `bytes` of them, and where the last one ends. */
export const framesIn = (segment: Buffer, start: number, bytes: number) => {
  const frames: Array<Decoded> = []
  let end = start
  while (end - start < bytes) {
    const frame = decode(segment, end)
    if (!frame) break
    frames.push(frame)
    end = frame.end
  }
  return { frames, end }
}

/** The files of the vault: the open segment is plain text, the others are compressed. */
import { createWriteStream } from "node:fs"
import { open, readFile, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { promisify } from "node:util"
import { constants, createZstdCompress, zstdDecompress } from "node:zlib"
import { ifMissing, onDisk, syncFolder } from "../../output/files.ts"
import { type Decoded, decode, validUntil } from "./frame.ts"
import type { Effect } from "effect"
import type { Failure } from "../../values/failure.ts"

export const plainPath = (folder: string, segment: number) => join(folder, `${String(segment).padStart(6, "0")}.ndjson`)
export const sealedPath = (folder: string, segment: number) => `${plainPath(folder, segment)}.zst`

/**
 * The numbers of all segments, and of those that are plain, in ascending order. Removes plain files that a crash left
 * beside their compressed copy.
 */
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
 * The plain file is removed only after the compressed one is complete and synced, so a crash leaves at least one. The
 * bytes that are compressed are those that were validated: the checksum of a sealed segment does not reveal earlier damage.
 */
export const compress = async (folder: string, segment: number): Promise<void> => {
  const temporary = `${sealedPath(folder, segment)}.part`
  const content = await readFile(plainPath(folder, segment))
  const validBytes = validUntil(content)
  if (validBytes < content.length) throw damagedAt(segment, validBytes)
  await pipeline(
    chunksOf(content),
    createZstdCompress({
      chunkSize: Math.min(chunkBytes, Math.max(chunkBytesMin, content.length)),
      params: compression
    }),
    createWriteStream(temporary, { mode: 0o600, flush: true })
  )
  await rename(temporary, sealedPath(folder, segment))
  await syncFolder(folder)
  await rm(plainPath(folder, segment))
}

/** Level 1 takes half the CPU of the default level, and 3 to 5 % more space. */
export const compression = { [constants.ZSTD_c_checksumFlag]: 1, [constants.ZSTD_c_compressionLevel]: 1 }

function* chunksOf(content: Buffer) {
  for (let at = 0; at < content.length; at += chunkBytes) yield content.subarray(at, at + chunkBytes)
}

/** Every chunk costs a callback on the main thread, so chunks are large: a segment of 16 MB has 16. */
const chunkBytes = 1024 * 1024

/** The buffer of a chunk counts as memory to collect, so that of a short segment is not larger than its content. */
const chunkBytesMin = 64 * 1024

/** Reads bytes of a plain segment into a buffer; `undefined` if there is no such file. */
export const readPlain = async (folder: string, segment: number, offset: number, into: Buffer) => {
  const file = await open(plainPath(folder, segment), "r").catch(ifMissing(undefined))
  if (!file) return undefined
  try {
    const { bytesRead } = await file.read(into, 0, into.length, offset)
    return into.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** A sealed segment, decompressed; `undefined` if there is no such file. */
export const readSealed = async (folder: string, segment: number): Promise<Buffer | undefined> => {
  const compressed = await readFile(sealedPath(folder, segment)).catch(ifMissing(undefined))
  // JSON becomes about ten times longer.
  const chunkSize = compressed && Math.min(4 * 1024 * 1024, Math.max(chunkBytesMin, compressed.length * 12))
  return compressed && promisify(zstdDecompress)(compressed, { chunkSize })
}

/** Valid frames from `start` on, until they have at least `bytes`, and the end of the last one. */
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

/** Numbers without a file below the largest one. */
export const missingSegments = (folder: string): Effect.Effect<ReadonlyArray<number>, Failure> =>
  onDisk(folder, "read", async () => {
    const existing = new Set((await segmentsIn(folder)).all)
    const last = Math.max(0, ...existing)
    return Array.from({ length: last }, (_, index) => index + 1).filter((number) => !existing.has(number))
  })

/** Part of the vault is damaged or missing, although the file system reported no error. */
export class Damage extends Error {}

/** A version before 1.0.0 wrote the vault, in another format. */
export class Older extends Error {}

export const damagedAt = (segment: number, byte: number): Damage =>
  new Damage(`segment ${segment} is damaged at byte ${byte}`)

/** Answers that are files: streamed to disk, never held in memory, in place only when they are whole. */
import { createHash } from "node:crypto"
import { mkdir, open, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { spellings } from "./text.ts"

/** Where an answer goes: a name below a folder, the ending left to what comes. */
export interface FileTarget {
  readonly folder: string
  readonly name: string
}

/** A file that came, as the row of a table tells it. */
export interface Stored {
  /** Below the target's folder. */
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  readonly content_type: string
}

/** Fails with what the disk or the connection says; what came until then stays as `.part` and is begun anew. */
export const store = async (
  body: AsyncIterable<Buffer>,
  { folder, name }: FileTarget,
  contentType: string,
  secrets: Iterable<string>
): Promise<Stored> => {
  const path = `${name}${endings.get(contentType.split(";")[0]!.trim().toLowerCase()) ?? ".bin"}`
  const target = join(folder, path)
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  const hash = createHash("sha256")
  let bytes = 0
  const sought = [...secrets].flatMap(spellings)
  const overlap = Math.max(0, ...sought.map(({ length }) => length))
  let tail = Buffer.alloc(0)
  {
    await using file = await open(`${target}.part`, "w", 0o600)
    for await (const piece of body) {
      const seen = Buffer.concat([tail, piece])
      if (sought.some((secret) => seen.includes(secret))) {
        await rm(`${target}.part`)
        throw new Error("the file repeats our credentials and was not kept")
      }
      if (overlap > 0) tail = seen.subarray(-overlap)
      await file.writeFile(piece)
      hash.update(piece)
      bytes += piece.length
    }
    await file.sync()
  }
  await rename(`${target}.part`, target)
  return { path, bytes, sha256: hash.digest("hex"), content_type: contentType }
}

const endings: ReadonlyMap<string, string> = new Map([
  ["audio/x-wav", ".wav"],
  ["audio/wav", ".wav"],
  ["audio/mpeg", ".mp3"],
  ["audio/ogg", ".ogg"],
  ["audio/mp4", ".m4a"]
])

/** A file name for an id, whatever is in it: no path leads out of the folder, and case does not matter. */
export const fileName = (id: string): string =>
  `${id.replaceAll(/[^\w-]/g, "_").slice(0, 60)}-${createHash("sha256").update(id).digest("hex").slice(0, 12)}`

/** Ends a download before it fills the disk: its file is in the system's temporary folder, which is often memory. */
import { readdir, stat, statfs } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseError } from "./database.ts"
import { limits } from "./limits.ts"

/**
 * Runs what writes files into `folder`. If they take more than `bytesMax`, or what is free less a reserve, the signal that
 * `write` gets is aborted, and the result is an error that says so.
 */
export const withinSpace = async <A>(
  folder: string,
  stopped: AbortSignal,
  write: (signal: AbortSignal) => Promise<A>,
  bytesMax: number = limits.downloadBytes
): Promise<A> => {
  const { bavail, bsize } = await statfs(folder)
  const allowed = Math.min(bytesMax, Math.max(0, bavail * bsize - limits.freeBytesMin))
  const tooLarge = new AbortController()
  const check = async () => {
    if ((await sizeOf(folder)) > allowed) tooLarge.abort()
  }
  const watch = setInterval(() => void check().catch(() => {}), checkMs)
  try {
    return await write(AbortSignal.any([stopped, tooLarge.signal]))
  } catch (cause) {
    if (!tooLarge.signal.aborted) throw cause
    const megabytes = Math.floor(allowed / 1_000_000).toLocaleString("en-US")
    throw new DatabaseError(
      "refused",
      `The file would take more than ${megabytes} MB of ${folder}. Read fewer rows or columns, or use the published Parquet files.`
    )
  } finally {
    clearInterval(watch)
  }
}

/** A disk takes some hundred megabytes in this time. */
const checkMs = 100

const sizeOf = async (folder: string): Promise<number> => {
  const sizes = await Promise.all(
    (await readdir(folder)).map((file) =>
      stat(join(folder, file)).then(
        ({ size }) => size,
        () => 0
      )
    )
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

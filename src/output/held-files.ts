/**
 * Files that DuckDB has locked in this process. A process that closes any handle of a file loses its locks on it, so that another
 * run could begin in the middle: a handle of such a file is closed after DuckDB has closed the file.
 */
import * as Effect from "effect/Effect"
import { type FileHandle, open } from "node:fs/promises"

const heldByPath = new Map<string, { count: number; readonly handles: Array<FileHandle> }>()

/** Is acquired before DuckDB opens the file, so that it is released after DuckDB has closed it. */
export const holding = (path: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const held = heldByPath.get(path) ?? { count: 0, handles: [] }
      held.count++
      heldByPath.set(path, held)
      return held
    }),
    (held) =>
      Effect.promise(async () => {
        if (--held.count > 0) return
        heldByPath.delete(path)
        await Promise.all(held.handles.map((file) => file.close()))
      })
  )

/** Runs `use` with a handle to read the file. */
export const reading = async <A>(path: string, use: (file: FileHandle) => Promise<A>): Promise<A> => {
  const file = await open(path, "r")
  const held = heldByPath.get(path)
  held?.handles.push(file)
  try {
    return await use(file)
  } finally {
    if (!held) await file.close()
  }
}

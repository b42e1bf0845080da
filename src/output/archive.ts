/** Packs a folder as a tar or zip file: the same folder gives the same bytes. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Tar from "effect/encoding/Tar"
import * as Zip from "effect/encoding/Zip"
import { createReadStream } from "node:fs"
import { open, readdir, stat } from "node:fs/promises"
import { join, relative } from "node:path"
import { type Failure, fileFailure } from "../values/failure.ts"
import { onDisk } from "./files.ts"

export type ArchiveFormat = "tar" | "zip"

interface Archive {
  readonly format: ArchiveFormat
  /** The name of the folder in the archive. */
  readonly root: string
  /** When the archive and everything in it was made. */
  readonly time: Date
}

/** Writes the archive durably. An interruption leaves a part of it. */
export const writeArchive = Effect.fn("output.archive")(function* (path: string, folder: string, archive: Archive) {
  const failed = (cause: unknown) => fileFailure(path, "written", cause)
  const entries = yield* onDisk(folder, "read", () => entriesOf(folder))
  const file = yield* Effect.acquireRelease(
    onDisk(path, "written", () => open(path, "wx", 0o600)),
    (file) => Effect.ignore(onDisk(path, "written", () => file.close()))
  )
  const bytes = archive.format === "tar" ? tarOf(entries, archive, failed) : zipOf(entries, archive, failed)
  yield* Stream.runForEach(bytes, (chunk: Uint8Array) =>
    Effect.uninterruptible(onDisk(path, "written", () => file.writeFile(chunk)))
  )
  yield* onDisk(path, "written", async () => {
    await file.utimes(archive.time, archive.time)
    await file.sync()
  })
}, Effect.scoped)

interface Entry {
  readonly file: string
  /** Relative to the packed folder. */
  readonly path: string
  /** Absent for a folder. */
  readonly bytes: number | undefined
}

/** Sorted by path: a folder comes before its files. */
const entriesOf = async (folder: string): Promise<ReadonlyArray<Entry>> => {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  const entries = found.map(async (entry) => {
    const file = join(entry.parentPath, entry.name)
    return { file, path: relative(folder, file), bytes: entry.isDirectory() ? undefined : (await stat(file)).size }
  })
  return (await Promise.all(entries)).sort((one, other) => (one.path < other.path ? -1 : 1))
}

const contentOf = (file: string, failed: (cause: unknown) => Failure) =>
  Stream.fromAsyncIterable<Uint8Array, Failure>(createReadStream(file, { highWaterMark: 256 * 1024 }), failed)

const tarOf = (entries: ReadonlyArray<Entry>, { root, time }: Archive, failed: (cause: unknown) => Failure) =>
  Stream.fromIterable<Tar.Entry<Failure>>([
    Tar.directory(root, { mode: 0o700, mtime: time }),
    ...entries.map(({ file, path, bytes }) =>
      bytes === undefined
        ? Tar.directory(`${root}/${path}`, { mode: 0o700, mtime: time })
        : Tar.fileStream(`${root}/${path}`, bytes, contentOf(file, failed), { mode: 0o600, mtime: time })
    )
  ]).pipe(Stream.pipeThroughChannel(Tar.encode<Failure, unknown, Tar.Entry<Failure>>()), Stream.mapError(failed))

type ZipEntry = Zip.ContentEntry | Zip.Entry<Failure>
const zipOf = (entries: ReadonlyArray<Entry>, { root, time }: Archive, failed: (cause: unknown) => Failure) =>
  Stream.fromIterable<ZipEntry>([
    Zip.directory(root, { mode: 0o700, mtime: time }),
    ...entries.map(({ file, path, bytes }) =>
      bytes === undefined
        ? Zip.directory(`${root}/${path}`, { mode: 0o700, mtime: time })
        : Zip.fileStream(`${root}/${path}`, contentOf(file, failed), { mode: 0o600, mtime: time, size: bytes })
    )
  ]).pipe(Stream.pipeThroughChannel(Zip.encode<Failure, unknown, ZipEntry>()), Stream.mapError(failed))

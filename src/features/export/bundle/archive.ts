/** Writes a bag as a tar or zip file: the same bag gives the same bytes. */
import { Effect, Stream } from "effect"
import * as Tar from "effect/encoding/Tar"
import * as Zip from "effect/encoding/Zip"
import { createReadStream } from "node:fs"
import { open, readdir, stat } from "node:fs/promises"
import { join, relative } from "node:path"

export type ArchiveFormat = "tar" | "zip"

interface Archive {
  readonly format: ArchiveFormat
  /** The name of the folder in the archive. */
  readonly root: string
  readonly time: Date
}

/** `folder`: the bag. Rejects with the error of the file system. */
export const writeArchive = async (path: string, folder: string, archive: Archive, signal: AbortSignal) => {
  const failed = (cause: unknown) => (cause instanceof Error ? cause : new Error(String(cause)))
  const entries = await entriesOf(folder)
  await using file = await open(path, "wx", 0o600)
  const bytes = archive.format === "tar" ? tarOf(entries, archive, failed) : zipOf(entries, archive, failed)
  const written = Stream.runForEach(bytes, (chunk: Uint8Array) =>
    Effect.tryPromise({ try: () => file.writeFile(chunk), catch: failed })
  )
  await Effect.runPromise(written, { signal })
  await file.utimes(archive.time, archive.time)
  await file.sync()
}

interface Entry {
  readonly file: string
  /** Relative to the bag. */
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

const contentOf = (file: string, failed: (cause: unknown) => Error) =>
  Stream.fromAsyncIterable<Uint8Array, Error>(createReadStream(file, { highWaterMark: 256 * 1024 }), failed)

const tarOf = (entries: ReadonlyArray<Entry>, { root, time }: Archive, failed: (cause: unknown) => Error) =>
  Stream.fromIterable<Tar.Entry<Error>>([
    Tar.directory(root, { mode: 0o700, mtime: time }),
    ...entries.map(({ file, path, bytes }) =>
      bytes === undefined
        ? Tar.directory(`${root}/${path}`, { mode: 0o700, mtime: time })
        : Tar.fileStream(`${root}/${path}`, bytes, contentOf(file, failed), { mode: 0o600, mtime: time })
    )
  ]).pipe(Stream.pipeThroughChannel(Tar.encode<Error, unknown, Tar.Entry<Error>>()))

type ZipEntry = Zip.ContentEntry | Zip.Entry<Error>
const zipOf = (entries: ReadonlyArray<Entry>, { root, time }: Archive, failed: (cause: unknown) => Error) =>
  Stream.fromIterable<ZipEntry>([
    Zip.directory(root, { mode: 0o700, mtime: time }),
    ...entries.map(({ file, path, bytes }) =>
      bytes === undefined
        ? Zip.directory(`${root}/${path}`, { mode: 0o700, mtime: time })
        : Zip.fileStream(`${root}/${path}`, contentOf(file, failed), { mode: 0o600, mtime: time, size: bytes })
    )
  ]).pipe(Stream.pipeThroughChannel(Zip.encode<Error, unknown, ZipEntry>()))

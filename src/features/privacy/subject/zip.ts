/** Packs a folder as a zip file. */
import { Effect, Stream } from "effect"
import * as Zip from "effect/encoding/Zip"
import { createReadStream } from "node:fs"
import { open, readdir } from "node:fs/promises"
import { join, relative } from "node:path"

/** `root`: the folder that contains the files in the archive. The order of the files is that of their names. */
export const zipFolder = async (folder: string, path: string, root: string): Promise<void> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted()
  await using file = await open(path, "w", 0o600)
  await Effect.runPromise(
    Stream.fromIterable(files).pipe(
      Stream.map((name) =>
        Zip.fileStream(
          `${root}/${name}`,
          Stream.fromAsyncIterable(createReadStream(join(folder, name)), (cause) => cause)
        )
      ),
      Stream.pipeThroughChannel(Zip.encode()),
      Stream.runForEach((bytes: Uint8Array) => Effect.promise(() => file.writeFile(bytes)))
    )
  )
}

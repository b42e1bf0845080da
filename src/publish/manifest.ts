/** The files of a version on the disk: their fingerprints, and the manifest that lists them. */
import { Clock, Effect } from "effect"
import { createHash } from "node:crypto"
import { open } from "node:fs/promises"
import { join } from "node:path"
import type { Failure } from "../failure.ts"
import type { Content } from "../warehouse/content.ts"
import type { PublishedState } from "./due.ts"
import { onDisk } from "./disk.ts"

export interface Written {
  /** Relative to the published folder. */
  readonly path: string
  /** `*` for a file with all tables. */
  readonly table: string
  readonly rows: number
}

export interface PublishedFile extends Written {
  readonly bytes: number
  readonly sha256: string
}

/** A table as it is in every format of a version. */
export interface PublishedTable extends Content {
  /** As DuckDB names it: current rows or earlier versions. */
  readonly schema: "crm" | "crm_history"
  readonly table: string
  /** The same of the columns that the CSV profile for spreadsheets leaves as they are, where that is the profile. */
  readonly untouchedSum?: string
  /** Type by column, in their order. */
  readonly columns: Readonly<Record<string, string>>
}

export interface Manifest {
  readonly run: string
  readonly schemaVersion: string
  readonly formats: ReadonlyArray<string>
  readonly csvProfile: string
  readonly state: PublishedState
  readonly tables: ReadonlyArray<PublishedTable>
  readonly files: ReadonlyArray<PublishedFile>
}

/** Brings the file to the disk and reads it once, a piece at a time; only the owner may open it, as it holds people. */
export const fingerprint = (folder: string, file: Written): Effect.Effect<PublishedFile, Failure> =>
  onDisk(`${join(folder, file.path)} could not be brought to the disk`, async () => {
    await using handle = await open(join(folder, file.path), "r+")
    await handle.chmod(0o600)
    await handle.sync()
    const hash = createHash("sha256")
    let bytes = 0
    // One buffer, filled again and again: a stream's pieces are garbage faster than it is collected.
    const { size } = await handle.stat()
    const buffer = Buffer.allocUnsafeSlow(Math.min(Math.max(size, 1), pieceBytes))
    for (;;) {
      const { bytesRead } = await handle.read(buffer)
      if (bytesRead === 0) break
      hash.update(buffer.subarray(0, bytesRead))
      bytes += bytesRead
    }
    return { ...file, bytes, sha256: hash.digest("hex") }
  })

const pieceBytes = 256 * 1024

/** Written last: a version without it is not complete. */
export const writeManifest = Effect.fn("publish.writeManifest")(function* (
  folder: string,
  manifest: Manifest
): Effect.fn.Return<void, Failure> {
  const path = join(folder, "manifest.json")
  const writtenAt = new Date(yield* Clock.currentTimeMillis).toISOString()
  const { run, schemaVersion, ...rest } = manifest
  const text = `${JSON.stringify({ tool: "sluice 0.1", run, schemaVersion, writtenAt, ...rest }, null, 2)}\n`
  yield* onDisk(`${path} could not be written`, async () => {
    await using handle = await open(path, "wx", 0o600)
    await handle.writeFile(text)
    await handle.sync()
  })
})

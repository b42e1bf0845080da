/** Reads a published release as a careful reader does: resolves the link once, opens every file, then compares. */
import { createHash } from "node:crypto"
import { closeSync, openSync, readFileSync, realpathSync } from "node:fs"
import { basename, join } from "node:path"

interface Manifest {
  readonly run: string
  readonly files: ReadonlyArray<{ readonly path: string; readonly bytes: number; readonly sha256: string }>
}

/** Returns the manifest; throws if one of its files is missing or differs. */
export const verified = (published: string): Manifest => {
  const version = realpathSync(published)
  try {
    return read(version)
  } catch (error) {
    // Only the previous release is kept: a reader that missed two publishes starts again.
    if (numberOf(realpathSync(published)) - numberOf(version) > 1) return verified(published)
    throw error
  }
}

const read = (version: string): Manifest => {
  const manifest: Manifest = JSON.parse(readFileSync(join(version, "manifest.json"), "utf8"))
  const opened = manifest.files.map((file) => ({ file, handle: openSync(join(version, file.path), "r") }))
  for (const { file, handle } of opened) {
    const content = readFileSync(handle)
    closeSync(handle)
    if (content.length !== file.bytes || createHash("sha256").update(content).digest("hex") !== file.sha256)
      throw new Error(`${file.path} is not what the manifest says`)
  }
  return manifest
}

const numberOf = (version: string) => Number.parseInt(basename(version), 10)

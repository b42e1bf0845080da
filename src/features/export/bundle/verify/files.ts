/**
 * The files of a bundle that others may have made. Only files that were found in its folder are ever opened: a name in a
 * manifest is compared with them and never becomes a path.
 */
import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { lstat, open, readdir } from "node:fs/promises"
import { join } from "node:path"
import { type Finding, wrong } from "../../../../values/finding.ts"

export interface FoundFile {
  /** Relative to the bag, with `/`. */
  readonly path: string
  readonly bytes: number
}

/** Links are reported and not followed, because they could point outside the folder. */
export const filesOf = async (folder: string) => {
  const files = new Map<string, FoundFile>()
  const findings: Array<BundleFinding> = []
  const visit = async (below: string): Promise<void> => {
    const entries = await readdir(join(folder, below), { withFileTypes: true })
    if (entries.length === 0 && below !== "")
      findings.push(wrong(shown(below), "it is an empty folder, which no manifest lists"))
    for (const entry of entries) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory()) await visit(path)
      else if (entry.isFile()) files.set(path, { path, bytes: (await lstat(join(folder, path))).size })
      else
        findings.push(
          wrong(shown(path), entry.isSymbolicLink() ? "it is a link; it was not followed" : "it is not a regular file")
        )
    }
  }
  await visit("")
  return { files, findings }
}

/** The algorithms of the BagIt documents that this program knows. */
export const algorithms = ["sha512", "sha256", "sha1", "md5"] as const
export type Algorithm = (typeof algorithms)[number]

export type Checksums = Readonly<Partial<Record<Algorithm, string>>>

/** Reads a file once for all its checksums. */
export const checksumsOf = async (
  folder: string,
  path: string,
  needed: ReadonlyArray<Algorithm>,
  signal: AbortSignal
): Promise<Checksums> => {
  await using file = await openFound(folder, path)
  const hashes = needed.map((algorithm) => [algorithm, createHash(algorithm)] as const)
  const buffer = Buffer.allocUnsafeSlow(256 * 1024)
  for (;;) {
    signal.throwIfAborted()
    const { bytesRead } = await file.read(buffer)
    if (bytesRead === 0) break
    for (const [, hash] of hashes) hash.update(buffer.subarray(0, bytesRead))
  }
  return Object.fromEntries(hashes.map(([algorithm, hash]) => [algorithm, hash.digest("hex")]))
}

/** Tag files and JSON documents are small; a larger one is not read. */
export const textBytesMax = 64 * 1024 * 1024

/** The text of a file, or why it cannot be used. */
export const textOf = async (folder: string, { path, bytes }: FoundFile) => {
  if (bytes > textBytesMax) return { problem: `it has ${bytes} bytes; more than ${textBytesMax} are not read` }
  await using file = await openFound(folder, path)
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await file.readFile()) }
  } catch {
    return { problem: "it is not UTF-8 text" }
  }
}

/** Fails for a link that has replaced the file since it was found. */
const openFound = (folder: string, path: string) => open(join(folder, path), constants.O_RDONLY | constants.O_NOFOLLOW)

/** What the check of a bundle finds. Both levels fail it: only a bundle of which everything was compared is intact. */
export type BundleFinding = Finding<"wrong" | "notCompared">

/** Names in a bundle of others may contain line breaks and control characters. */
export const shown = (text: string): string => {
  const quoted = JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text).slice(1, -1)
  return quoted.replaceAll(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/** The ledger and the releases: a record names the release that it left, and a bundle contains the records up to its release. */
import { readFile } from "node:fs/promises"
import { ifMissing } from "../../output/files.ts"
import { readManifest } from "../../output/manifest.ts"
import { outputPaths } from "../../output/paths.ts"
import { ledgerOf } from "./file.ts"
import { emptyHead, recordOf, sha256Of } from "./record.ts"

export interface ReleaseId {
  /** The run that published it. */
  readonly run: string
  /** ISO 8601. */
  readonly writtenAt: string
}

/** `undefined` if there is none. */
export const releaseOf = async (output: string): Promise<ReleaseId | undefined> => {
  try {
    const { run, writtenAt } = await readManifest(outputPaths(output).published)
    return writtenAt === undefined ? undefined : { run, writtenAt }
  } catch {
    return undefined
  }
}

/**
 * The ledger up to the first record that names the release, or else up to the time of the release. Later records are left
 * out, so that the same release gives the same bundle. `undefined` without a ledger.
 */
export const ledgerUntil = async (output: string, release: ReleaseId) => {
  const text = await readFile(ledgerOf(output), "utf8").catch(ifMissing(undefined))
  if (text === undefined) return undefined
  const lines = text.split("\n").slice(0, -1)
  const records = lines.map(recordOf)
  const named = records.findIndex((record) => {
    const found = record?.detail["release"] as Partial<ReleaseId> | undefined
    return found?.writtenAt === release.writtenAt && found.run === release.run
  })
  const later = records.findIndex((record) => record !== undefined && record.at > release.writtenAt)
  const kept = lines.slice(0, named >= 0 ? named + 1 : later >= 0 ? later : lines.length)
  const last = kept.at(-1)
  return {
    text: kept.map((line) => `${line}\n`).join(""),
    head: last === undefined ? emptyHead : { seq: kept.length, sha256: sha256Of(last) }
  }
}

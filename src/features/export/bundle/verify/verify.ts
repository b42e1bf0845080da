/** Checks a bundle without the release, the warehouse or the definitions: only what is in its folder counts. */
import { algorithms, checksumsOf, filesOf } from "./files.ts"
import { notCompared, worstFirst, wrong } from "../../../../values/finding.ts"
import type { BundleFinding } from "./finding.ts"
import { ledgerFindings } from "./ledger.ts"
import { type BagManifest, fileFindings, manifestsOf, missingFindings } from "./manifests.ts"
import { checkTables } from "./tables.ts"
import { declarationFindings, payloadFindings } from "./tag-files.ts"

export interface BundleCheck {
  /** Of the payload. */
  readonly files: number
  readonly bytes: number
  /** The number of tables whose control totals agree with every file. */
  readonly tables: number
  /** What is wrong comes first. */
  readonly findings: ReadonlyArray<BundleFinding>
}

/** `folder`: the real path of the bundle. Rejects if a file cannot be read. */
export const verifyBundle = async (folder: string, signal: AbortSignal): Promise<BundleCheck> => {
  const { files, findings: found } = await filesOf(folder)
  const findings = [...found, ...(await declarationFindings(folder, files)), ...(await payloadFindings(folder, files))]
  const { manifests, findings: unparsed } = await manifestsOf(folder, files)
  findings.push(...unparsed, ...manifestFindings(manifests), ...missingFindings(files, manifests))
  if (files.has("fetch.txt")) findings.push(notCompared("fetch.txt", "the files that it names are not fetched"))
  const needed = algorithms.filter((one) => one === "sha256" || manifests.some(({ algorithm }) => algorithm === one))
  const sha256 = new Map<string, string>()
  const damaged = new Set<string>()
  for (const { path } of files.values()) {
    const checksums = await checksumsOf(folder, path, needed, signal)
    sha256.set(path, checksums.sha256!)
    const wrongs = fileFindings(path, checksums, manifests)
    if (wrongs.length > 0) damaged.add(path)
    findings.push(...wrongs)
  }
  const tables = await checkTables({ folder, files, sha256, damaged }, signal)
  const all = [...findings, ...tables.findings, ...(await ledgerFindings(folder, files, damaged))]
  const payload = [...files.values()].filter(({ path }) => path.startsWith("data/"))
  return {
    files: payload.length,
    bytes: payload.reduce((sum, { bytes }) => sum + bytes, 0),
    tables: tables.compared,
    findings: worstFirst(all)
  }
}

const manifestFindings = (manifests: ReadonlyArray<BagManifest>): ReadonlyArray<BundleFinding> => [
  ...(manifests.some(({ lists }) => lists === "payload")
    ? []
    : [wrong("manifest-sha256.txt", "missing: no manifest lists the payload")]),
  ...(manifests.some(({ lists }) => lists === "tags")
    ? []
    : [notCompared("tagmanifest-sha256.txt", "missing, so the manifests and bag-info.txt cannot be compared with it")])
]

/** Checks a bundle without the release, the warehouse or the definitions: only what is in its folder counts. */
import { type BundleFinding, type FoundFile, algorithms, checksumsOf, filesOf, textOf } from "./files.ts"
import { notCompared, worstFirst, wrong } from "../../../../values/finding.ts"
import { ledgerFindings } from "./ledger.ts"
import { type BagManifest, fileFindings, manifestsOf, missingFindings } from "./manifests.ts"
import { checkTables } from "./tables.ts"

/**
 * `folder`: the real path of the bundle. Rejects if a file cannot be read. Returns the size of the payload, the number of tables
 * whose control totals agree with every file, and what is wrong first.
 */
export const verifyBundle = async (folder: string, signal: AbortSignal) => {
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

type Files = ReadonlyMap<string, FoundFile>

/** `bagit.txt`: the version of the bag. */
const declarationFindings = async (folder: string, files: Files): Promise<ReadonlyArray<BundleFinding>> => {
  const file = files.get("bagit.txt")
  if (file === undefined) return [wrong("bagit.txt", "missing, so this is not a bag")]
  const read = await textOf(folder, file)
  const [, version, encoding = ""] =
    "text" in read ? (/^BagIt-Version: (\S+)\r?\nTag-File-Character-Encoding: (\S+)\r?\n?$/.exec(read.text) ?? []) : []
  if (version === undefined) return [wrong("bagit.txt", "it is not the declaration of a bag")]
  if (version !== "1.0" && version !== "0.97")
    return [notCompared("bagit.txt", `BagIt version ${version} is not known; 1.0 and 0.97 are`)]
  return encoding.toUpperCase() === "UTF-8"
    ? []
    : [notCompared("bagit.txt", `the encoding ${encoding} is not known; UTF-8 is`)]
}

/** Compares the number of bytes and files of the payload with `Payload-Oxum`. */
const payloadFindings = async (folder: string, files: Files): Promise<ReadonlyArray<BundleFinding>> => {
  const file = files.get("bag-info.txt")
  const read = file && (await textOf(folder, file))
  if (read && "problem" in read) return [wrong("bag-info.txt", read.problem)]
  const [line] = read ? (/^Payload-Oxum:.*$/im.exec(read.text) ?? []) : []
  if (line === undefined)
    return [notCompared("bag-info.txt", "it does not name the size of the payload (Payload-Oxum)")]
  const [, bytes, count] = /^Payload-Oxum:[ \t]*(\d+)\.(\d+)[ \t]*\r?$/i.exec(line) ?? []
  if (bytes === undefined) return [wrong("bag-info.txt", "its Payload-Oxum is not a number of bytes and of files")]
  const payload = [...files.values()].filter(({ path }) => path.startsWith("data/"))
  const found = payload.reduce((sum, one) => sum + one.bytes, 0)
  return Number(bytes) === found && Number(count) === payload.length
    ? []
    : [
        wrong(
          "data/",
          `it has ${found} bytes in ${payload.length} files; Payload-Oxum names ${bytes} bytes in ${count} files`
        )
      ]
}

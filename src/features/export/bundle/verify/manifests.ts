/** The manifests of a bag: parsed without trust, and compared with the files of the bag. */
import {
  type Algorithm,
  type BundleFinding,
  type Checksums,
  type FoundFile,
  algorithms,
  shown,
  textOf
} from "./files.ts"
import { notCompared, wrong } from "../../../../values/finding.ts"
import { decoded } from "../../../../values/text.ts"

export interface BagManifest {
  readonly name: string
  readonly algorithm: Algorithm
  /** `payload`: of the files below `data/`. `tags`: of the other files. */
  readonly lists: "payload" | "tags"
  /** Checksums by path. */
  readonly entries: ReadonlyMap<string, string>
}

/** Longer than the paths of any system. */
const lineLengthMax = 8192

export const manifestsOf = async (folder: string, files: ReadonlyMap<string, FoundFile>) => {
  const manifests: Array<BagManifest> = []
  const findings: Array<BundleFinding> = []
  for (const file of files.values()) {
    const [, tag, name] = /^(tag)?manifest-([a-z0-9]+)\.txt$/.exec(file.path) ?? []
    if (name === undefined) continue
    const algorithm = algorithms.find((one) => one === name)
    if (algorithm === undefined) {
      findings.push(notCompared(file.path, `sluice does not compute ${name}`))
      continue
    }
    const read = await textOf(folder, file)
    if ("problem" in read) {
      findings.push(wrong(file.path, read.problem))
      continue
    }
    const parsed = entriesOf(file.path, read.text, algorithm, tag === undefined ? "payload" : "tags")
    findings.push(...parsed.findings)
    manifests.push({
      name: file.path,
      algorithm,
      lists: tag === undefined ? "payload" : "tags",
      entries: parsed.entries
    })
  }
  return { manifests, findings }
}

const entriesOf = (manifest: string, text: string, algorithm: Algorithm, lists: BagManifest["lists"]) => {
  const entries = new Map<string, string>()
  const findings: Array<BundleFinding> = []
  const digits = { sha512: 128, sha256: 64, sha1: 40, md5: 32 }[algorithm]
  text.split(/\r\n|\r|\n/).forEach((line, index) => {
    if (line === "") return
    const where = `${manifest} line ${index + 1}`
    if (line.length > lineLengthMax) return findings.push(wrong(where, `it has ${line.length} characters`))
    const [, checksum, encoded] = /^([0-9a-fA-F]+)[ \t]+\*?(.+)$/.exec(line) ?? []
    if (checksum?.length !== digits || encoded === undefined)
      return findings.push(wrong(where, `it is not a checksum with ${digits} digits and a path`))
    const path = encoded.replaceAll(/%(0[Aa]|0[Dd]|25)/g, (code) => decodeURIComponent(code)).replace(/^\.\//, "")
    const problem = pathProblem(path, lists)
    if (problem !== undefined) return findings.push(wrong(where, `it names ${shown(path)}, ${problem}`))
    if (entries.has(path)) return findings.push(wrong(where, `it names ${shown(path)} a second time`))
    return entries.set(path, checksum.toLowerCase())
  })
  return { entries, findings }
}

const pathProblem = (path: string, lists: BagManifest["lists"]): string | undefined => {
  // Some programs decode every percent code, so a name must be harmless for them, too.
  if ([path, decoded(path)].some(isOutside)) return "which is outside the bag; it was not read"
  if (path.startsWith("data/") === (lists === "payload")) return undefined
  return `which is ${lists === "payload" ? "not " : ""}below data/`
}

const isOutside = (path: string): boolean =>
  /^([/~\\]|[A-Za-z]:)/.test(path) || path.split(/[/\\]/).includes("..") || path.includes("\0")

/** Compares one file with every manifest that has to list it. */
export const fileFindings = (
  path: string,
  checksums: Checksums,
  manifests: ReadonlyArray<BagManifest>
): ReadonlyArray<BundleFinding> =>
  manifests.flatMap(({ name, algorithm, lists, entries }): ReadonlyArray<BundleFinding> => {
    if ((lists === "payload") !== path.startsWith("data/")) return []
    const expected = entries.get(path)
    // A tag manifest cannot list itself, and need not list every tag file.
    if (expected === undefined)
      return lists === "payload"
        ? [wrong(shown(path), `${name} does not list it`)]
        : path.startsWith("tagmanifest-")
          ? []
          : [notCompared(shown(path), `${name} does not list it`)]
    return checksums[algorithm] === expected
      ? []
      : [wrong(shown(path), `its ${labels[algorithm]} differs from ${name}`)]
  })

const labels = { sha512: "SHA-512", sha256: "SHA-256", sha1: "SHA-1", md5: "MD5" }

/** The files that a manifest lists and the bag does not have. */
export const missingFindings = (
  files: ReadonlyMap<string, FoundFile>,
  manifests: ReadonlyArray<BagManifest>
): ReadonlyArray<BundleFinding> =>
  manifests.flatMap(({ name, entries }) =>
    [...entries.keys()]
      .filter((path) => !files.has(path))
      .map((path) => wrong(shown(path), `missing; ${name} lists it`))
  )

/** The tag files of a bag: BagIt 1.0 (RFC 8493), with SHA-256 and SHA-512. */
import { type Head, headText } from "../../../stores/ledger/record.ts"
import { sluiceVersion } from "../../../values/version.ts"
import { type Building, type SealedFile, sealText } from "./sealed-files.ts"

export interface BagInfo {
  readonly locations: ReadonlyArray<string>
  readonly description: string
  /** The identifier of the run that published the release. */
  readonly run: string
  /** ISO 8601. */
  readonly writtenAt: string
  /** The end of the ledger in the bundle; absent without one. */
  readonly ledgerHead: Head | undefined
}

/** Writes the tag files beside the payload. Returns the SHA-256 of `manifest-sha256.txt`, which identifies the payload. */
export const writeTagFiles = async (
  building: Building,
  info: BagInfo,
  payload: ReadonlyArray<SealedFile>
): Promise<string> => {
  const tags = [
    await sealText(building, "bagit.txt", "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"),
    await sealText(building, "bag-info.txt", infoText(info, payload))
  ]
  for (const algorithm of ["sha256", "sha512"] as const)
    tags.push(await sealText(building, `manifest-${algorithm}.txt`, linesOf(payload, algorithm)))
  for (const algorithm of ["sha256", "sha512"] as const)
    await sealText(building, `tagmanifest-${algorithm}.txt`, linesOf(tags, algorithm))
  return tags.find(({ path }) => path === "manifest-sha256.txt")!.sha256
}

const infoText = (
  { locations, description, run, writtenAt, ledgerHead }: BagInfo,
  payload: ReadonlyArray<SealedFile>
): string =>
  [
    ["Source-Organization", locations.join(", ")],
    ["External-Description", description],
    ["External-Identifier", run],
    ["Bagging-Date", writtenAt.slice(0, 10)],
    ["Payload-Oxum", `${payload.reduce((sum, { bytes }) => sum + bytes, 0)}.${payload.length}`],
    ...(ledgerHead ? [["Ledger-Head", headText(ledgerHead)]] : []),
    ["Bag-Software-Agent", `sluice ${sluiceVersion}`]
  ]
    .map(([label, value]) => `${label}: ${value!.replaceAll(/\s+/g, " ")}\n`)
    .join("")

/** In the order of the paths, as `sha256sum` reads them. The names of tables need no escapes. */
const linesOf = (files: ReadonlyArray<SealedFile>, algorithm: "sha256" | "sha512"): string =>
  files
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
    .map((file) => `${file[algorithm]}  ${file.path}\n`)
    .join("")

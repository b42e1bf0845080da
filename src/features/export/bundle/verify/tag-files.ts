/** `bagit.txt` and `bag-info.txt`: the version of the bag, and the size of its payload. */
import { type FoundFile, textOf } from "./files.ts"
import { notCompared, wrong } from "../../../../values/finding.ts"
import type { BundleFinding } from "./finding.ts"

type Files = ReadonlyMap<string, FoundFile>

export const declarationFindings = async (folder: string, files: Files): Promise<ReadonlyArray<BundleFinding>> => {
  const file = files.get("bagit.txt")
  if (file === undefined) return [wrong("bagit.txt", "missing, so this is not a bag")]
  const read = await textOf(folder, file)
  const [, version, encoding] =
    "text" in read ? (/^BagIt-Version: (\S+)\r?\nTag-File-Character-Encoding: (\S+)\r?\n?$/.exec(read.text) ?? []) : []
  if (version === undefined) return [wrong("bagit.txt", "it is not the declaration of a bag")]
  if (version !== "1.0" && version !== "0.97")
    return [notCompared("bagit.txt", `BagIt version ${version} is not known; 1.0 and 0.97 are`)]
  return encoding!.toUpperCase() === "UTF-8"
    ? []
    : [notCompared("bagit.txt", `the encoding ${encoding} is not known; UTF-8 is`)]
}

/** Compares the number of bytes and files of the payload with `Payload-Oxum`. */
export const payloadFindings = async (folder: string, files: Files): Promise<ReadonlyArray<BundleFinding>> => {
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

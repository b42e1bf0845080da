/** The tag files of bags by others: what contradicts the payload is wrong, and what is not known was not compared. */
import { assert, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { verifyBundle } from "../../src/features/export/bundle/verify/verify.ts"
import { newFolder } from "../support/sluice.ts"

const payload = { "data/a.txt": "one", "data/b/c.txt": "three" }
const bytes = 8
const hashOf = (text: string, algorithm = "sha256") => createHash(algorithm).update(text, "latin1").digest("hex")
const manifestOf = (files: Readonly<Record<string, string>>, algorithm = "sha256") =>
  Object.entries(files)
    .map(([path, text]) => `${hashOf(text, algorithm)}  ${path}\n`)
    .join("")
const whole: Readonly<Record<string, string | undefined>> = {
  ...payload,
  "bagit.txt": "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
  "bag-info.txt": `Payload-Oxum: ${bytes}.2\n`,
  "manifest-sha256.txt": manifestOf(payload)
}

/** The findings about a bag with these changes, without those about documents that only bundles of sluice have. */
const found = async (changes: Readonly<Record<string, string | undefined>>) => {
  const folder = newFolder()
  const files = { ...whole, ...changes }
  const tags = Object.entries(files).flatMap(([path, text]) =>
    text === undefined || path.startsWith("data/") ? [] : [[path, text] as const]
  )
  const all = { "tagmanifest-sha256.txt": manifestOf(Object.fromEntries(tags)), ...files }
  for (const [path, text] of Object.entries(all)) {
    if (text === undefined) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text, "latin1")
  }
  const result = await verifyBundle(folder, new AbortController().signal)
  assert.strictEqual(result.tables, 0)
  return {
    ...result,
    said: result.findings
      .map(({ level, what, where }) => `${level} ${where}: ${String(what)}`)
      .filter((line) => !/data\/(datapackage|control-totals)\.json|no document of the bundle describes/.test(line))
  }
}

it("a bag that agrees with its tags is not reported, and its payload is counted", async () => {
  const { bytes: counted, files, said } = await found({})
  assert.deepStrictEqual([said, files, counted], [[], 2, bytes])
})

it.each<[string, Readonly<Record<string, string | undefined>>, ReadonlyArray<string>]>([
  ["no declaration", { "bagit.txt": undefined }, ["wrong bagit.txt: missing"]],
  ["another declaration", { "bagit.txt": "BagIt\n" }, ["wrong bagit.txt: it is not the declaration"]],
  [
    "a later version",
    { "bagit.txt": whole["bagit.txt"]!.replace("1.0", "2.0") },
    ["notCompared bagit.txt: BagIt version 2.0"]
  ],
  ["an earlier version", { "bagit.txt": whole["bagit.txt"]!.replace("1.0", "0.97") }, []],
  [
    "another encoding",
    { "bagit.txt": whole["bagit.txt"]!.replace("UTF-8", "UTF-16") },
    ["notCompared bagit.txt: the encoding UTF-16"]
  ],
  ["an encoding in small letters", { "bagit.txt": whole["bagit.txt"]!.replace("UTF-8", "utf-8") }, []],
  [
    "no size",
    { "bag-info.txt": "Bagging-Date: 2026-01-01\n" },
    ["notCompared bag-info.txt: it does not name the size"]
  ],
  [
    "a size that is no number",
    { "bag-info.txt": "Payload-Oxum: many\n" },
    ["wrong bag-info.txt: its Payload-Oxum is not"]
  ],
  [
    "another number of bytes",
    { "bag-info.txt": "Payload-Oxum: 9.2\n" },
    ["wrong data/: it has 8 bytes in 2 files; Payload-Oxum names 9 bytes in 2 files"]
  ],
  ["another number of files", { "bag-info.txt": "payload-oxum: 8.3\n" }, ["wrong data/: it has 8 bytes in 2 files"]],
  [
    "a size that is no text",
    { "bag-info.txt": "Payload-Oxum: 8.2\n\u00ff" },
    ["wrong bag-info.txt: it is not UTF-8 text"]
  ],
  ["no manifest of the payload", { "manifest-sha256.txt": undefined }, ["wrong manifest-sha256.txt: missing"]],
  ["no manifest of the tags", { "tagmanifest-sha256.txt": undefined }, ["notCompared tagmanifest-sha256.txt: missing"]],
  ["files to fetch", { "fetch.txt": "https://x.org - data/d\n" }, ["notCompared fetch.txt: the files that it names"]],
  [
    "a checksum that nobody knows",
    { "manifest-crc32.txt": "00\n" },
    ["notCompared manifest-crc32.txt: sluice does not compute crc32"]
  ],
  ["a second manifest that agrees", { "manifest-md5.txt": manifestOf(payload, "md5") }, []],
  [
    "a second manifest that does not",
    { "manifest-md5.txt": manifestOf({ ...payload, "data/a.txt": "two" }, "md5") },
    ["wrong data/a.txt: its MD5 differs from manifest-md5.txt"]
  ],
  ["a changed file", { "data/a.txt": "two" }, ["wrong data/a.txt: its SHA-256 differs from manifest-sha256.txt"]],
  [
    "a file that was not listed",
    { "data/d.txt": "", "bag-info.txt": "Payload-Oxum: 8.3\n" },
    ["wrong data/d.txt: manifest-sha256.txt does not list it"]
  ],
  [
    "a file that is missing",
    { "data/a.txt": undefined, "bag-info.txt": "Payload-Oxum: 5.1\n" },
    ["wrong data/a.txt: missing; manifest-sha256.txt lists it"]
  ],
  [
    "a file that is listed twice",
    { "manifest-sha256.txt": manifestOf(payload) + manifestOf({ "data/a.txt": "one" }) },
    ["wrong manifest-sha256.txt line 3: it names data/a.txt a second time"]
  ],
  [
    "a path outside",
    { "manifest-sha256.txt": manifestOf({ ...payload, "data/%2e%2e/%2e%2e/x": "" }) },
    ["wrong manifest-sha256.txt line 3: it names data/%2e%2e/%2e%2e/x, which is outside"]
  ]
])("of a bag with %s", async (_, changes, expected) => {
  const { said } = await found(changes)
  assert.lengthOf(said, expected.length, said.join("\n"))
  for (const line of expected)
    assert.isTrue(
      said.some((one) => one.startsWith(line)),
      `${line} in ${said.join("\n")}`
    )
})

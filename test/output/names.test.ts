/** Names that others choose, and removals that they aim at. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join, posix, win32 } from "node:path"
import { fileNameOf, fileNamesOf, isObjectName, isReleasePath, leadsDown } from "../../src/output/names.ts"
import { checkInside, removeBelow } from "../../src/output/remove.ts"
import { exportedName } from "../../src/output/stored-files.ts"

const hostile = [
  "x/../../../victim",
  "z/../..",
  "..",
  ".",
  "",
  "/etc/passwd",
  "..\\..\\victim",
  "C:\\victim",
  "a/b",
  "a\0b",
  "-rf",
  "--",
  "con",
  "NUL",
  "com1",
  "~",
  "~root",
  "a b",
  "a.",
  "ä",
  "a\u0308",
  "a\u202egpj",
  "*",
  "$(id)",
  "\ud800",
  "\ud801",
  "x".repeat(65),
  "x".repeat(5000)
]

describe("the name of a file of an id", () => {
  it.each(["Ab3dE6gH1jK4mN7pQ9sT", "a", "a_b", "a-b", "x".repeat(64)])("%s is the id", (id) => {
    assert.strictEqual(fileNameOf(id), id)
  })

  it("is a hash for every other id, which stays in its folder on every system and is the name of no other id", () => {
    const names = hostile.map(fileNameOf)
    for (const [place, name] of names.entries()) {
      assert.match(name, /^[0-9a-f]{64}\.id$/, hostile[place])
      for (const { join, basename } of [posix, win32]) assert.strictEqual(basename(join("folder", name)), name)
      assert.notStrictEqual(fileNameOf(name), name, "an id that is the hash of another one has another name")
    }
    assert.strictEqual(new Set(names).size, hostile.length)
  })

  it("differs from those of other things in the folder, also where the case of letters does not matter", () => {
    const all = ["abc", "ABC", "abc", "a/b", "a_b"].map((id, place) => ({ id, location: place === 2 ? "L2" : "L1" }))
    const names = fileNamesOf(all)
    assert.strictEqual(new Set(names.map((name) => name.toLowerCase())).size, all.length)
    assert.strictEqual(names[0], "abc")
    assert.strictEqual(names[4], "a_b")
    assert.deepStrictEqual(fileNamesOf(all), names)
  })
})

describe("a path that is read back", () => {
  it.each(["a", "a/b.json", ".published/000001-x/csv/a.csv", "vault/000001.ndjson.torn-2026-01-01T00:00:00Z"])(
    "%s leads down",
    (path) => assert.isTrue(leadsDown(path))
  )
  it.each(["", "/a", "../a", "a/../b", "a/..", "a//b", "./a", "a/", "a\\..\\b", "C:a", "a\0"])("%s does not", (path) =>
    assert.isFalse(leadsDown(path))
  )

  it.each([
    "crm.duckdb",
    "datapackage.json",
    "masked-columns.json",
    "csv/contacts.csv",
    "csv/contacts-2.csv",
    "csv/bi/fct_invoice.csv",
    "parquet/contacts/part-0.parquet",
    "parquet/bi/fct_invoice/part-0.parquet",
    "ndjson/contacts.ndjson"
  ])("%s is the path of a file of a release", (path) => assert.isTrue(isReleasePath(path)))
  it.each([
    "../precious.txt",
    "../../elsewhere/backup.tar",
    "mine.txt",
    "csv/../../precious.csv",
    "csv/..csv",
    "csv/a/b/c.csv",
    "csv//a.csv",
    "/csv/a.csv",
    "csv/a.parquet",
    "csv/.hidden.csv",
    "manifest.json",
    "objects/writing.json",
    "csv\\..\\a.csv",
    "csv/%2e%2e/a.csv\n"
  ])("%s is not", (path) => assert.isFalse(isReleasePath(path)))

  it("is the name of an object with the content of a file only with its checksum", () => {
    const sum = "0123456789abcdef".repeat(4)
    for (const name of [`objects/${sum}.parquet`, `objects/${sum}`]) assert.isTrue(isObjectName(name), name)
    for (const name of [
      `../objects/${sum}.parquet`,
      `objects/${sum}.parquet/../../x`,
      `objects/${sum.toUpperCase()}.csv`,
      `objects/../${sum}`,
      `other/${sum}.csv`,
      `objects/${sum}.csv\n`,
      "objects/writing.json"
    ])
      assert.isFalse(isObjectName(name), name)
  })
})

describe("a removal", () => {
  const inFolder = async (use: (folder: string) => Promise<void>) => {
    const folder = mkdtempSync(join(tmpdir(), "sluice-test-"))
    for (const name of ["output/exports/one", "victim"]) mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, "victim/file"), "precious")
    try {
      await use(folder)
    } finally {
      assert.isTrue(existsSync(join(folder, "victim/file")), "nothing outside is ever removed")
      rmSync(folder, { recursive: true })
    }
  }
  const refused = async (removal: Promise<void>) =>
    assert.include(String(await removal.catch((cause: unknown) => cause)), "is not inside")

  it("removes what is inside of its folder, and nothing that is not there", () =>
    inFolder(async (folder) => {
      const output = join(folder, "output")
      await removeBelow(output, "exports/one")
      assert.isFalse(existsSync(join(output, "exports/one")))
      await removeBelow(output, "exports/none")
      await removeBelow(output, "none/below")
      await removeBelow(join(folder, "none"), "x")
      assert.isTrue(existsSync(join(output, "exports")))
    }))

  it.each(["../victim", "exports/../../victim", "", ".", "..", "exports/..", "/"])("of %j is refused", (path) =>
    inFolder(async (folder) => {
      await refused(removeBelow(join(folder, "output"), path))
      await refused(removeBelow(join(folder, "output"), join(folder, "victim")))
      assert.isTrue(existsSync(join(folder, "output/exports/one")))
    })
  )

  it("follows the links that lead to it, and removes a link itself", () =>
    inFolder(async (folder) => {
      const output = join(folder, "output")
      symlinkSync(join(folder, "victim"), join(output, "link"))
      await refused(removeBelow(output, "link/file"))
      await refused(checkInside(output, join(output, "link")))
      await removeBelow(output, "link")
      assert.isFalse(existsSync(join(output, "link")))
      // The folder itself may be known by a link.
      symlinkSync(output, join(folder, "other"))
      await removeBelow(join(folder, "other"), "exports/one")
      assert.isFalse(existsSync(join(output, "exports/one")))
    }))
})

it.each([
  ["files/ab/c.pdf", "c.pdf"],
  ["files/ab/c", "c"],
  ["files/ab/c.xml", "c.xml.txt"],
  ["files/recordings/c.svg", "c.svg.txt"],
  ["files/ab/c.swf", "c.swf.txt"]
])("the copy of %s in an export is called %s", (path, name) => {
  assert.strictEqual(exportedName(path), name)
  assert.strictEqual(basename(name), name)
})

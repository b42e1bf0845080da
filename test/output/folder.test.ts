import { assert, it } from "@effect/vitest"
import { chmodSync, cpSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { outputFolder } from "../../src/features/doctor/environment.ts"
import { emptyOutputFolder, makeOutputFolder } from "../../src/output/folder.ts"
import { Failure } from "../../src/values/failure.ts"
import { newFolder } from "../support/sluice.ts"

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** As a clone brings it: with its page, and open to others. */
const clonedFolder = (): string => {
  const folder = join(newFolder(), "output")
  mkdirSync(folder)
  chmodSync(folder, 0o755)
  cpSync(fileURLToPath(new URL("../../output/README.md", import.meta.url)), join(folder, "README.md"))
  chmodSync(join(folder, "README.md"), 0o644)
  return folder
}
const faultsOf = async (folder: string) => (await outputFolder(folder)).filter(({ level }) => level !== "ok")

it("the output folder of a fresh clone is closed by the first command that writes, and doctor reports nothing", async () => {
  const folder = clonedFolder()
  assert.deepStrictEqual(await faultsOf(folder), [])
  await makeOutputFolder(folder)
  assert.strictEqual(modeOf(folder), "700")
  writeFileSync(join(folder, "warehouse.duckdb"), "", { mode: 0o600 })
  assert.deepStrictEqual(await faultsOf(folder), [])
})

it("a folder in use keeps its mode, and doctor reports it", async () => {
  const folder = clonedFolder()
  writeFileSync(join(folder, "warehouse.duckdb"), "", { mode: 0o600 })
  await makeOutputFolder(folder)
  assert.strictEqual(modeOf(folder), "755")
  assert.deepStrictEqual(
    (await faultsOf(folder)).map(({ where }) => where),
    ["modes"]
  )
})

it("a new folder is closed from the beginning", async () => {
  const folder = join(newFolder(), "a", "b")
  await makeOutputFolder(folder)
  assert.strictEqual(modeOf(folder), "700")
})

it.each([
  ["a folder where the system allows none", () => "/proc/nope/output", "the system does not allow a folder in /proc"],
  ["a file", () => fileIn(newFolder()), "is not a folder"],
  ["a folder below a file", () => join(fileIn(newFolder()), "output"), "/file is not a folder"]
])("the failure for %s names the folder and the reason", async (_, folderOf, detail) => {
  const folder = folderOf()
  const cause = await makeOutputFolder(folder).catch((thrown: unknown) => thrown)
  assert.instanceOf(cause, Failure)
  const { reason } = cause
  assert.isTrue(reason._tag === "OutputFolderUnusable" && reason.folder === folder)
  assert.include(cause.message, detail)
})

const fileIn = (folder: string): string => {
  const path = join(folder, "file")
  writeFileSync(path, "")
  return path
}

it("an emptied folder keeps what sluice has not written", async () => {
  const folder = clonedFolder()
  mkdirSync(join(folder, "vault"))
  mkdirSync(join(folder, "queries"))
  for (const name of ["notes.txt", "warehouse.duckdb.wal", "tokens.json", ".demo"])
    writeFileSync(join(folder, name), "")
  await emptyOutputFolder(folder)
  assert.deepStrictEqual(readdirSync(folder).toSorted(), [".demo", "README.md", "notes.txt", "queries"])
})

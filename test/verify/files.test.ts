/** What `verify` finds of files to which rows refer: each difference is planted once. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, ManagedRuntime } from "effect"
import { createHash } from "node:crypto"
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { count, id, storedFile, text } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { defineList } from "../../src/catalog/resource.ts"
import { knownTables } from "../../src/features/verify/existing-tables.ts"
import { checkFiles } from "../../src/features/verify/files.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { templateOf } from "../support/fixtures.ts"
import { newFolder } from "../support/sluice.ts"

const calls = defineList({
  table: "calls",
  description: "d",
  source: "s",
  scope: "s",
  full: [{ request: get("/x"), paging: { kind: "once" }, records: "x", pageSize: 10 }],
  fields: { id: id("Id"), path: storedFile("Path"), bytes: count("Bytes"), sha256: text("Checksum") }
})
const catalogue = { resources: [calls], familyByTable: new Map<string, string>() }
const template = await templateOf(catalogue)
const folder = newFolder()
const warehouse = ManagedRuntime.make(
  Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128, template })
)
const run = (sql: string) => warehouse.runPromise(Effect.flatMap(Warehouse, (one) => one.run(sql)))
const sha = (content: string) => createHash("sha256").update(content).digest("hex")
const pathOf = (content: string) => `files/${sha(content).slice(0, 2)}/${sha(content).slice(2)}.wav`
const svg = () => pathOf("one").replace(".wav", ".svg")
const store = (path: string, content: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}
const row = (name: string, content: string, isDeleted = false) =>
  `INSERT INTO crm.calls (location_id, id, path, bytes, sha256, _deleted_at) VALUES ('L', '${name}', '${pathOf(content)}', ${content.length}, '${sha(content)}', ${isDeleted ? "now()" : "NULL"});`
const found = async (isWhole = false) =>
  warehouse.runPromise(
    Effect.gen(function* () {
      const { findings, looked } = yield* checkFiles(yield* knownTables(catalogue), folder, isWhole)
      return { looked, findings: findings.map(({ level, what, where }) => `${level} ${where}: ${String(what)}`) }
    })
  )

/** As the checks find it, which read what is committed. */
const restore = async () => {
  rmSync(join(folder, "files"), { recursive: true, force: true })
  for (const content of ["one", "two"]) store(pathOf(content), content)
  await run(
    `DELETE FROM crm.calls; ${row("a", "one")} ${row("b", "two")} ${row("c", "two")} INSERT INTO crm.calls (location_id, id) VALUES ('L', 'without');`
  )
}
beforeAll(restore)
afterAll(() => warehouse.dispose())

/** Looks after a change of the rows and of the files, and undoes both. */
const after = async (sql: string, change: () => void = () => {}) => {
  if (sql !== "") await run(sql)
  change()
  const result = await found()
  await restore()
  return result.findings
}

describe("the files of rows", () => {
  it("are compared once each, and are not reported if they are as their rows say", async () =>
    assert.deepStrictEqual(await found(), { looked: "2 files", findings: [] }))

  it.each([
    ["missing", "", () => rmSync(join(folder, pathOf("one"))), [`wrong ${pathOf("one")}: missing`]],
    [
      "missing, and its row is deleted",
      "UPDATE crm.calls SET _deleted_at = now() WHERE id = 'a'",
      () => rmSync(join(folder, pathOf("one"))),
      []
    ],
    [
      "missing, and only one of its rows is deleted",
      "UPDATE crm.calls SET _deleted_at = now() WHERE id = 'b'",
      () => rmSync(join(folder, pathOf("two"))),
      [`wrong ${pathOf("two")}: missing`]
    ],
    ["longer", "", () => store(pathOf("one"), "longer"), [`wrong ${pathOf("one")}: it has 6 bytes; its row says 3`]],
    [
      "another one of the same length",
      "",
      () => store(pathOf("one"), "eno"),
      [`wrong ${pathOf("one")}: its SHA-256 differs from its row`]
    ],
    [
      "another one, and its row is deleted",
      "UPDATE crm.calls SET _deleted_at = now() WHERE id = 'a'",
      () => store(pathOf("one"), "eno"),
      [`wrong ${pathOf("one")}: its SHA-256 differs from its row`]
    ],
    [
      "without a checksum",
      "UPDATE crm.calls SET sha256 = NULL WHERE id = 'a'",
      () => {},
      [`wrong ${pathOf("one")}: a row has no checksum`]
    ],
    [
      "outside the folder",
      "UPDATE crm.calls SET path = '../../etc/passwd' WHERE id = 'a'",
      () => {},
      [
        "wrong ../../etc/passwd: a row refers to what is no file of sluice",
        `note ${pathOf("one")}: no row refers to it`
      ]
    ],
    [
      "run by browsers",
      `UPDATE crm.calls SET path = '${svg()}' WHERE id = 'a'`,
      () => renameSync(join(folder, pathOf("one")), join(folder, svg())),
      [`note ${svg()}: an earlier version gave it an ending by which a browser runs it; exports give it another`]
    ],
    ["of no row", "DELETE FROM crm.calls WHERE id = 'a'", () => {}, [`note ${pathOf("one")}: no row refers to it`]]
  ] as ReadonlyArray<readonly [string, string, () => void, ReadonlyArray<string>]>)(
    "of which one is %s",
    async (_, sql, change, expected) =>
      assert.deepStrictEqual((await after(sql, change)).toSorted(), [...expected].sort())
  )

  it("are compared byte by byte up to two hundred, unless all are, and the others by their size", async () => {
    const contents = Array.from({ length: 201 }, (_, n) => `content ${n}`)
    for (const content of contents) store(pathOf(content), content.toUpperCase())
    await run(`${contents.map((content, n) => row(`x${n}`, content)).join(" ")}`)
    const [sample, whole] = [await found(), await found(true)]
    await restore()
    assert.strictEqual(sample.looked, "203 files, 200 of them byte by byte")
    assert.isAtMost(sample.findings.length, 200)
    assert.isAtLeast(sample.findings.length, 198)
    assert.deepStrictEqual([whole.looked, whole.findings.length], ["203 files", 201])
  })
})

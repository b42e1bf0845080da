import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { outputFolder } from "../../src/features/doctor/environment.ts"
import { searchFolders } from "../../src/features/privacy/erasure/search.ts"
import { type OutputTable, isLocal, isScratch, outputFileOf, outputFiles, parts } from "../../src/output/contents.ts"
import { diskUse } from "../../src/output/disk.ts"
import { outputPaths } from "../../src/output/paths.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { type Account, discard, openSynced } from "../support/account.ts"
import { newFolder, sluice } from "../support/sluice.ts"

describe("the output folder", () => {
  let account: Account
  beforeAll(async () => {
    account = await openSynced({ tables: "contacts", flags: ["--contacts", "20"], formats: "duckdb,csv" })
    const run = (...args: ReadonlyArray<string>) =>
      sluice(args, { ...account.environment, SLUICE_FORMATS: "duckdb,csv" })
    const [contact] = await account.service.records("contacts")
    for (const args of [
      ["sync", ...account.selection],
      ["check"],
      ["hold", "add", "case-1", "--table", "invoices", "--reason", "test"],
      ["subject", "erase", "--contact", String(contact!["id"]), "--apply", "--reason", "test"],
      ["prune", "--apply"],
      ["rebuild"]
    ]) {
      const { code, stderr } = await run(...args)
      assert.include([0, 3, 4], code, `${args.join(" ")}: ${stderr}`)
    }
  })
  afterAll(() => discard(account))

  it("holds only what the table of its contents names", () => {
    const names = readdirSync(account.output)
    assert.includeMembers(names, ["vault", "warehouse.duckdb", "holds.json", "ledger.jsonl", "certificates"])
    assert.deepStrictEqual(
      names.filter((name) => outputFileOf(name) === undefined),
      []
    )
  })

  it("holds nothing that other users can read", async () => {
    chmodSync(account.output, 0o700)
    const modes = (await outputFolder(account.output)).find(({ where }) => where === "modes")
    assert.strictEqual(modes!.level, "ok", modes!.what)
  })

  it("holds nothing of a run when none works", () => {
    const names = readdirSync(account.output).filter((name) => name !== outputFiles.ledgerLock.name)
    assert.deepStrictEqual(
      names.filter((name) => isScratch(name) || outputFileOf(name)?.kind === "run"),
      []
    )
  })

  it("has its state where the paths say", () => {
    const paths = outputPaths(account.output)
    for (const key of ["vault", "warehouse", "ledger", "holds", "certificates", "suppressed"] as const)
      assert.isTrue(existsSync(paths[key]), key)
    assert.strictEqual(paths.vault, join(account.output, "vault"))
  })
})

it.each([
  "README.md",
  "queries",
  "my-notes.json",
  "warehouse.duckdb.bak",
  "rebuilt.duckdb.bak",
  "verify-notes",
  "lakes",
  "vault.old"
])("%s is its user's", (name) => assert.isUndefined(outputFileOf(name)))

it.each([
  "tmp",
  "verify-4711",
  "rebuilt.duckdb",
  "rebuilt.duckdb.wal",
  "warehouse.duckdb.copy-1f",
  "warehouse.duckdb.erased.tmp"
])("%s may be removed when nobody works", (name) => assert.isTrue(isScratch(name)))

it("what another machine needs is state, secrets and what was given to people", () => {
  for (const path of [
    "vault/000001.ndjson",
    "warehouse.duckdb",
    "warehouse.duckdb.wal",
    "tokens.json",
    "ledger.jsonl",
    "certificates/a.json"
  ])
    assert.isFalse(isLocal(path), path)
  for (const path of [
    "published",
    ".published/000001-a/manifest.json",
    "tmp/0",
    "holder.json",
    "vault/000003.ndjson.zst.part"
  ])
    assert.isTrue(isLocal(path), path)
})

describe("a file of a new entry of the table, and one of no entry", () => {
  const table: OutputTable = {
    ...outputFiles,
    tapes: { name: "tapes", kind: "state", part: "files", what: "recordings of meetings", suffix: /-\d+/ }
  }
  /** One file for each entry, and its name; what a database is opened as has the content in a file beside it. */
  const filled = (mode: number): { readonly folder: string; readonly names: ReadonlyArray<string> } => {
    const folder = newFolder()
    const names = [...Object.values(table).map(({ name }) => name), "tapes-7", "of-nobody.txt"].map((name) =>
      /duckdb$|ducklake$/.test(name) ? `${name}.wal` : name
    )
    for (const name of names) writeFileSync(join(folder, name), "Ada@Post.example", { mode })
    return { folder, names }
  }

  it.live("is found by the search of an erasure, as are all others", () =>
    Effect.gen(function* () {
      const { folder, names } = filled(0o600)
      const sought = { texts: [{ label: "email", text: "ada@post.example" }], records: [], resources: [] }
      const { found, unsearched } = yield* searchFolders(folder, [], sought, () => false).pipe(
        Effect.provide(Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128 }))
      )
      assert.deepStrictEqual([...new Set(found.map(({ place }) => place))].toSorted(), names.toSorted())
      assert.deepStrictEqual(unsearched, [])
    })
  )

  it.live("takes space of its part, and those of no part take little", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      mkdirSync(join(folder, "files"))
      for (const name of ["files/a.wav", "tapes", "tapes-7", "tapes.part", "ledger.jsonl", "of-nobody.txt"])
        writeFileSync(join(folder, name), "x".repeat(10))
      assert.deepStrictEqual(yield* diskUse(folder, { table }), [
        { part: "files", what: parts.files, bytes: 40, files: 4, isCut: false }
      ])
      assert.deepStrictEqual(
        (yield* diskUse(folder)).map(({ bytes, part }) => [part, bytes]),
        [["files", 10]]
      )
    })
  )

  it("is named by the check of modes if others can read it", async () => {
    const { folder, names } = filled(0o644)
    const modes = (await outputFolder(folder)).find(({ where }) => where === "modes")!
    assert.strictEqual(modes.level, "warning")
    assert.include(modes.what, `and ${names.length - 3} more`)
  })
})

import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { isLocal, isScratch, outputFileOf, outputFiles } from "../../src/output/contents.ts"
import { outputPaths } from "../../src/output/paths.ts"
import { type Account, discard, openSynced } from "../support/account.ts"
import { sluice } from "../support/sluice.ts"

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

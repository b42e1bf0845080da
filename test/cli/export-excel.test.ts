/** The Excel export; test/process/xlsx.test.ts reads its workbooks with other programs. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { type Account, discard, openSynced } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { newFolder, sluice } from "../support/sluice.ts"

describe("sluice export excel", () => {
  let account: Account
  const folder = newFolder()
  const file = join(folder, "book.xlsx")
  const run = (...args: ReadonlyArray<string>) => sluice(["export", "excel", ...args], account.environment)
  beforeAll(async () => {
    account = await openSynced({
      tables: "contacts,opportunities",
      flags: ["--contacts", "150", "--world", "nasty"],
      formats: "duckdb"
    })
  })
  afterAll(() => discard(account))

  it("writes a sheet for each table, readable only by its owner, and replaces an older file", async () => {
    writeFileSync(file, "older")
    const { code, stdout } = await run(file, "--only", "contacts,contacts_wide", "--only", "opportunities", "--json")
    assert.strictEqual(code, 0)
    const { data } = JSON.parse(stdout)
    const count = async (table: string) =>
      Number((await query(account.warehouse, `SELECT count(*) AS n FROM crm.${table}`))[0]!["n"])
    const contacts = await count("contacts")
    assert.deepStrictEqual(data.sheets, [
      { name: "contacts", table: "contacts", rows: contacts },
      { name: "contacts_wide", table: "contacts_wide", rows: contacts },
      { name: "opportunities", table: "opportunities", rows: await count("opportunities") }
    ])
    assert.strictEqual(readFileSync(file).subarray(0, 2).toString(), "PK")
    assert.strictEqual(statSync(file).mode & 0o077, 0)
    assert.deepStrictEqual(readdirSync(folder), ["book.xlsx"])
  })

  it("leaves deleted rows out unless they are requested", async () => {
    const rows = async (...flags: ReadonlyArray<string>) =>
      JSON.parse((await run(file, "--only", "contacts", "--json", ...flags)).stdout).data.rows
    const all = await rows()
    const deleteOne = "UPDATE crm.contacts SET _deleted_at = now() WHERE id = (SELECT min(id) FROM crm.contacts)"
    await Effect.runPromise(
      Effect.flatMap(Warehouse, ({ run: execute }) => execute(deleteOne)).pipe(
        Effect.provide(Warehouse.layer(account.warehouse, { access: "write", memoryMb: 128 }))
      )
    )
    assert.strictEqual(await rows(), all - 1)
    assert.strictEqual(await rows("--deleted"), all)
  })

  it.each([
    [["book.csv", "--only", "contacts"], /^sluice: book\.csv: the name of a workbook ends in \.xlsx\.$/m],
    [["/nowhere/book.xlsx", "--only", "contacts"], /there is no folder \/nowhere\.$/m],
    [["book.xlsx"], /^sluice: Name the tables of the workbook with --only: each becomes a sheet\.$/m],
    [["book.xlsx", "--only", "contcts"], /--only contcts: there is no such table or family; did you mean contacts\?$/m],
    [["book.xlsx", "--only", "contacts", "--except", "contacts"], /no table is left\.$/m],
    [["book.xlsx", "--only", ""], /--only "": no table or family is named\.$/m]
  ])("refuses %j with exit code 2", async (args, message) => {
    const { code, stderr } = await run(...args)
    assert.strictEqual(code, 2, stderr)
    assert.match(stderr, message)
    assert.isFalse(existsSync("book.xlsx"))
  })

  it("says of a folder with the name of the workbook that it is one, and leaves it", async () => {
    const path = join(newFolder(), "sales.xlsx")
    mkdirSync(path)
    const { code, stderr } = await run(path, "--only", "contacts")
    assert.strictEqual(code, 2)
    assert.match(stderr, /sales\.xlsx: it is a folder\.$/m)
    assert.deepStrictEqual(readdirSync(path), [])
  })

  it("keeps the older file if the new one cannot be written", async () => {
    const before = readFileSync(file)
    mkdirSync(`${file}.part`)
    const { code, stderr } = await run(file, "--only", "contacts")
    assert.strictEqual(code, 1)
    assert.match(stderr, /^sluice: .*book\.xlsx could not be written: EISDIR/m)
    assert.deepStrictEqual(readFileSync(file), before)
  })
})

import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Account } from "../support/account.ts"
import { copyOf, flip, openSynced, sql, verifyBroken } from "../support/broken.ts"
import { sluice } from "../support/sluice.ts"

let account: Account
/** The account with published files. */
let published: string
beforeAll(async () => {
  account = await openSynced()
  published = copyOf(account.output)
  const ran = await sluice(["publish"], { SLUICE_OUTPUT: published, SLUICE_FORMATS: "duckdb,parquet,csv" })
  assert.strictEqual(ran.code, 0, ran.stderr)
})
afterAll(() => {
  account.service.stop()
  for (const folder of [account.output, published]) rmSync(folder, { recursive: true })
})

type BrokenFile = [name: string, damage: (published: string) => unknown, wrong: RegExp]
const contacts = "parquet/contacts/part-0.parquet"
const edit = (path: string, change: (text: string) => string) => writeFileSync(path, change(readFileSync(path, "utf8")))

describe("one published file broken is named, and nothing else", () => {
  it.each<BrokenFile>([
    [
      "cut short",
      (folder) => truncateSync(join(folder, contacts), 1000),
      /parquet: 1,000 bytes, and the manifest says \d+$/
    ],
    ["a byte changed", (folder) => flip(join(folder, "csv/contacts.csv")), /csv\/contacts\.csv: its content is not/],
    ["missing", (folder) => rmSync(join(folder, "crm.duckdb")), /crm\.duckdb: missing$/],
    [
      "rows counted wrongly, CSV",
      (folder) => edit(join(folder, "manifest.json"), recount("csv/contacts.csv")),
      /csv\/contacts\.csv: (\d+) rows, and the manifest says \d+$/
    ],
    [
      "rows counted wrongly, Parquet",
      (folder) => edit(join(folder, "manifest.json"), recount(contacts)),
      /part-0\.parquet: (\d+) rows, and the manifest says \d+$/
    ],
    ["no manifest", (folder) => rmSync(join(folder, "manifest.json")), /manifest\.json: it cannot be read/],
    [
      "half a manifest",
      (folder) => truncateSync(join(folder, "manifest.json"), 500),
      /manifest\.json: it is no manifest/
    ],
    [
      "a run nobody knows",
      (folder) =>
        edit(join(folder, "manifest.json"), (text) => text.replace(/"run": "\w+"/, '"run": "20200101T000000000Z"')),
      /manifest\.json: it names run 20200101T000000000Z, which the warehouse does not know$/
    ]
  ])("%s", async (...[, damage, pattern]: BrokenFile) => {
    const { wrong, result } = await verifyBroken(account, published, (folder) => damage(join(folder, "published")))
    assert.strictEqual(wrong.length, 1, wrong.join("\n"))
    assert.match(wrong[0]!, pattern)
    assert.strictEqual(result.next, "./sluice publish")
  })
})
const recount = (path: string) => (text: string) => {
  const manifest = JSON.parse(text)
  manifest.files.find((file: { readonly path: string }) => file.path === path).rows += 1
  return JSON.stringify(manifest)
}

describe("good files", () => {
  it("pass, in every format", async () => {
    const { wrong, result } = await verifyBroken(account, published, () => {})
    assert.deepStrictEqual(wrong, [])
    const { looked } = result.checks.find(({ check }) => check === "published")!
    assert.match(looked, /^[1-9]\d\d files of run \w+, [1-9]\d* MB$/)
  })

  it("pass for spreadsheets too, whose cells hold line ends, quotes and long texts", async () => {
    const { wrong } = await verifyBroken(account, published, async (folder) => {
      await sql(
        folder,
        `UPDATE crm.contacts SET source = '=1+1' || chr(10) || '"two"' || chr(13) || chr(10) || repeat('long ', 9000)`
      )
      const ran = await sluice(["publish", "--csv-profile", "spreadsheet"], {
        SLUICE_OUTPUT: folder,
        SLUICE_FORMATS: "csv"
      })
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.include(readFileSync(join(folder, "published/csv/contacts.csv"), "utf8"), `"'=1+1\n`)
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("that are older than the tables are told", async () => {
    const { wrong, notes } = await verifyBroken(account, published, (folder) =>
      sql(folder, "INSERT INTO meta.runs (run_id, command) VALUES ('20990101T000000000Z', 'sync')")
    )
    assert.deepStrictEqual(wrong, [])
    assert.match(
      notes.join("\n"),
      /^published: manifest\.json: published by run \w+; the last one is 20990101T000000000Z$/m
    )
  })
})

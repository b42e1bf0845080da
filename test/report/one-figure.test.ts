/** The commands and pages say the same number for the same thing at the same moment. */
import { DuckDBInstance } from "@duckdb/node-api"
import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { readCatalog } from "../../src/features/explore/catalog.ts"
import { plannedText, sumOf } from "../../src/values/range.ts"
import { discard, openAlone } from "../support/account.ts"
import { sluice } from "../support/sluice.ts"
import { numberIn, rowsOf, textOf, tile } from "./reading.ts"

/** All rows of each table, and those that exist, which the list of the page shows. */
const explorerRows = async (database: string) => {
  const instance = await DuckDBInstance.create(database, { access_mode: "READ_ONLY" })
  const connection = await instance.connect()
  const tables = await readCatalog(connection)
  connection.closeSync()
  instance.closeSync()
  const ofMain = tables.filter(({ schema }) => schema === "main")
  return new Map(ofMain.map(({ deleted = 0, name, rows = 0 }) => [name, { all: rows, existing: rows - deleted }]))
}

it("what is planned has its likely number first, if it is known, and the range after it", () => {
  assert.strictEqual(plannedText({ min: 1863, likely: 3127 }), "about 3,100 requests (at least 1,863)")
  assert.strictEqual(plannedText({ min: 40, max: 90, likely: 62 }), "about 62 requests (40 to 90)")
  assert.strictEqual(plannedText({ min: 41, max: 41, likely: 41 }), "41 requests")
  assert.strictEqual(plannedText({ min: 58 }), "at least 58 requests")
  assert.strictEqual(plannedText({ min: 0 }), "an unknown number of requests")
  // A sum has a likely number only if each part has one.
  assert.deepStrictEqual(
    sumOf([
      { min: 1, likely: 4 },
      { min: 2, max: 3 }
    ]),
    { min: 3 }
  )
})

it(
  "a sync, status, the report, the explorer and the dictionary have the same rows and resources",
  { tags: ["slow"] },
  async () => {
    const account = await openAlone("contacts,conversations,custom_fields,locations", "--contacts", "20")
    onTestFinished(() => discard(account))
    const { service } = account
    const environment = { ...account.environment, SLUICE_FORMATS: "duckdb" }
    const [one, two] = await service.records("conversations")
    for (const { id } of [one!, two!])
      await service.post("edit", { collection: "conversations", id, fields: { deleted: true } })
    const synced = await sluice(["sync", ...account.selection], environment)
    assert.strictEqual(synced.code, 0, synced.stderr)
    const [, line, tables, rows] = /^((\d+) tables?, ([\d,]+) rows)/m.exec(synced.stdout) ?? assert.fail(synced.stdout)

    const status = await sluice(["status"], environment)
    assert.include(status.stdout, `The last release has ${line}\n`)
    const resources = /^(?:All )?(\d+)(?: of \d+)? resources are complete/m.exec(status.stdout)?.[1]

    const html = readFileSync(join(account.output, "published/report/index.html"), "utf8")
    assert.strictEqual(tile(html, "rows"), rows)
    assert.include(textOf(html), `in ${tables} tables`)
    assert.strictEqual(rowsOf(html, "readings").length, Number(resources))

    const dictionary = await sluice(["dictionary", "--as", "html"], environment)
    assert.include(textOf(dictionary.stdout), `rows in the tables ${rows} `)

    const byExplorer = await explorerRows(join(account.output, "published/crm.duckdb"))
    const manifest = JSON.parse(readFileSync(join(account.output, "published/manifest.json"), "utf8"))
    const current = manifest.tables.filter(({ schema }: { schema: string }) => schema === "crm")
    for (const { rows: counted, table } of current) assert.strictEqual(byExplorer.get(table)?.all, counted, table)
    const byReport = new Map(rowsOf(html, "table-changes").map(([table, ...cells]) => [table, cells.map(numberIn)]))
    for (const [table, [count, ofDeleted, added, , deleted]] of byReport) {
      assert.deepStrictEqual(byExplorer.get(table!), { all: count!, existing: count! - ofDeleted! }, table)
      // The first run added every row; those that came as deleted were never there to be deleted.
      assert.deepStrictEqual([added, deleted], [count, 0], table)
    }
    assert.isAtLeast(byReport.get("conversations")![1]!, 2)

    // One that the service flags later is deleted, and not changed as well.
    const [, , three] = await service.records("conversations")
    await service.post("edit", { collection: "conversations", id: three!["id"], fields: { deleted: true } })
    const again = await sluice(["sync", "--again=lists", "--json", ...account.selection], environment)
    const read = JSON.parse(again.stdout).data.resources as ReadonlyArray<Record<string, unknown>>
    const { changedRows, deletedRows, newRows } = read.find(({ resource }) => resource === "conversations")!
    assert.deepStrictEqual({ changedRows, deletedRows, newRows }, { changedRows: 0, deletedRows: 1, newRows: 0 })
  }
)

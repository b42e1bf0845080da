import { DuckDBInstance } from "@duckdb/node-api"
import { assert, describe, it } from "@effect/vitest"
import { discover } from "../../src/catalog/discover.ts"
import { contractOf } from "../../src/stages/publish/contracts/contract.ts"
import { exampleQuery } from "../../src/stages/publish/contracts/example-query.ts"
import { name } from "../../src/stores/warehouse/sql.ts"
import { sluice } from "../support/sluice.ts"

describe("the dictionary as HTML", () => {
  it("has a section for each table, a diagram for each family, and no address outside the page", async () => {
    const { code, stdout } = await sluice(["dictionary", "--html"], {})
    assert.strictEqual(code, 0)
    const tables = contractOf(await discover())
    const sections = Array.from(stdout.matchAll(/<section class="table" id="(\w+)">/g), ([, id]) => id)
    assert.sameMembers(
      sections,
      tables.map((table) => table.name)
    )
    const families = new Set(tables.map(({ family }) => family))
    assert.lengthOf(stdout.match(/<svg /g)!, families.size)
    const targets = Array.from(stdout.matchAll(/ (?:xlink:)?href="([^"]*)"/g), ([, target]) => target!)
    assert.isAbove(targets.length, tables.length)
    for (const target of targets) assert.include(sections, target.replace("#", ""))
    assert.notMatch(stdout.replaceAll(/xmlns(:xlink)?="[^"]*"/g, ""), /(src|href|url)\W{1,3}(https?:)?\/\//)
  })

  it("of one table has only this one", async () => {
    const { stdout } = await sluice(["dictionary", "contact_notes", "--html"], {})
    assert.lengthOf(stdout.match(/<section class="table"/g)!, 1)
  })

  it("shows a query for each table that DuckDB accepts", async () => {
    const tables = contractOf(await discover())
    const connection = await (await DuckDBInstance.create(":memory:")).connect()
    for (const { name: table, columns } of tables)
      await connection.run(
        `CREATE TABLE ${name(table)} (${columns.map((column) => `${name(column.name)} ${column.type}`).join(", ")})`
      )
    for (const table of tables) await connection.run(exampleQuery(table, tables))
    const joined = tables.filter((table) => exampleQuery(table, tables).includes("LEFT JOIN"))
    assert.isAbove(joined.length, 40)
    connection.closeSync()
  })
})

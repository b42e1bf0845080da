import { DuckDBInstance } from "@duckdb/node-api"
import { assert, describe, it } from "@effect/vitest"
import { readdirSync } from "node:fs"
import { discover } from "../../src/catalog/discover.ts"
import { contractOf } from "../../src/stages/publish/contracts/contract.ts"
import { exampleQuery } from "../../src/stages/publish/contracts/dictionary-parts.ts"
import { name } from "../../src/stores/warehouse/sql.ts"
import { discard, openSynced } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

describe("the dictionary as HTML", () => {
  const printed = async (names: ReadonlyArray<string>, environment = {}) => {
    const { code, stdout } = await sluice(["dictionary", ...names, "--as", "html"], environment)
    assert.strictEqual(code, 0)
    return stdout
  }
  const idsOf = (page: string) => Array.from(page.matchAll(/ id="([\w.-]+)"/g), ([, id]) => id!)

  it("has a section for each table and model, and no address outside the page", async () => {
    const stdout = await printed([])
    const tables = contractOf(await discover())
    const sections = Array.from(stdout.matchAll(/<section class="table" id="([\w.]+)">/g), ([, id]) => id)
    const models = readdirSync(new URL("../../models/marts/", import.meta.url)).filter((file) => file.endsWith(".sql"))
    assert.sameMembers(sections, [
      ...models.map((file) => `bi.${file.replace(".sql", "")}`),
      ...tables.map((table) => table.name)
    ])
    const targets = Array.from(stdout.matchAll(/ (?:xlink:)?href="([^"]*)"/g), ([, target]) => target!)
    assert.isAbove(targets.length, tables.length)
    // What a model is made of says so as well.
    const linked = (word: string) =>
      Array.from(stdout.matchAll(/<section class="table" id="([\w.]+)">(.*?)<\/section>/gs), ([, id, section]) =>
        Array.from(section!.matchAll(new RegExp(`(?:^|>)${word} .*`, "gm")), ([line]) =>
          Array.from(line.matchAll(/href="#([\w.]+)"/g), ([, other]) => [id!, other!] as const)
        ).flat()
      ).flat()
    const made = linked("Made of")
    assert.isAbove(made.length, models.length)
    assert.sameDeepMembers(
      linked("Read by").map(([id, other]) => [other, id] as const),
      made
    )
    const ids = new Set(idsOf(stdout))
    assert.deepStrictEqual(
      targets.filter((target) => !ids.has(target.replace("#", ""))),
      []
    )
    assert.notMatch(stdout.replaceAll(/xmlns(:xlink)?="[^"]*"/g, ""), /(src|href|url)\W{1,3}(https?:)?\/\//)
  })

  it("of one table has only this one", async () => {
    assert.lengthOf((await printed(["contact_notes"])).match(/<section class="table"/g)!, 1)
    const model = await printed(["fct_opportunity"])
    assert.lengthOf(model.match(/<section class="table"/g)!, 1)
    assert.include(model, "is opportunities.monetary_value")
  })

  it("of personal data has only the columns that contain some", async () => {
    const page = await printed(["contact_tags", "--personal-data"])
    assert.deepStrictEqual(
      Array.from(page.matchAll(/<tr id="contact_tags\.(\w+)">/g), ([, column]) => column),
      ["tag", "_extra"]
    )
  })

  it(
    "says of an account how many rows there are, when they were read, and its custom fields",
    { tags: ["slow"] },
    async () => {
      const account = await openSynced({
        tables: "contacts,custom_fields",
        flags: ["--contacts", "40"],
        formats: "duckdb,csv"
      })
      const page = await printed([], account.environment)
      const [{ field, columns, fields } = {}] = await query(
        account.warehouse,
        `SELECT min(f.name) AS field, count(w.field)::INTEGER AS columns, count(DISTINCT f.id)::INTEGER AS fields
       FROM crm.custom_fields AS f LEFT JOIN meta.wide_columns AS w ON w.field = f.id
       WHERE f.document_type IS DISTINCT FROM 'folder'`
      )
      const section = (id: string) =>
        page.slice(page.indexOf(`<section class="table" id="${id}"`)).split("</section>")[0]!
      assert.match(
        section("contacts"),
        /<p class="facts">40 rows · last read completely \d{4}-\d\d-\d\d \d\d:\d\d UTC</
      )
      assert.include(section("bi.dim_contact"), '<p class="facts">40 rows<')
      const custom = section("custom-fields")
      assert.include(custom, `<th scope="row" class="">${String(field)}</th>`)
      assert.lengthOf(custom.match(/<th scope="row" /g)!, Number(fields))
      assert.lengthOf(custom.match(/<code>\w+_wide\.\w+<\/code>/g)!, Number(columns))
      discard(account)
    }
  )

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

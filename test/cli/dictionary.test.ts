import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { newFolder, sluice } from "../support/sluice.ts"

const printed = async (args: ReadonlyArray<string>, columns?: number): Promise<string> => {
  const ran = await sluice(["dictionary", ...args], {}, columns === undefined ? {} : { columns })
  assert.strictEqual(ran.code, 0, ran.stderr)
  return ran.stdout
}
const headings = (text: string) => Array.from(text.matchAll(/^### ([\w.]+)$/gm), ([, name]) => name!)
const tooLong = (text: string, width: number) => text.split("\n").filter((line) => line.length > width)

describe("dictionary", () => {
  it("of tables and families contains these, and the same text as the whole dictionary", async () => {
    const whole = await printed([])
    const some = await printed(["payments", "users"])
    assert.includeMembers(headings(some), ["orders", "order_items", "users"])
    assert.notInclude(headings(some), "contacts")
    assert.deepStrictEqual(headings(await printed(["contact_notes"])), ["contact_notes"])
    assert.include(whole, (await printed(["contact_notes"])).trim())
  })

  it("as JSON contains the named tables", async () => {
    const { tables } = JSON.parse(await printed(["contact_notes", "contact_tags", "--json"])).data
    assert.sameMembers(
      tables.map(({ name }: { name: string }) => name),
      ["contact_notes", "contact_tags"]
    )
  })

  it("of personal data contains only columns and tables that have some", async () => {
    const { tables } = JSON.parse(await printed(["custom_fields", "contact_tags", "--personal-data", "--json"])).data
    assert.deepStrictEqual(
      tables.map(({ name, columns }: { name: string; columns: ReadonlyArray<{ name: string; personal: string }> }) => [
        name,
        ...columns.map((column) => `${column.name} ${column.personal}`)
      ]),
      [
        ["custom_fields", "_extra direct"],
        ["contact_tags", "tag quasi", "_extra direct"]
      ]
    )
    assert.include(await printed(["--personal-data"], 100), "personal data: sensitive")
  })

  it(
    "describes a model, with its schema or without, and from which columns each of its own is made",
    { tags: ["slow"] },
    async () => {
      const model = JSON.parse(await printed(["fct_opportunity", "--json"])).data.models[0]
      assert.deepStrictEqual(JSON.parse(await printed(["bi.fct_opportunity", "--json"])).data.models[0], model)
      const origins = Object.fromEntries(
        model.columns.map(({ name, copyOf, from }: { name: string; copyOf?: string; from: ReadonlyArray<string> }) => [
          name,
          copyOf === undefined ? from : `is ${copyOf}`
        ])
      )
      assert.deepInclude(origins, {
        opportunity_id: "is opportunities.id",
        monetary_value: "is opportunities.monetary_value",
        pipeline_name: "is pipelines.name",
        is_won: ["opportunities.status"],
        closed_at: ["opportunities.status", "opportunities.last_status_change_at"]
      })
      assert.deepStrictEqual(headings(await printed(["fct_opportunity"])), ["bi.fct_opportunity"])
      assert.match(
        await printed(["fct_opportunity"], 100),
        /^bi\.fct_opportunity\n.* opportunity_id +VARCHAR .*\[is /ms
      )
      assert.deepStrictEqual(tooLong(await printed(["fct_opportunity"], 100), 100), [])
      assert.isAbove(headings(await printed(["bi"])).length, 20)
    }
  )

  it("names the closest table of a misspelt one", async () => {
    const { code, stderr } = await sluice(["dictionary", "contct_notes"], {})
    assert.strictEqual(code, 2)
    assert.strictEqual(
      stderr,
      "sluice: contct_notes: there is no such table, model or family; did you mean contact_notes?\nNext: ./sluice dictionary contact_notes\n"
    )
  })

  it("on a terminal lists every table in one line, and describes one in aligned text that fits", async () => {
    const lines = (await printed([], 90)).trim().split("\n")
    assert.deepStrictEqual(lines.map((line) => line.split(" ")[0]!).toSorted(), headings(await printed([])).toSorted())
    assert.deepStrictEqual(tooLong(lines.join("\n"), 90), [])
    const one = await printed(["contact_notes"], 90)
    assert.match(one, /^contact_notes\n\w/)
    assert.match(one, /^ {2}contact_id +VARCHAR +\w.*refers to/m)
    assert.notMatch(one, /\||`|###/)
    assert.deepStrictEqual(tooLong(one, 90), [])
  })

  it("on a terminal shows the coverage without Markdown", async () => {
    const operations = JSON.parse(await printed(["--coverage", "--json"])).data.operations
    const text = await printed(["--coverage"], 100)
    assert.notInclude(text, "|")
    for (const { operation } of operations) assert.include(text, operation)
  })

  it("has the models of the folder that a settings file names, wherever that is", async () => {
    const folder = newFolder()
    const [models, config] = [join(folder, "models"), join(folder, "sluice.toml")]
    mkdirSync(models)
    writeFileSync(join(models, "won_deals.sql"), "SELECT opportunity_id FROM {{ ref('fct_opportunity') }}")
    writeFileSync(config, `[models]\nfolder = "${models}"\n`)
    const own = await sluice(["dictionary", "won_deals", "--config", config, "--output", join(folder, "output")], {})
    assert.strictEqual(own.code, 0, own.stderr)
    assert.match(own.stdout, /opportunity_id/)
    assert.strictEqual((await sluice(["dictionary", "won_deals"], {})).code, 2)
  })
})

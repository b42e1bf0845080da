import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"
import { discover } from "../../src/catalog/discover.ts"
import { contractOf } from "../../src/stages/publish/contracts/contract.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const tables = contractOf(await discover())

describe("models export", () => {
  const folder = newFolder()

  it("writes a staging view, sources and tests for every table beside the models", async () => {
    const { code, stderr } = await sluice(["models", "export", folder], {})
    assert.strictEqual(code, 0, stderr)
    const files = globSync("**/*", { cwd: folder })
    assert.includeMembers(files, ["dbt_project.yml", "marts/dim_contact.sql", "staging/_sources.yml"])
    assert.sameMembers(
      files.filter((file) => /^staging\/.*\.sql$/.test(file)),
      [
        "staging/location_time_zones.sql",
        "staging/payment_versions.sql",
        "staging/stated_currencies.sql",
        ...tables.map(({ name }) => `staging/stg_${name}.sql`)
      ]
    )
    const { models } = parse(readFileSync(join(folder, "staging/_staging.yml"), "utf8")) as {
      models: ReadonlyArray<{ name: string; columns: ReadonlyArray<{ name: string; data_tests?: unknown }> }>
    }
    assert.lengthOf(models, tables.length)
    const notes = models.find(({ name }) => name === "stg_contact_notes")!
    assert.deepStrictEqual(notes.columns.find(({ name }) => name === "contact_id")?.data_tests, [
      { relationships: { arguments: { to: "ref('stg_contacts')", field: "id" }, config: { severity: "warn" } } }
    ])
  })

  it("writes views of all columns but two, without deleted rows", () => {
    const text = readFileSync(join(folder, "staging/stg_contact_notes.sql"), "utf8")
    const columns = tables.find(({ name }) => name === "contact_notes")!.columns.map(({ name }) => name)
    assert.deepStrictEqual(
      Array.from(text.matchAll(/^ {2}(\w+),?$/gm), ([, name]) => name),
      columns.filter((name) => name !== "_deleted_at" && name !== "_row_hash")
    )
    assert.match(text, /\{\{ source\('crm', 'contact_notes'\) \}\}\nWHERE _deleted_at IS NULL\n$/)
  })

  it("writes texts that are about templates as texts, and not as templates", () => {
    const texts = readFileSync(join(folder, "staging/_staging.yml"), "utf8")
    assert.match(texts, /\{\{ '\{\{' \}\} custom_values/)
    assert.notMatch(texts, /\{\{ custom_values/)
  })

  it("writes into no folder with other files, and with --force replaces its own files only", async () => {
    writeFileSync(join(folder, "mine.sql"), "SELECT 1")
    writeFileSync(join(folder, "dbt_project.yml"), "old")
    const refused = await sluice(["models", "export", folder], {})
    assert.strictEqual(refused.code, 2)
    assert.include(refused.stderr, "is not empty. Nothing was written.")
    assert.strictEqual(readFileSync(join(folder, "dbt_project.yml"), "utf8"), "old")
    assert.strictEqual((await sluice(["models", "export", folder, "--force"], {})).code, 0)
    assert.strictEqual(readFileSync(join(folder, "mine.sql"), "utf8"), "SELECT 1")
    assert.include(readFileSync(join(folder, "dbt_project.yml"), "utf8"), "name: sluice")
  })
})

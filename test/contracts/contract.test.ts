import { assert, describe, it } from "@effect/vitest"
import { readFileSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parse } from "yaml"
import { discover } from "../../src/catalog/discover.ts"
import { type ReleasedTable, breakingChanges, contractOf } from "../../src/stages/publish/contracts/contract.ts"
import { odcsTables } from "../../src/stages/publish/contracts/odcs.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const docs = fileURLToPath(new URL("../../docs/contract/", import.meta.url))
const changelog = readFileSync(new URL("../../CHANGELOG.md", import.meta.url), "utf8")
const newestFirst = readdirSync(docs).toSorted((one, other) => other.localeCompare(one, "en", { numeric: true }))
const released = (parse(readFileSync(join(docs, newestFirst[0]!), "utf8")) as { schema: Array<ReleasedTable> }).schema

it("the definitions break the contract of the last release only where CHANGELOG.md says so", async () => {
  const breaking = breakingChanges(released, odcsTables(contractOf(await discover())))
  const unreleased = changelog.slice(changelog.indexOf("## Unreleased")).split(/^## /m)[1]!
  const missing = breaking.filter((line) => !unreleased.includes(line))
  assert.deepStrictEqual(missing, [], "CHANGELOG.md needs these lines under Unreleased")
})

const column = (name: string, physicalType: string, more: object = {}) => ({ name, physicalType, ...more })
const key = { primaryKeyPosition: 1, required: true }

describe("breaking changes", () => {
  const id = column("id", "VARCHAR", key)
  const value = column("value", "DECIMAL(18,4)")
  const n = column("n", "BIGINT")
  const deals: ReleasedTable = { name: "deals", properties: [id, value, n] }
  const notes: ReleasedTable = { name: "notes", properties: [id] }
  const before = [deals, notes]
  const after = (properties: ReleasedTable["properties"]) => breakingChanges(before, [{ ...deals, properties }, notes])

  it("are removed tables and columns, narrower types, other keys, and NULL where there was none", () => {
    assert.deepStrictEqual(breakingChanges(before, [deals]), ["Table `notes` was removed."])
    assert.deepStrictEqual(after([id, value]), ["Column `deals.n` was removed."])
    assert.deepStrictEqual(after([id, column("value", "DECIMAL(18,2)"), n]), [
      "Column `deals.value` changed its type from DECIMAL(18,4) to DECIMAL(18,2)."
    ])
    assert.deepStrictEqual(after([id, column("value", "VARCHAR"), n]), [
      "Column `deals.value` changed its type from DECIMAL(18,4) to VARCHAR."
    ])
    assert.deepStrictEqual(after([column("id", "VARCHAR", { primaryKeyPosition: 1 }), value, n]), [
      "Column `deals.id` may be NULL now."
    ])
    assert.deepStrictEqual(
      after([column("id", "VARCHAR", { ...key, primaryKeyPosition: 2 }), { ...value, primaryKeyPosition: 1 }, n]),
      ["The key of table `deals` changed from (id) to (value, id)."]
    )
  })

  it("are not new tables, new columns and wider numbers", () => {
    const wider = [id, column("value", "DECIMAL(38,7)"), column("n", "DECIMAL(38,7)"), column("more", "JSON")]
    assert.deepStrictEqual(
      breakingChanges(before, [{ name: "deals", properties: wider }, notes, { name: "new", properties: [] }]),
      []
    )
  })
})

describe("contract check", () => {
  const check = (text: string) => {
    const file = join(newFolder(), "contract.yaml")
    writeFileSync(file, text)
    return sluice(["contract", "check", file], {})
  }

  it(
    "accepts the contract that contract print writes, and names what a column that is gone breaks",
    { tags: ["slow"] },
    async () => {
      const { stdout } = await sluice(["contract", "print"], {})
      assert.strictEqual((await check(stdout)).code, 0)
      const renamed = await check(stdout.replace("name: date_of_birth", "name: birthday"))
      assert.strictEqual(renamed.code, 1)
      assert.include(renamed.stdout, "Column `contacts.birthday` was removed.")
    }
  )

  it.each([
    ["a missing file", undefined],
    ["text that is not YAML", "a: [b"],
    ["another YAML file", "schema: []"],
    ["a contract with a table without columns", "kind: DataContract\nschema:\n  - name: contacts"]
  ])("refuses %s, names the file and the next command", async (_, text) => {
    const ran =
      text === undefined ? await sluice(["contract", "check", "/nowhere/contract.yaml"], {}) : await check(text)
    assert.strictEqual(ran.code, 2)
    assert.match(ran.stderr, /contract\.yaml: /)
    assert.include(ran.stderr, "./sluice contract print")
  })
})

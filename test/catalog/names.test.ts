/** Names of tables and columns, of every definition. */
import { assert, describe, it } from "@effect/vitest"
import { discover } from "../../src/catalog/discover.ts"
import { tablesOf } from "../../src/catalog/tables.ts"
import { query } from "../support/compare.ts"

const catalogue = await discover()

describe("names", () => {
  const columns = catalogue.resources
    .flatMap((resource) => tablesOf(resource))
    .flatMap((table) => table.columns.map((column) => ({ table, column })))

  it("need no quotes: none is a reserved word of DuckDB", async () => {
    const reserved = await query(
      ":memory:",
      "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'",
      "READ_WRITE"
    )
    const words = new Set(reserved.map(({ keyword_name }) => String(keyword_name)))
    assert.isTrue(words.has("from") && words.has("order"))
    const names = columns.flatMap(({ table, column }) => [table.name, column.name])
    assert.deepStrictEqual(
      names.filter((name) => words.has(name) || !/^[a-z_][a-z0-9_]*$/.test(name)),
      []
    )
  })

  it("of ids end in _id", () => {
    // Field of the API that every table of work has, and that reports know by its name.
    const exceptions = ["id", "assigned_to"]
    const odd = columns.filter(({ column }) => column.references && !column.name.endsWith("_id"))
    assert.deepStrictEqual(
      odd
        .map(({ table, column }) => `${table.name}.${column.name}`)
        .filter((name) => !exceptions.includes(name.split(".")[1]!)),
      []
    )
  })

  it("put a currency beside every amount", () => {
    // Amounts of the account, and settings that have the currency of the document they are put on.
    const exceptions = ["opportunities", "invoice_settings", "coupons"]
    const alone = columns.filter(
      ({ table, column }) =>
        column.type === "decimal" &&
        column.personal === "financial" &&
        !exceptions.includes(table.name) &&
        !table.columns.some(({ name }) => name === "currency")
    )
    assert.deepStrictEqual(
      alone.map(({ table, column }) => `${table.name}.${column.name}`),
      []
    )
  })
})

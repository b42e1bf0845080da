/** The names of the tables and columns of every definition. */
import { assert, describe, it } from "@effect/vitest"
import { discover } from "../../src/catalog/discover.ts"
import { tablesOf } from "../../src/catalog/tables.ts"

const catalogue = await discover()

describe("names", () => {
  const columns = catalogue.resources
    .flatMap((resource) => tablesOf(resource))
    .flatMap((table) => table.columns.map((column) => ({ table, column })))

  it("of columns that refer to a table end in _id", () => {
    // `assigned_to` is the name of the API, which reports use.
    const exceptions = ["id", "assigned_to"]
    const unexpected = columns.filter(({ column }) => column.references && !column.name.endsWith("_id"))
    assert.deepStrictEqual(
      unexpected
        .map(({ table, column }) => `${table.name}.${column.name}`)
        .filter((name) => !exceptions.includes(name.split(".")[1]!)),
      []
    )
  })

  it("include a currency in every table with an amount", () => {
    // Amounts in the currency of the account, and settings in the currency of the document that they apply to.
    const exceptions = ["opportunities", "invoice_settings", "coupons", "services", "service_variations", "documents"]
    const withoutCurrency = columns.filter(
      ({ table, column }) =>
        column.type === "decimal" &&
        column.personal === "financial" &&
        !exceptions.includes(table.name) &&
        !table.columns.some(({ name }) => name === "currency")
    )
    assert.deepStrictEqual(
      withoutCurrency.map(({ table, column }) => `${table.name}.${column.name}`),
      []
    )
  })
})

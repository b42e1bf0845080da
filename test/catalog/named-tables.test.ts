/** What a name stands for where tables are chosen. */
import { assert, it } from "@effect/vitest"
import { choosableNames, namedTables } from "../../src/catalog/published-tables.ts"

const familyByTable = new Map([
  ["invoices", "invoices"],
  ["invoice_items", "invoices"],
  ["estimates", "invoices"],
  ["orders", "payments"],
  ["transactions", "payments"]
])
const tables = [...familyByTable.keys(), "orders_wide"]

it.each([
  ["invoices", ["invoices"]],
  ["invoices/*", ["invoices", "invoice_items", "estimates"]],
  ["payments", ["orders", "transactions"]],
  ["payments/*", ["orders", "transactions"]],
  ["orders_wide", ["orders_wide"]],
  ["orders/*", []],
  ["invoice", []],
  ["", []],
  ["/*", []]
])("%s is %j", (written, expected) => {
  assert.deepStrictEqual(namedTables(written, tables, familyByTable), expected)
})

it("does not take the family of a table that is not among those to choose from", () => {
  assert.deepStrictEqual(namedTables("invoices", ["estimates"], familyByTable), [])
})

it("offers only names that stand for something", () => {
  const names = choosableNames(tables, familyByTable)
  assert.includeMembers([...names], ["invoices", "invoices/*", "payments"])
  for (const name of names) assert.isNotEmpty(namedTables(name, tables, familyByTable))
})

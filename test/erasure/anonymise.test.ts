import { assert, it } from "@effect/vitest"
import { date, decimal, id, text } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { defineList } from "../../src/catalog/resource.ts"
import { anonymised } from "../../src/features/privacy/erasure/redact-frame.ts"

const bills = defineList({
  table: "bills",
  description: "d",
  source: "s",
  scope: "s",
  full: [{ request: get("/bills"), paging: { kind: "once" }, records: "bills", pageSize: 10 }],
  fields: { id: id("Id"), total: decimal("Total"), due: date("Due"), currency: text("Currency") }
})

it("a record that is kept loses what its columns cannot read, which may be any text", () => {
  const keep = (record: object) => anonymised(bills, record, (contact) => contact)
  const readable = { id: "b1", total: 12.5, due: "2026-01-31", currency: "EUR" }
  assert.deepStrictEqual(keep(readable), readable)
  assert.deepStrictEqual(keep({ id: "b1", total: "her diagnosis", due: "her birthday", currency: "EUR" }), {
    id: "b1",
    currency: "EUR"
  })
})

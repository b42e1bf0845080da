/** Nested objects of the documents become columns (A 2.3, A 2.6, B 2.4); the sandbox does not fill all of them. */
import { assert, it } from "@effect/vitest"
import { opportunities } from "../../pipelines/crm/opportunities.ts"
import { transactions } from "../../pipelines/payments/transactions.ts"
import type { Resource } from "../../src/catalog/resource.ts"
import { normaliserOf } from "../../src/stages/load/normalise/normalise.ts"

const rowOf = (resource: Resource, record: object) => {
  const { row, unknown } = normaliserOf(resource)(record, { location: "L" })
  assert.isEmpty(unknown)
  return JSON.parse(row!) as Record<string, unknown>
}

it("the contact of an opportunity becomes columns, and is also stored as sent", () => {
  const contact = { id: "c", name: "Ann", companyName: "Acme", email: "a@example.com", phone: "+4930", tags: ["t"] }
  const row = rowOf(opportunities, { id: "o", contact })
  assert.include(row, {
    contact_id: "c",
    contact_name: "Ann",
    contact_company_name: "Acme",
    contact_email: "a@example.com",
    contact_phone: "+4930"
  })
  assert.deepStrictEqual(JSON.parse(String(row["contact"])), contact)
})

it("a note of an opportunity keeps its id, body, colour and pin", () => {
  const row = rowOf(opportunities, { id: "o", notes: [{ id: "n", body: "b", color: "#ffcc00", pinned: true }] })
  assert.deepStrictEqual(row["opportunity_notes"], [{ id: "n", body: "b", color: "#ffcc00", pinned: true }])
})

it("the provider of a single transaction is stored completely", () => {
  const paymentProvider = { type: "stripe", connectedAccount: { accountId: "acct_1" } }
  const row = rowOf(transactions, { _id: "t", paymentProvider })
  assert.strictEqual(row["payment_provider_type"], "stripe")
  assert.deepStrictEqual(JSON.parse(String(row["payment_provider"])), paymentProvider)
})

/** The row of sluice in docs/comparison.md: what others are compared with holds on every machine. */
import { assert, describe, it } from "@effect/vitest"
import { judge } from "../../bench/peers/judge.ts"
import { measure, type Result } from "../../bench/peers/series.ts"
import { sluice } from "../../bench/peers/tools.ts"

const contact = { id: "c1", email: "jane@example.com", tags: ["b", "a"], dateAdded: "2026-03-01T10:00:00.000Z" }
const invoice = { _id: "i1", status: "paid", total: 120.5, issueDate: "2026-03-01" }
const expected = { contacts: [contact, { ...contact, id: "c2" }, { id: "c3", deleted: true }], invoices: [invoice] }

describe("the comparison of rows", () => {
  it("finds what is missing, wrong, twice, and there although it was deleted", () => {
    const rows = {
      contacts: [{ ...contact, email: null }, { ...contact }, { id: "c9" }],
      invoices: [{ ...invoice, total: null }]
    }
    assert.deepStrictEqual(judge(expected, rows), {
      missing: { contacts: 1 },
      extra: { contacts: 1 },
      duplicates: { contacts: 1 },
      wrong: { "contacts.email": 1, "invoices.total": 1 }
    })
    assert.deepStrictEqual(judge({ invoices: [invoice] }, {}).missing, { invoices: 1 })
    assert.deepStrictEqual(judge({ invoices: [invoice] }, { invoices: [{ ...invoice, total: 120 }] }).wrong, {
      "invoices.total": 1
    })
  })

  it("accepts each form in which a value may be stored", () => {
    const stored = { ...contact, tags: '["a","b"]', dateAdded: "2026-03-01 10:00:00+00" }
    const rows = {
      contacts: [stored, { ...stored, id: "c2", dateAdded: "2026-03-01T11:00:00+01:00" }],
      invoices: [{ ...invoice, total: "120.5000000", issueDate: "2026-03-01T00:00:00" }]
    }
    assert.deepStrictEqual(judge(expected, rows), { missing: {}, extra: {}, duplicates: {}, wrong: {} })
  })
})

describe("sluice beside others", () => {
  it("misses no row, falsifies no value, and is not refused", { tags: ["slow"], timeout: 600_000 }, async () => {
    const { changes, deletions, errorBody, first, killed, moving, repeatedPage } = await measure(sluice, 600)
    const spoilt = [...errorBody, ...repeatedPage].map(([, result]) => result)
    const held = ({ code, duplicates, extra, missing, refused, wrong }: Result) =>
      Object.assign({ code, duplicates, extra }, { missing, refused, wrong })
    for (const result of [first, changes, deletions, killed, ...spoilt])
      assert.deepStrictEqual(held(result), { code: 0, duplicates: {}, extra: {}, missing: {}, refused: 0, wrong: {} })
    assert.deepStrictEqual(moving.missing, {})
    assert.deepStrictEqual([first.lists, first.requests, changes.requests], [7, 16, 13])
  })
})

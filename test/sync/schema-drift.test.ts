/** Data that differs from the definitions is kept, reported once, and counted. */
import { assert, it } from "@effect/vitest"
import { openAlone, openCore } from "../support/account.ts"
import { query } from "../support/compare.ts"

it("new fields, types and undocumented enum values are reported once, with a sample", { tags: ["slow"] }, async () => {
  const account = await openCore("--contacts", "40")
  try {
    const poison = (fields: Record<string, unknown>, collection = "contacts") =>
      account.service.post("poison", { collection, count: 1, fields })
    await poison({ id: "strange2", status: "frozen_over" }, "opportunities")
    const first = await account.sync()
    assert.strictEqual(first.code, 0, first.stderr)
    assert.match(first.stderr, /Undocumented enum values, stored unchanged: .*opportunities\.status = frozen_over/)
    assert.notMatch(first.stderr, /contacts\.type|status = (open|won|sent|delivered)/)
    await poison({ id: "strange1", loyaltyTier: { level: 3 }, type: "patron", dnd: "sometimes" })
    const second = await account.sync("--full")
    assert.match(second.stderr, /The service sent new fields or types.*contacts\.loyaltyTier \(new field\)/)
    const changes = await query(
      account.warehouse,
      "SELECT field, kind, sample, seen FROM meta.schema_changes WHERE table_name = 'contacts' AND first_run_id = (SELECT max(first_run_id) FROM meta.schema_changes) ORDER BY field"
    )
    assert.deepStrictEqual(changes, [
      { field: "dnd", kind: "different type", sample: '"sometimes"', seen: "1" },
      { field: "loyaltyTier", kind: "new field", sample: '{"level":3}', seen: "1" },
      { field: "type = patron", kind: "new value", sample: "patron", seen: "1" }
    ])
    const third = await account.sync("--full")
    assert.notMatch(third.stderr, /The service sent new fields or types/)
    assert.notMatch(second.stderr + third.stderr, /Undocumented enum values/)
    const [seen] = await query(account.warehouse, "SELECT seen FROM meta.schema_changes WHERE field = 'loyaltyTier'")
    assert.strictEqual(seen!["seen"], "2")
    const [kept] = await query(account.warehouse, "SELECT _extra FROM crm.contacts WHERE id = 'strange1'")
    assert.strictEqual(kept!["_extra"], '{"loyaltyTier":{"level":3}}')
  } finally {
    account.service.stop()
  }
})

it("a field that no definition has is kept with its record, and reported once", async () => {
  const account = await openAlone("contacts", "--contacts", "3")
  try {
    const [contact] = await account.service.records("contacts")
    await account.service.post("edit", { collection: "contacts", id: contact!["id"], fields: { loyaltyTier: 3 } })
    const first = await account.sync()
    assert.match(first.stderr, /contacts\.loyaltyTier \(new field\)/)
    assert.deepStrictEqual(
      await query(account.warehouse, "SELECT field, sample FROM meta.schema_changes WHERE kind = 'new field'"),
      [{ field: "loyaltyTier", sample: "3" }]
    )
    assert.notInclude((await account.sync("--full")).stderr, "loyaltyTier")
    const [kept] = await query(account.warehouse, "SELECT _extra FROM crm.contacts WHERE _extra IS NOT NULL")
    assert.strictEqual(kept!["_extra"], '{"loyaltyTier":3}')
  } finally {
    account.service.stop()
  }
})

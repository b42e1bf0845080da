/** A first sync and a night of an account whose answers are as recorded live, where they differ from the documents. */
import { assert, describe, it } from "@effect/vitest"
import { discard, openAccount, openAlone } from "../support/account.ts"
import { query } from "../support/compare.ts"

describe("an account that answers as recorded live", () => {
  it("has names as typed, redirects in an object and flat lists of messages", async () => {
    const account = await openAlone("contacts,redirects,opportunities", "--contacts", "12", "--world", "live")
    try {
      const { code, stderr } = await account.sync()
      assert.strictEqual(code, 0, stderr)
      const [found] = await query(
        account.warehouse,
        "SELECT count(*) FILTER (name = concat_ws(' ', first_name, last_name)) AS spelt, count(*) AS n FROM crm.contacts WHERE name IS NOT NULL"
      )
      assert.isAbove(Number(found!["n"]), 0)
      assert.strictEqual(found!["spelt"], found!["n"])
      assert.notMatch(stderr, /could not be used|warnings/)
    } finally {
      discard(account)
    }
  })

  it("is read to the end, without a warning that nobody can do anything about", { tags: ["slow"] }, async () => {
    const account = await openAccount("--contacts", "40", "--world", "live", "--limits", "off")
    try {
      const first = await account.sync()
      assert.strictEqual(first.code, 0, first.stderr)
      const states = () =>
        query(account.warehouse, "SELECT resource, status, warnings FROM meta.run_resources WHERE status <> 'complete'")
      assert.deepStrictEqual(await states(), [])
      const names = await query(
        account.warehouse,
        "SELECT count(*) AS n FROM crm.contacts WHERE name = lower(name) AND first_name <> lower(first_name)"
      )
      assert.deepStrictEqual(
        names.map(({ n }) => Number(n)),
        [0]
      )
      const [gone] = await query(account.warehouse, "SELECT id FROM crm.appointments LIMIT 1")
      await account.service.post("remove", { collection: "appointments", id: gone!["id"] })
      const second = await account.sync("--again=all")
      assert.strictEqual(second.code, 0, second.stderr)
      assert.deepStrictEqual(await states(), [])
      assert.deepStrictEqual(
        await query(account.warehouse, "SELECT id FROM crm.appointments WHERE _deleted_at IS NOT NULL"),
        [gone!]
      )
    } finally {
      discard(account)
    }
  })
})

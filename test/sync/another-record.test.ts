/** The answer to a request for one record is that record: another one is rejected, once in a run, and the record stays due. */
import { assert, describe, it } from "@effect/vitest"
import { query } from "../support/compare.ts"
import { hostileService } from "../support/hostile.ts"
import { knowing, sluice } from "../support/sluice.ts"

const contacts = ["one", "two", "merged"].map((id) => ({
  id,
  firstName: `Typed ${id}`,
  dateUpdated: "2026-01-01T00:00:00Z"
}))

/** One contact answers with the id of its survivor, until `isHealed`. */
const serving = (isHealed: () => boolean) =>
  hostileService(({ path }) => {
    if (path === "/contacts/search") return { body: { contacts, total: contacts.length } }
    const id = /^\/contacts\/(\w+)$/.exec(path)?.[1]
    const known = contacts.find((one) => one.id === id)
    if (known === undefined) return undefined
    const sent = id === "merged" && !isHealed() ? { ...known, id: "SurvivorOfAMerge0001" } : known
    return { body: { contact: { ...sent, source: "of the detail" } } }
  })

describe("a contact that answers with the id of another one", () => {
  it("is requested once, is told and rejected, and is read as soon as it answers with itself", async () => {
    let isHealed = false
    const { close, environment, folder, requests } = await serving(() => isHealed)
    const settings = { ...environment, SLUICE_CONTACT_DETAILS: "true", ...knowing("contacts") }
    const single = (id: string) => requests.filter(({ path }) => path === `/contacts/${id}`).length
    try {
      for (const night of [1, 2]) {
        const ran = await sluice(["sync", "--only", "contacts"], settings)
        assert.strictEqual(ran.code, 3, ran.stderr)
        assert.match(ran.stdout + ran.stderr, /failed requests: 1, for example merged: .*SurvivorOfAMerge0001/)
        assert.strictEqual(single("merged"), night)
      }
      assert.deepStrictEqual([single("one"), single("two"), single("SurvivorOfAMerge0001")], [1, 1, 0])
      const warehouse = `${folder}/warehouse.duckdb`
      const rows = () => query(warehouse, "SELECT id, source FROM crm.contacts ORDER BY id")
      assert.deepStrictEqual(await rows(), [
        { id: "merged", source: null },
        { id: "one", source: "of the detail" },
        { id: "two", source: "of the detail" }
      ])
      const [rejected] = await query(warehouse, "SELECT reason FROM meta.rejected_records LIMIT 1")
      assert.match(String(rejected!["reason"]), /another record than the one that was requested/)
      isHealed = true
      const healed = await sluice(["sync", "--only", "contacts"], settings)
      assert.strictEqual(healed.code, 0, healed.stderr)
      assert.strictEqual(
        (await rows()).every(({ source }) => source === "of the detail"),
        true
      )
    } finally {
      close()
    }
  })
})

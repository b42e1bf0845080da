/** Lists whose sort values tie, or that change while they are read. */
import { assert, describe, it } from "@effect/vitest"
import { openAccount, openTables } from "../support/account.ts"
import { query } from "../support/compare.ts"

describe("more conversations than fit a page have the same time", () => {
  it("all of them are read, without a warning", async () => {
    const account = await openAccount("--world", "nasty", "--contacts", "100", "--conversations", "400")
    try {
      const records = await account.service.records("conversations")
      const byMoment = Map.groupBy(records, (record) => Date.parse(String(record["lastMessageDate"])))
      assert.isAbove(
        Math.max(...byMoment.values().map((tied) => tied.length)),
        100,
        "the account has such conversations"
      )
      const ran = await account.sync(
        "--only",
        "conversations",
        "--except",
        "messages,emails,recordings,transcript_sentences"
      )
      assert.strictEqual(ran.code, 0, ran.stderr)
      const rows = await query(account.warehouse, "SELECT id FROM crm.conversations")
      const ids = (list: ReadonlyArray<Readonly<Record<string, unknown>>>) => list.map(({ id }) => String(id)).sort()
      assert.deepStrictEqual(ids(rows), ids(records))
      assert.notMatch(ran.stderr, /share one|were read/)
    } finally {
      account.service.stop()
    }
  })
})

const tables = "pipelines,contacts,contact_notes,opportunities,conversations"

describe("an account that changes while it is read", () => {
  it(
    "the first run reads every unchanged record, and a second, full run reads everything",
    { tags: ["slow"] },
    async () => {
      const account = await openTables(tables, "--contacts", "800", "--latency", "20")
      try {
        const collections = { contacts: "contacts", conversations: "conversations", opportunities: "opportunities" }
        const held = async (collection: string) =>
          new Map(
            (await account.service.records(collection)).map((record) => [String(record["id"]), JSON.stringify(record)])
          )
        const before = new Map<string, ReadonlyMap<string, string>>()
        for (const collection of Object.keys(collections)) before.set(collection, await held(collection))
        await account.service.post("churn", { perRequest: 2, deletes: 0.1 })
        const first = await account.sync()
        assert.strictEqual(first.code, 0, first.stderr)
        await account.service.post("churn", {})
        for (const [collection, table] of Object.entries(collections)) {
          const untouched = [...(await held(collection))].filter(
            ([id, text]) => before.get(collection)!.get(id) === text
          )
          assert.isAbove(untouched.length, 100)
          const rows = new Set((await query(account.warehouse, `SELECT id FROM crm.${table}`)).map(({ id }) => id))
          assert.deepStrictEqual(
            untouched.filter(([id]) => !rows.has(id)),
            [],
            table
          )
        }
        assert.strictEqual((await account.sync("--full")).code, 0)
        assert.deepStrictEqual(await account.differences(), [])
      } finally {
        account.service.stop()
      }
    }
  )
})

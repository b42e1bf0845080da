/** Lists whose sort values tie. test/simulation/claims.test.ts has those that change while they are read. */
import { assert, describe, it } from "@effect/vitest"
import { openAccount } from "../support/account.ts"
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

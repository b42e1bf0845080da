import { assert, describe, it } from "@effect/vitest"
import { type Account, openAlone } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

const dated = "contacts,conversations,messages,opportunities,orders,transactions,subscriptions,form_submissions"
const read = `${dated},pipelines,users`
/** The date field by which a backfill reads each table, and its column. */
const dateOf: Readonly<Record<string, readonly [field: string, column: string]>> = {
  contacts: ["dateAdded", "date_added"],
  conversations: ["lastMessageDate", "last_message_date"],
  messages: ["dateAdded", "date_added"],
  opportunities: ["createdAt", "created_at"],
  orders: ["createdAt", "created_at"],
  transactions: ["createdAt", "created_at"],
  subscriptions: ["createdAt", "created_at"],
  form_submissions: ["createdAt", "created_at"]
}
const notExported = ["TYPE_GROUP_SMS", "TYPE_SMS_REVIEW_REQUEST"]
const collectionOf = (table: string) => (table === "form_submissions" ? "submissions" : table)

const backfill = (account: Account, ...flags: ReadonlyArray<string>) =>
  sluice(["backfill", ...flags], account.environment)

const idsIn = async (account: Account, table: string, from: number, to: number) => {
  const [field] = dateOf[table]!
  const records = await account.service.records(collectionOf(table))
  return records
    .filter((record) => {
      // The next sync reads these per conversation.
      if (table === "messages" && notExported.includes(String(record["messageType"]))) return false
      const at = new Date(record[field] as string | number).getTime()
      return at >= from && at < to
    })
    .map((record) => String(record["id"] ?? record["_id"]))
    .toSorted()
}

describe("backfill", () => {
  it(
    "reads a period completely, changes no watermark, and sends no request if it is repeated",
    { tags: ["slow"] },
    async () => {
      const account = await openAlone(read, "--contacts", "120")
      try {
        const [to, from] = [Date.now() - 40 * 86_400_000, Date.now() - 400 * 86_400_000]
        const day = (at: number) => new Date(at).toISOString()
        const flags = ["--only", dated, "--from", day(from), "--to", day(to)]
        const ran = await backfill(account, ...flags)
        assert.strictEqual(ran.code, 0, ran.stderr)
        for (const table of dated.split(",")) {
          const expected = await idsIn(account, table, from, to)
          const rows = await query(account.warehouse, `SELECT id FROM crm.${table} ORDER BY id`)
          const ids = new Set(rows.map(({ id }) => String(id)))
          const missing = expected.filter((id) => !ids.has(id))
          assert.isAbove(expected.length, 0, table)
          assert.deepStrictEqual(missing, [], table)
        }
        const contacts = await query(account.warehouse, "SELECT count(*) AS n FROM crm.contacts")
        assert.isBelow(Number(contacts[0]!["n"]), 120, "records outside the period are not read")
        assert.deepStrictEqual(await query(account.warehouse, "SELECT resource FROM meta.watermarks"), [])

        const before = (await account.service.stats()).requests
        const again = await backfill(account, ...flags)
        assert.strictEqual(again.code, 0, again.stderr)
        assert.strictEqual((await account.service.stats()).requests, before)

        // A sync after a backfill is complete, and a backfill after the sync does not change its watermarks.
        const synced = await account.sync()
        assert.strictEqual(synced.code, 0, synced.stderr)
        assert.deepStrictEqual(await account.differences(), [])
        const currentWatermarks = () => query(account.warehouse, "FROM meta.watermarks ORDER BY ALL")
        const watermarks = await currentWatermarks()
        const full = await backfill(account, "--again=lists", ...flags)
        assert.strictEqual(full.code, 0, full.stderr)
        assert.deepStrictEqual(await currentWatermarks(), watermarks)
        assert.deepStrictEqual(await account.differences(), [])
        const verified = await sluice(["verify"], account.environment)
        assert.strictEqual(verified.code, 0, verified.stdout)
      } finally {
        account.service.stop()
      }
    }
  )

  it("stops with 75 before it uses the requests that the day's syncs need", { tags: ["slow"] }, async () => {
    const account = await openAlone(read, "--contacts", "20", "--limits", "1000/1000/1600")
    try {
      assert.strictEqual((await account.sync()).code, 0)
      const used = (await account.service.stats()).requests
      await account.service.post("clock", { advanceMs: 86_400_000 })
      const { data } = JSON.parse((await sluice(["plan", "--json"], account.environment)).stdout)
      const ran = await backfill(account, "--from", "1990-01-01")
      const spent = (await account.service.stats()).requests - used
      // Reading all resources with a date filter since 1990 takes more requests than the day allows.
      assert.strictEqual(ran.code, 75, ran.stderr)
      assert.match(ran.stderr, /Next: \.\/sluice backfill --from 1990-01-01, after/)
      assert.isAtMost(spent, 1600 - 1000 - 2 * data.requests.min + 5)
      assert.isAbove(spent, 400)
    } finally {
      account.service.stop()
    }
  })

  it("names the sync that reads everything, if the service ignores the filter of a table", async () => {
    const account = await openAlone("conversations,messages", "--contacts", "20", "--quirk", "exportDates=ignored")
    try {
      const from = new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 10)
      const ran = await backfill(account, "--only", "messages", "--from", from, "--json")
      assert.strictEqual(ran.code, 3, ran.stderr)
      const { data, exitCode, next, schema } = JSON.parse(ran.stdout)
      assert.deepStrictEqual([schema, exitCode], ["sluice/backfill/1", 3])
      const [messages] = data.resources.filter((one: { resource: string }) => one.resource === "messages")
      assert.match(messages.warnings[0], /the service ignores the filter on dateAdded/)
      assert.match(next, /^\.\/sluice sync --again lists.*: it reads whole what the service does not return by date/)
      const [run] = await query(account.warehouse, "SELECT command, status, exit_code FROM meta.runs")
      assert.deepStrictEqual(run, { command: "backfill", status: "incomplete", exit_code: 3 })
    } finally {
      account.service.stop()
    }
  })

  it("refuses resources without a date filter, and invalid dates", async () => {
    const environment = {
      SLUICE_OUTPUT: "/tmp",
      SLUICE_BASE_URL: "http://127.0.0.1:1",
      SLUICE_TOKEN: "t",
      SLUICE_LOCATION_ID: "l"
    }
    const bad = await sluice(["backfill", "--from", "yesterday"], environment)
    assert.strictEqual(bad.code, 2)
    assert.match(bad.stderr, /--from yesterday is not a date: write 2025-01-31 /)
    const backwards = await sluice(["backfill", "--from", "2025-02-01", "--to", "2025-01-01"], environment)
    assert.strictEqual(backwards.code, 2)
    const account = await openAlone("users", "--contacts", "10")
    try {
      const ran = await backfill(account, "--only", "users", "--from", "2025-01-01")
      assert.strictEqual(ran.code, 2)
      assert.match(ran.stderr, /users: the API has no date filter/)
    } finally {
      account.service.stop()
    }
  })
})

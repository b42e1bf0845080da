/** Earlier states of the account: as of a time, and the changes of each run. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { type Account, openCore } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

describe("history", () => {
  let account: Account
  /** The state of the tables after each run: the time, the run, and a fingerprint of the rows of each table. */
  const states: Array<{
    readonly moment: string
    readonly run: string
    readonly rows: Readonly<Record<string, string>>
  }> = []
  const tables = ["contacts", "contact_tags", "contact_custom_values", "orders", "order_items", "conversations"]
  const ask = async (sql: string, database = account.warehouse) => query(database, sql)

  const fingerprint = (from: string) =>
    `(SELECT count(*) || ' ' || coalesce(bit_xor(hash(t::VARCHAR)), 0) FROM ${from} AS t)`
  const snapshot = async () => {
    const [row] = await ask("SELECT now()::VARCHAR AS moment, (SELECT max(run_id) FROM meta.runs) AS run")
    const live = tables.map((table) =>
      table === "contacts" || table === "orders" || table === "conversations"
        ? `(FROM crm.${table} WHERE _deleted_at IS NULL)`
        : `(FROM crm.${table} SEMI JOIN (FROM crm.${table.startsWith("order") ? "orders" : "contacts"} WHERE _deleted_at IS NULL) AS p
             ON p.id = ${table.startsWith("order") ? "order_id" : "contact_id"})`
    )
    const [rows] = await ask(
      `SELECT ${tables.map((table, index) => `${fingerprint(live[index]!)} AS ${table}`).join(", ")}`
    )
    states.push({ moment: String(row!["moment"]), run: String(row!["run"]), rows: rows as Record<string, string> })
  }

  beforeAll(async () => {
    account = await openCore("--contacts", "80")
    for (const change of [
      async () => {},
      () => account.service.post("change", { contacts: 0.1, conversations: 0.1, orders: 0.2 }),
      async () => {
        for (const { id } of (await account.service.records("contacts")).slice(0, 4))
          await account.service.call("DELETE", `/contacts/${String(id)}`)
      },
      () => account.service.post("change", { contacts: 0.2, seed: 7 })
    ]) {
      await change()
      const ran = await account.sync("--full")
      assert.strictEqual(ran.code, 0, ran.stderr)
      await snapshot()
    }
  })
  afterAll(() => account.service.stop())

  it("as of the end of each run, every table and child table has the rows that it had then", async () => {
    assert.strictEqual(new Set(states.map(({ rows }) => rows["contacts"])).size, 4, "each run changed something")
    for (const { moment, rows } of states) {
      const [then] = await ask(
        `SELECT ${tables.map((table) => `${fingerprint(`crm.${table}_as_of(TIMESTAMPTZ '${moment}')`)} AS ${table}`).join(", ")}`
      )
      assert.deepStrictEqual(then, rows, moment)
    }
  })

  it("the changes of each run are as many new, changed and deleted rows as the run counted", async () => {
    for (const { run } of states) {
      const feed = await ask(
        `SELECT change, count(*) AS n FROM crm.contacts_changes WHERE run_id = '${run}' GROUP BY ALL`
      )
      const of = (change: string) => Number(feed.find((row) => row["change"] === change)?.["n"] ?? 0)
      const [counted] = await ask(`FROM meta.run_resources WHERE run_id = '${run}' AND resource = 'contacts'`)
      assert.strictEqual(of("new"), Number(counted!["new_rows"]), run)
      assert.strictEqual(of("changed"), Number(counted!["changed_rows"]), run)
      assert.strictEqual(of("deleted"), Number(counted!["deleted_rows"]), run)
    }
    assert.strictEqual(
      (await ask("SELECT count(*) AS n FROM crm.contacts_changes WHERE change = 'deleted'"))[0]!["n"],
      "4"
    )
  })

  it("a deleted row is absent from the time of its deletion on", async () => {
    const database = account.warehouse
    const [deleted] = await ask(
      "SELECT id, _deleted_at::VARCHAR AS at FROM crm.contacts WHERE _deleted_at IS NOT NULL LIMIT 1"
    )
    const [row] = await ask(
      `SELECT count(*) AS n FROM crm.contacts_as_of(TIMESTAMPTZ '${String(deleted!["at"])}') WHERE id = '${String(deleted!["id"])}'`,
      database
    )
    assert.strictEqual(row!["n"], "0")
  })

  it("can be queried in the published file as well", { tags: ["slow"] }, async () => {
    const published = await sluice(["publish"], { SLUICE_OUTPUT: account.output, SLUICE_FORMATS: "duckdb" })
    assert.strictEqual(published.code, 0, published.stderr)
    const database = join(account.output, "published", "crm.duckdb")
    const [row] = await ask(
      `SELECT (SELECT count(*) FROM contacts_as_of(TIMESTAMPTZ '${states[0]!.moment}')) AS n, (SELECT count(*) FROM contacts_changes) AS changes`,
      database
    )
    assert.strictEqual(row!["n"], "80")
    assert.isAbove(Number(row!["changes"]), 80)
  })
})

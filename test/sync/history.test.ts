/** Earlier states of the account: as of a time, and the changes of each run. */
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { openAlone } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { type Life, beginForAll } from "../support/life.ts"

describe("history", () => {
  /** The state of the tables after each run: the time, the run, and a fingerprint of the rows of each table. */
  const states: Array<{
    readonly moment: string
    readonly run: string
    readonly rows: Readonly<Record<string, string>>
  }> = []
  const tables = ["contacts", "contact_tags", "contact_custom_values", "orders", "order_items", "conversations"]
  const fingerprint = (from: string) =>
    `(SELECT count(*) || ' ' || coalesce(bit_xor(hash(t::VARCHAR)), 0) FROM ${from} AS t)`
  const snapshot = async ({ ask }: Life) => {
    const [row] = await ask("SELECT now()::VARCHAR AS moment, (SELECT max(run_id) FROM meta.runs) AS run")
    const live = (table: string) => `FROM crm.${table} WHERE _deleted_at IS NULL`
    // A row of a child table is there as long as its parent is.
    const childrenOf = (parent: string, id: string, table: string) =>
      `FROM crm.${table} SEMI JOIN (${live(parent)}) AS p ON p.id = ${id}`
    const rowsOf: Readonly<Record<string, string>> = {
      contact_tags: childrenOf("contacts", "contact_id", "contact_tags"),
      contact_custom_values: childrenOf("contacts", "contact_id", "contact_custom_values"),
      order_items: childrenOf("orders", "order_id", "order_items")
    }
    const prints = tables.map((table) => `${fingerprint(`(${rowsOf[table] ?? live(table)})`)} AS ${table}`)
    const [rows] = await ask(`SELECT ${prints.join(", ")}`)
    states.push({ moment: String(row!["moment"]), run: String(row!["run"]), rows: rows as Record<string, string> })
  }
  const life = beginForAll(
    () => openAlone("contacts,orders,conversations", "--contacts", "80"),
    async (life) => {
      const { call, post, records } = life.service
      for (const change of [
        async () => {},
        () => post("change", { contacts: 0.1, conversations: 0.1, orders: 0.2 }),
        async () => {
          for (const { id } of (await records("contacts")).slice(0, 4)) await call("DELETE", `/contacts/${String(id)}`)
        },
        () => post("change", { contacts: 0.2, seed: 7 })
      ]) {
        await change()
        await life.sync("--again=all")
        await snapshot(life)
      }
    }
  )

  it("as of the end of each run, every table and child table has the rows that it had then", async () => {
    assert.strictEqual(new Set(states.map(({ rows }) => rows["contacts"])).size, 4, "each run changed something")
    for (const { moment, rows } of states) {
      const [then] = await life.ask(
        `SELECT ${tables.map((table) => `${fingerprint(`crm.${table}_as_of(TIMESTAMPTZ '${moment}')`)} AS ${table}`).join(", ")}`
      )
      assert.deepStrictEqual(then, rows, moment)
    }
  })

  it("the changes of each run are as many new, changed and deleted rows as the run counted", async () => {
    for (const { run } of states) {
      const feed = await life.ask(
        `SELECT change, count(*) AS n FROM crm.contacts_changes WHERE run_id = '${run}' GROUP BY ALL`
      )
      const of = (change: string) => Number(feed.find((row) => row["change"] === change)?.["n"] ?? 0)
      const [counted] = await life.ask(`FROM meta.run_resources WHERE run_id = '${run}' AND resource = 'contacts'`)
      assert.strictEqual(of("new"), Number(counted!["new_rows"]), run)
      assert.strictEqual(of("changed"), Number(counted!["changed_rows"]), run)
      assert.strictEqual(of("deleted"), Number(counted!["deleted_rows"]), run)
    }
    assert.strictEqual(
      (await life.ask("SELECT count(*) AS n FROM crm.contacts_changes WHERE change = 'deleted'"))[0]!["n"],
      "4"
    )
  })

  it("a deleted row is absent from the time of its deletion on", async () => {
    const [row] = await life.ask("SELECT id, _deleted_at AS at FROM crm.contacts WHERE _deleted_at IS NOT NULL LIMIT 1")
    const then = `crm.contacts_as_of(TIMESTAMPTZ '${String(row!["at"])}')`
    assert.isEmpty(await life.ask(`FROM ${then} WHERE id = '${String(row!["id"])}'`))
  })

  it("can be queried in the published file as well", { tags: ["slow"] }, async () => {
    const published = await life.run(["publish"], { SLUICE_FORMATS: "duckdb", SLUICE_MODELS: "false" })
    assert.strictEqual(published.code, 0, published.stderr)
    const [row] = await query(
      join(life.account.output, "published", "crm.duckdb"),
      `SELECT (SELECT count(*) FROM contacts_as_of(TIMESTAMPTZ '${states[0]!.moment}')) AS n, (SELECT count(*) FROM contacts_changes) AS changes`
    )
    assert.strictEqual(row!["n"], "80")
    assert.isAbove(Number(row!["changes"]), 80)
  })
})

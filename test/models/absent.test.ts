/** The queries of docs/models.md on an account that sends no field that it need not: what is unknown counts, and is labelled. */
import { assert, beforeAll, describe, it } from "vitest"
import { discover } from "../../src/catalog/discover.ts"
import { type Column, tablesOf } from "../../src/catalog/tables.ts"
import { literal, name } from "../../src/stores/warehouse/sql.ts"
import { questions } from "./questions.ts"
import { releaseOf } from "./release.ts"

/** What every record has: its ids, when it was made, and which way a message went. All other columns are NULL. */
const valueOf = ({ name: column, sql }: Column): string =>
  column === "id" || column.endsWith("_id")
    ? literal("one")
    : column === "_synced_at"
      ? "now()"
      : sql === "TIMESTAMPTZ" && /^(created_at|date_added|start_time)$/.test(column)
        ? "now() - INTERVAL 1 DAY"
        : column === "direction"
          ? "'outbound'"
          : "NULL"

describe("without optional fields", () => {
  let release: Awaited<ReturnType<typeof releaseOf>>
  beforeAll(async () => {
    const tables = (await discover()).resources.flatMap(tablesOf)
    release = await releaseOf([
      ...tables.map(
        ({ name: table, columns }) =>
          `INSERT INTO crm.${name(table)} (${columns.map((column) => name(column.name)).join(", ")})
           VALUES (${columns.map((column) => valueOf(column)).join(", ")})`
      ),
      // A question, before the message above.
      `INSERT INTO crm.messages (location_id, id, conversation_id, direction, date_added)
       VALUES ('one', 'two', 'one', 'inbound', now() - INTERVAL 2 DAY)`,
      "INSERT INTO meta.runs (run_id, started_at) VALUES ('run', now())",
      "INSERT INTO meta.run_resources (run_id, location_id, resource, new_rows) VALUES ('run', 'one', 'contacts', 1)"
    ])
  })

  it("every model is built", () => assert.deepStrictEqual(release.problems, []))

  const expected: ReadonlyArray<Record<string, unknown>> = [
    { questions: "1", replies: "1" },
    { emails_sent: "0", emails_opened: "0", emails_of_unknown_status: "1" },
    { payment: "unknown", order_revenue: null },
    {
      monthly_recurring: null,
      recurring_subscriptions: "0",
      subscriptions_without_interval: "1",
      subscriptions_of_unknown_status: "1"
    },
    { aging_bucket: "unknown", invoices_due: "1", amount_due: null },
    { form_name: null, submissions: "1" },
    { deal_status: "unknown", deals: "1", value: null },
    { no_shows: "0", attended: "0", status_unknown: "1", no_show_percent: null },
    { channel: "unknown", contacts: "1", won: "0" },
    { table_name: "contacts", new_rows: "1" }
  ]
  it.each(questions.map((sql, index) => [index, sql] as const))("query %i finds its rows", async (index, sql) => {
    const rows = await release.ask(sql)
    assert.isNotEmpty(rows, sql)
    assert.deepInclude(rows[0], expected[index]!)
  })
})

/** Every model of sluice, built from the extreme values of each column type and from NULL: none may cost more than its row. */
import { assert, describe, it } from "vitest"
import { scale, wholeDigits } from "../../src/catalog/decimals.ts"
import { discover } from "../../src/catalog/discover.ts"
import { type Column, tablesOf } from "../../src/catalog/tables.ts"
import { literal, name } from "../../src/stores/warehouse/sql.ts"
import { releaseOf } from "./release.ts"

const largest = `${"9".repeat(wholeDigits)}.${"9".repeat(scale)}`
const extremes: Readonly<Record<string, readonly [largest: string, smallest: string]>> = {
  DECIMAL: [largest, `-${largest}`],
  BIGINT: ["9223372036854775807", "-9223372036854775808"],
  TIMESTAMPTZ: ["9999-12-31 23:59:59.999999-18:00", "0001-01-01 00:00:00+18:00"],
  DATE: ["9999-12-31", "0001-01-01"],
  BOOLEAN: ["true", "false"]
}
/** Rows of each table. Their texts, ids among them, name the row, so that rows of different tables refer to each other. */
const rows = ["largest", "smallest", "absent", "mixed"].flatMap((kind) =>
  Array.from({ length: 4 }, (_, word) => ({ kind, word, id: `${kind} ${word}` }))
)

const valueOf = ({ name: column, sql, enumValues }: Column, { kind, word, id }: (typeof rows)[number]): string => {
  if (column === "_deleted_at") return "NULL"
  if (column === "id" || column.endsWith("_id")) return literal(id)
  if (column === "_synced_at") return "now()"
  if (kind === "absent") return "NULL"
  if (column === "timezone") return literal("Pacific/Kiritimati")
  if (enumValues?.length) return literal(enumValues[word % enumValues.length])
  const found = extremes[sql.replace(/\(.*/, "")]
  if (found === undefined) return sql === "JSON" ? "'{}'" : literal(id)
  const isLargest = kind === "mixed" ? column.length % 2 === 0 : kind === "largest"
  return `${literal(found[isLargest ? 0 : 1])}::${sql}`
}

describe("models of extreme values", () => {
  it("are all built, and keep every row of the table that they show", { tags: ["slow"] }, async () => {
    const { resources } = await discover()
    const { problems, ask } = await releaseOf(
      resources.flatMap(tablesOf).map(
        ({ name: table, columns }) =>
          `INSERT INTO crm.${name(table)} (${columns.map((column) => name(column.name)).join(", ")})
           VALUES ${rows.map((row) => `(${columns.map((column) => valueOf(column, row)).join(", ")})`).join(", ")}`
      )
    )
    assert.deepStrictEqual(problems, [])
    for (const model of ["fct_invoice", "fct_invoice_line", "fct_order_line", "fct_payment", "fct_opportunity"])
      assert.deepStrictEqual(await ask(`SELECT count(*) AS n FROM bi.${model}`), [{ n: String(rows.length) }], model)
  })

  it("have months of a subscription only within the life of the account", async () => {
    const month = new Date().toISOString().slice(0, 7)
    const [year, before] = [Number(month.slice(0, 4)), `${Number(month.slice(0, 4)) - 1}${month.slice(4)}`]
    const subscriptions: ReadonlyArray<
      readonly [created: string | null, canceled: string | null, months: number, first: string]
    > = [
      ["0001-01-01 00:00:00+00", null, 1, month],
      ["1970-01-01 00:00:00+00", null, 1, month],
      [null, "9999-12-31 00:00:00+00", 1, month],
      [`${before}-15 00:00:00+00`, "9999-12-31 00:00:00+00", 13, before],
      [`${before}-15 00:00:00+00`, "0001-01-01 00:00:00+00", 13, before],
      [`${before}-15 00:00:00+00`, `${year + 2}-01-01 00:00:00+00`, 13, before],
      [`${before}-15 00:00:00+00`, `${before}-20 00:00:00+00`, 1, before],
      [`${year + 2}-01-01 00:00:00+00`, null, 1, month]
    ]
    const { problems, ask } = await releaseOf([
      "INSERT INTO crm.locations (id, location_id) VALUES ('l', 'l')",
      ...subscriptions.map(
        ([created, canceled], n) =>
          `INSERT INTO crm.subscriptions (id, location_id, status, created_at, canceled_at, _synced_at) VALUES ('${n}', 'l', 'active', ${literal(created)}, ${literal(canceled)}, now())`
      )
    ])
    assert.deepStrictEqual(problems, [])
    assert.deepStrictEqual(
      await ask(
        `SELECT subscription_id AS id, count(*) AS months, left(min(month_start)::VARCHAR, 7) AS first FROM bi.fct_subscription_month GROUP BY ALL ORDER BY id`
      ),
      subscriptions.map(([, , months, first], n) => ({ id: String(n), months: String(months), first }))
    )
  })

  it("keep the scale of the tables, and lose one amount where a product does not fit", async () => {
    const lines = [
      ["1234567890.12", "10"],
      ["100000000000000", "3"],
      ["0.0000015", "3"],
      [largest, "10"]
    ]
    const { problems, ask } = await releaseOf([
      "INSERT INTO crm.locations (id, location_id) VALUES ('l', 'l')",
      "INSERT INTO crm.invoices (id, location_id, total) VALUES ('i', 'l', 0.0000015)",
      `INSERT INTO crm.invoice_items (location_id, invoice_id, position, amount, qty)
       VALUES ${lines.map(([amount, qty], n) => `('l', 'i', ${n}, ${amount}, ${qty})`).join(", ")}`
    ])
    assert.deepStrictEqual(problems, [])
    assert.deepStrictEqual(
      (await ask("SELECT line_amount FROM bi.fct_invoice_line ORDER BY position")).map((row) => row["line_amount"]),
      ["12345678901.2000000", "300000000000000.0000000", "0.0000045", null]
    )
    assert.deepStrictEqual(await ask("SELECT total FROM bi.fct_invoice"), [{ total: "0.0000015" }])
  })
})

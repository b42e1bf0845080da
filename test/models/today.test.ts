/** Time passes without a change: every model answers on a later day as it would if all rows had been read on that day. */
import { assert, describe, it } from "vitest"
import { discover } from "../../src/catalog/discover.ts"
import { type Column, tablesOf } from "../../src/catalog/tables.ts"
import { literal, name } from "../../src/stores/warehouse/sql.ts"
import { modelVersions } from "../../src/stages/publish/models.ts"
import { releaseOf } from "./release.ts"

/** When the rows came; their dates lie before and after it. */
const cameAt = "TIMESTAMPTZ '2026-03-02 03:00:00+00'"
const valueOf = ({ name: column, sql }: Column, syncedAt: string, zone: string): string => {
  if (column === "id" || column.endsWith("_id")) return literal("one")
  if (column === "_synced_at") return syncedAt
  if (column === "_deleted_at") return "NULL"
  if (column === "status") return literal("sent")
  if (column === "timezone") return literal(zone)
  if (column === "currency") return literal("USD")
  if (/^(due_date|start_time|end_time)$/.test(column) && /^(DATE|TIMESTAMPTZ)$/.test(sql))
    return `(${cameAt} + INTERVAL 5 DAY)::${sql}`
  if (sql === "TIMESTAMPTZ" && !/cancel|ended|deleted/.test(column)) return `${cameAt} - INTERVAL 40 DAY`
  return sql.startsWith("DECIMAL") || sql === "BIGINT" || sql === "DOUBLE" ? "100" : "NULL"
}

/** `changedAt`: when the rows last changed. `readAt`: when they were last read. */
const releaseAt = async (changedAt: string, readAt: string, zone = "America/New_York") => {
  const resources = (await discover()).resources
  return releaseOf([
    ...resources.flatMap(tablesOf).map(
      ({ name: table, columns }) =>
        `INSERT INTO crm.${name(table)} (${columns.map((column) => name(column.name)).join(", ")})
         VALUES (${columns.map((column) => valueOf(column, changedAt, zone)).join(", ")})`
    ),
    ...resources.map(
      ({ table }) =>
        `INSERT INTO meta.watermarks (location_id, resource, complete_at, full_complete_at) VALUES ('one', '${table}', ${readAt}, ${readAt})`
    ),
    `INSERT INTO meta.runs (run_id, started_at, finished_at) VALUES ('run', ${readAt}, ${readAt})`
  ])
}

describe("a model", () => {
  it.each([1, 31, 75])("answers %i days later as on a fresh reading of that day", { tags: ["slow"] }, async (days) => {
    const later = `(${cameAt} + INTERVAL ${days} DAY)`
    const [quiet, fresh] = [await releaseAt(cameAt, later), await releaseAt(later, later)]
    assert.deepStrictEqual([quiet.problems, fresh.problems], [[], []])
    const tables = await fresh.ask(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'bi' AND NOT starts_with(table_name, 'stg_') ORDER BY 1"
    )
    assert.isAbove(tables.length, 20)
    for (const { name: table } of tables) {
      const rows = async ({ ask }: typeof fresh) =>
        (
          await ask(`SELECT COLUMNS(c -> NOT regexp_matches(c, '^_|^seen_at$')) FROM bi.${String(table)} ORDER BY ALL`)
        ).map((row) => JSON.stringify(row))
      assert.deepStrictEqual(await rows(quiet), await rows(fresh), String(table))
    }
  })

  it(
    "says that an invoice is overdue once its day has passed, although it did not change",
    { tags: ["slow"] },
    async () => {
      const { ask } = await releaseAt(cameAt, `(${cameAt} + INTERVAL 75 DAY)`)
      const [invoice] = await ask("SELECT is_overdue, days_overdue::INT AS days, aging_bucket FROM bi.fct_invoice")
      assert.deepStrictEqual(invoice, { is_overdue: true, days: 69, aging_bucket: "over 60 days" })
    }
  )

  it("keeps to the day of a location for which the month is not over", { tags: ["slow"] }, async () => {
    const answers = async (zone: string) => {
      const { ask } = await releaseAt(
        "TIMESTAMPTZ '2026-12-01 00:10:00+00'",
        "TIMESTAMPTZ '2026-12-01 00:30:00+00'",
        zone
      )
      const [months] = await ask("SELECT max(month_start)::VARCHAR AS last FROM bi.fct_subscription_month")
      const [invoice] = await ask(
        "SELECT days_overdue::INT - (DATE '2026-12-01' - due_date)::INT AS days FROM bi.fct_invoice"
      )
      return [months!["last"], invoice!["days"]]
    }
    assert.deepStrictEqual(await answers("Pacific/Honolulu"), ["2026-11-01", -1])
    assert.deepStrictEqual(await answers("Pacific/Kiritimati"), ["2026-12-01", 0])
  })

  it("that depends on the day has another version on another day, and others have not", () => {
    const read = { name: "day", pieces: [{ source: { schema: "meta", table: "watermarks" } }] }
    const other = { name: "other", pieces: [{ source: { schema: "meta", table: "runs" } }] }
    const versionsOn = (day: string) => modelVersions({ models: [read, other] as never, problems: [] }, {}, [day])
    const [one, next] = [versionsOn("2026-03-02"), versionsOn("2026-03-03")]
    assert.notStrictEqual(one["day"], next["day"])
    assert.strictEqual(one["other"], next["other"])
  })
})

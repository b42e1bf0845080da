/** The figures of `models/marts/_metrics.yml`: what sluice makes of a file that dbt reads, too. */
import { assert, describe, it } from "@effect/vitest"
import { discover } from "../../src/catalog/discover.ts"
import { describedModels } from "../../src/stages/publish/models/described.ts"
import { metricsFile } from "../../src/stages/publish/models/files.ts"
import { readMetrics } from "../../src/stages/publish/models/metrics.ts"
import { inMemory } from "../../src/stores/warehouse/in-memory.ts"

const [metrics, models] = [await readMetrics(), await describedModels(await discover())]

describe("the figures", () => {
  it("are aggregates of the rows that count", () => {
    const sqlOf = (name: string) => metrics.get(name)?.sql
    assert.strictEqual(sqlOf("new_contacts"), "count(*)")
    assert.strictEqual(sqlOf("revenue"), "sum(value) FILTER (is_live)")
    assert.strictEqual(sqlOf("received"), "sum(value) FILTER (is_live AND kind = 'received')")
    assert.strictEqual(sqlOf("median_reply_minutes"), "median(reply_minutes)")
    assert.strictEqual(
      sqlOf("order_revenue"),
      "sum(line_amount) FILTER (is_live AND coalesce(counts_as, 'unknown') IN ('paid', 'unknown'))"
    )
    const { condition, day, label, model, sql, unit } = metrics.get("no_show_share")!
    assert.deepStrictEqual(
      { condition, day, label, model, unit },
      {
        condition: "is_past AND is_no_show",
        day: "start_local_date",
        label: "No-shows",
        model: "fct_appointment",
        unit: undefined
      }
    )
    assert.strictEqual(
      sql,
      "count(*) FILTER (is_past AND is_no_show) / nullif(count(*) FILTER (is_past AND (is_attended OR is_no_show)), 0)"
    )
    // The moment of a figure need not be that of its model.
    assert.deepStrictEqual(
      [metrics.get("won")!.day, metrics.get("open_pipeline")!.day],
      ["closed_local_date", "created_local_date"]
    )
  })

  it("are in the dictionary, each with its sentence, its SQL, its unit and its day", () => {
    const lines = models.flatMap(({ figures }) => figures)
    assert.lengthOf(lines, metrics.size)
    assert.include(
      models.find(({ name }) => name === "fct_revenue")!.figures,
      "- Figure Revenue (`revenue`): What came in less what went back, each on its day, without tests; `sum(value) FILTER (is_live)` in the currency of its rows, by `moved_local_date`."
    )
    const [recurring] = lines.filter((line) => line.includes("`monthly_recurring`"))
    assert.match(recurring!, /by `month_start`, over which it is not added\.$/)
  })

  it("can be computed by month of their models, in which each row has its own entity, and the currency of an amount", async () => {
    const { metrics: written, semantic_models: semantic } = await metricsFile()
    assert.sameMembers(
      [...metrics.keys()],
      written.map(({ name }) => name)
    )
    await inMemory(async (connection) => {
      await connection.run("CREATE SCHEMA bi")
      for (const { columns, name } of models)
        await connection.run(`CREATE TABLE bi.${name} (${columns.map((one) => `${one.name} ${one.type}`).join(", ")})`)
      for (const { condition, day, model, name, sql, unit } of metrics.values()) {
        await connection.run(
          `SELECT date_trunc('month', ${day})::DATE, ${sql} FROM bi.${model} WHERE ${condition} GROUP BY ALL`
        )
        const hasCurrency = models.find((one) => one.name === model)!.columns.some((one) => one.name === "currency")
        if (unit === "currency") assert.isTrue(hasCurrency, name)
      }
      for (const { dimensions, entities, model: reference } of semantic) {
        const model = models.find(({ name }) => reference === `ref('${name}')`)!
        const [primary] = entities
        const of = dimensions.map(({ expr, name }) => expr ?? name)
        await connection.run(`SELECT ${[...of, ...entities.map(({ expr }) => expr)].join(", ")} FROM bi.${model.name}`)
        assert.strictEqual(primary!.expr.replace(/^concat_ws\('\|', (.*)\)$/, "$1"), model.key.join(", "), model.name)
      }
    })
  })
})

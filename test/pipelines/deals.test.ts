/** Opportunities of an account with invalid data: amounts in every notation, and custom values named by their type. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { parseExact } from "../../src/catalog/json.ts"
import { type Account, openAccount } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { list } from "./records.ts"

describe("the opportunities of an account with invalid data", () => {
  let account: Account
  beforeAll(async () => {
    account = await openAccount("--world", "nasty", "--contacts", "150")
    const ran = await account.sync("--only", "opportunities,custom_fields")
    assert.strictEqual(ran.code, 0, ran.stderr)
  })
  afterAll(() => account.service.stop())

  it("have every custom value, whatever the name of its field", async () => {
    const records = await account.service.records("opportunities")
    const expected = records.flatMap(({ id, customFields }) =>
      list(customFields).map((field) => {
        const named = Object.entries(field).find(([name]) => name.startsWith("fieldValue"))
        return JSON.stringify([id, field["id"], named![1]])
      })
    )
    assert.isTrue(expected.length > 30 && records.some((record) => JSON.stringify(record).includes("fieldValueDate")))
    const rows = await query(
      account.warehouse,
      "SELECT opportunity_id, custom_field_id, value::VARCHAR AS value FROM crm.opportunity_custom_values"
    )
    assert.deepStrictEqual(
      rows
        .map((row) => JSON.stringify([row["opportunity_id"], row["custom_field_id"], JSON.parse(String(row["value"]))]))
        .sort(),
      expected.sort()
    )
  })

  it("have instants for dates that are sent in epoch milliseconds", async () => {
    const rows = await query(
      account.warehouse,
      `SELECT o.id, epoch_ms(o.cf_inspection) AS shown, v.value_text AS sent FROM crm.opportunities_wide AS o
       JOIN crm.opportunity_custom_values AS v ON v.opportunity_id = o.id
       JOIN crm.custom_fields AS f ON f.id = v.custom_field_id AND f.name = 'Inspection'`
    )
    assert.isAbove(rows.length, 5)
    assert.deepStrictEqual(
      rows.filter(({ shown, sent }) => shown !== sent),
      []
    )
  })

  it("have an amount wherever a number is sent, and floating-point noise is no finding", async () => {
    const listed = await fetch(`${account.service.url}/__sandbox/records/opportunities`)
    const records = (await listed.text())
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => parseExact(line) as Readonly<Record<string, unknown>>)
    const isAmount = (value: unknown) => typeof value === "number" || JSON.isRawJSON(value)
    const sent = records.filter(({ monetaryValue }) => isAmount(monetaryValue)).map(({ id }) => String(id))
    const rows = await query(account.warehouse, "SELECT id FROM crm.opportunities WHERE monetary_value IS NOT NULL")
    const filled = new Set(rows.map(({ id }) => String(id)))
    assert.deepStrictEqual(
      sent.filter((id) => !filled.has(id)),
      []
    )
    // All of them are the noise of floating-point numbers.
    assert.isNotEmpty(
      records.filter(({ monetaryValue }) =>
        /\.\d{8}/.test(JSON.isRawJSON(monetaryValue) ? monetaryValue.rawJSON : String(monetaryValue))
      )
    )
    assert.deepStrictEqual(
      await query(account.warehouse, "FROM meta.rounded_values WHERE column_name = 'monetary_value'"),
      []
    )
    assert.deepStrictEqual(
      await query(
        account.warehouse,
        "FROM meta.rejected_values WHERE column_name = 'monetary_value' AND reason LIKE 'rounded%'"
      ),
      []
    )
  })
})

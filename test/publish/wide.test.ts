import { assert, describe, it } from "@effect/vitest"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { discard, openAccount, openSynced } from "../support/account.ts"
import { sql } from "../support/broken.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

describe("custom fields as columns of published tables", { tags: ["slow"] }, () => {
  it("shows a date and time as the same instant in every time zone of a reader", async () => {
    const account = await openAccount("--contacts", "20")
    try {
      assert.strictEqual((await account.sync("--only", "contacts,custom_fields")).code, 0)
      const sent = [
        "2027-05-04T10:00:00",
        "2027-05-04T10:00:00+02:00",
        "2027-05-04T10:00:00.000Z",
        "2027-05-04T10:00:00-0500"
      ]
      await sql(
        account.output,
        `DELETE FROM crm.contacts; DELETE FROM crm.contact_custom_values;
         INSERT INTO crm.custom_fields BY NAME SELECT 'here' AS location_id, 'visit' AS id, 'contact' AS model, 'DATE_TIME' AS data_type, 'contact.visit' AS field_key;
         ${sent
           .map(
             (text, n) => `INSERT INTO crm.contacts BY NAME SELECT 'here' AS location_id, 'c${n}' AS id;
         INSERT INTO crm.contact_custom_values BY NAME SELECT 'here' AS location_id, 'c${n}' AS contact_id, 'visit' AS custom_field_id, '${text}' AS value_text;`
           )
           .join("\n")}`
      )
      const ran = await sluice(["publish"], { ...account.environment, SLUICE_FORMATS: "duckdb" })
      assert.strictEqual(ran.code, 0, ran.stderr)
      for (const zone of ["UTC", "Asia/Tokyo", "America/New_York"]) {
        const rows = await query(
          join(account.output, "published/crm.duckdb"),
          `SET TimeZone = '${zone}'; SELECT epoch(cf_visit)::BIGINT AS at FROM contacts_wide ORDER BY id`
        )
        const hours = rows.map((row) => new Date(Number(row["at"]) * 1000).toISOString())
        assert.deepStrictEqual(
          hours,
          ["10", "08", "10", "15"].map((hour) => `2027-05-04T${hour}:00:00.000Z`),
          zone
        )
      }
    } finally {
      account.service.stop()
      rmSync(account.output, { recursive: true })
    }
  })

  it("types dates in epoch milliseconds and numbers in any notation", async () => {
    const account = await openAccount("--contacts", "20")
    try {
      assert.strictEqual((await account.sync("--only", "opportunities,custom_fields")).code, 0)
      const values: ReadonlyArray<readonly [type: string, sent: string, shown: string | null]> = [
        ["DATE", "1766534400000", "2025-12-24"],
        ["DATE_TIME", "1766534400123", "2025-12-24 00:00:00.123+00"],
        ["NUMERICAL", "1e-7", "0.0000001"],
        ["MONETORY", "33.333333333333336", "33.3333333"],
        ["MONETORY", " +4750.650000000001", "4750.6500000"],
        ["FLOAT", "1.5e3", "1500.0000000"],
        ["MONETORY", "1,234.50", null]
      ]
      await sql(
        account.output,
        values
          .map(
            ([type, sent], n) =>
              `INSERT INTO crm.custom_fields BY NAME SELECT 'here' AS location_id, 'f${n}' AS id, 'opportunity' AS model, '${type}' AS data_type, 'opportunity.kind_${n}' AS field_key;
               INSERT INTO crm.opportunity_custom_values BY NAME SELECT 'here' AS location_id, 'deal' AS opportunity_id, 'f${n}' AS custom_field_id, '${sent}' AS value_text;`
          )
          .join("\n") + "INSERT INTO crm.opportunities BY NAME SELECT 'here' AS location_id, 'deal' AS id"
      )
      const ran = await sluice(["publish"], { ...account.environment, SLUICE_FORMATS: "duckdb" })
      assert.strictEqual(ran.code, 0, ran.stderr)
      const columns = values.map((_, n) => `cf_kind_${n}::VARCHAR AS cf_kind_${n}`).join(", ")
      const [row] = await query(
        join(account.output, "published/crm.duckdb"),
        `SELECT ${columns} FROM opportunities_wide WHERE id = 'deal'`
      )
      assert.deepStrictEqual(
        Object.values(row!),
        values.map(([, , shown]) => shown)
      )
    } finally {
      account.service.stop()
      rmSync(account.output, { recursive: true })
    }
  })
})

describe("a custom field as a column", () => {
  it("shows a date and time as an instant, and an amount as a number", async () => {
    const account = await openSynced({
      tables: "locations,custom_fields,contacts",
      flags: ["--contacts", "3"],
      isAlone: true
    })
    try {
      const values = [
        ["DATE_TIME", "2027-05-04T10:00:00+02:00", "2027-05-04 08:00:00+00"],
        ["MONETORY", " +4750.650000000001", "4750.6500000"],
        ["MONETORY", "1,234.50", null]
      ]
      const statements = values.map(
        ([type, sent], n) =>
          `INSERT INTO crm.custom_fields BY NAME SELECT 'here' AS location_id, 'f${n}' AS id, 'contact' AS model, '${type}' AS data_type, 'contact.kind_${n}' AS field_key;
           INSERT INTO crm.contact_custom_values BY NAME SELECT 'here' AS location_id, 'c' AS contact_id, 'f${n}' AS custom_field_id, '${sent}' AS value_text;`
      )
      await sql(
        account.output,
        `${statements.join("\n")} INSERT INTO crm.contacts BY NAME SELECT 'here' AS location_id, 'c' AS id`
      )
      const ran = await sluice(["publish"], { ...account.environment, SLUICE_FORMATS: "duckdb" })
      assert.strictEqual(ran.code, 0, ran.stderr)
      const [row] = await query(
        join(account.output, "published/crm.duckdb"),
        "SET TimeZone = 'UTC'; SELECT cf_kind_0::VARCHAR AS a, cf_kind_1::VARCHAR AS b, cf_kind_2::VARCHAR AS c FROM contacts_wide WHERE id = 'c'"
      )
      assert.deepStrictEqual(
        Object.values(row!),
        values.map(([, , shown]) => shown)
      )
    } finally {
      discard(account)
    }
  })
})

/** Publishing many custom fields as columns, in little memory. */
import { assert, describe, it } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openAccount } from "../support/account.ts"
import { sql } from "../support/broken.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

/** Each contact has a value for ten of these fields. */
const fields = 120
const contacts = 30_000

describe("an account with many custom fields", () => {
  it("is published within the memory limit, with every value in the column of its field", async () => {
    const account = await openAccount("--contacts", "20")
    try {
      assert.strictEqual((await account.sync("--only", "contacts,custom_fields")).code, 0)
      await sql(
        account.output,
        `DELETE FROM crm.contacts; DELETE FROM crm.contact_custom_values;
         INSERT INTO crm.contacts BY NAME SELECT 'here' AS location_id, md5(i::VARCHAR) AS id FROM range(${contacts}) AS r(i);
         INSERT INTO crm.contact_custom_values BY NAME SELECT 'here' AS location_id, md5(i::VARCHAR) AS contact_id,
           'field' || (i * 7 + j * 11) % ${fields} AS custom_field_id, i || ' under ' || (i * 7 + j * 11) % ${fields} AS value_text
         FROM range(${contacts}) AS r(i), range(10) AS s(j)`
      )
      const config = join(account.output, "small.toml")
      writeFileSync(config, "[machine]\nmemory_mb = 96\n")
      const environment = { ...account.environment, SLUICE_FORMATS: "duckdb,parquet,csv" }
      const ran = await sluice(["publish", "--config", config], environment)
      assert.strictEqual(ran.code, 0, ran.stderr)

      const columns = Array.from({ length: fields }, (_, n) => `cf_field${n}`)
      const right = columns.map((column, n) => `count(*) FILTER (${column} = name_ || ' under ${n}') AS ${column}`)
      const wide = (
        from: string
      ) => `SELECT count(*) AS contacts, ${right.join(", ")}, count(COLUMNS('cf_field.*')) AS 'all_\\0'
        FROM (FROM ${from}) JOIN (SELECT md5(i::VARCHAR) AS id, i::VARCHAR AS name_ FROM range(${contacts}) AS r(i)) USING (id)`
      const parquet = `read_parquet('${account.output}/published/parquet/contacts_wide/*.parquet')`
      for (const from of ["contacts_wide", parquet]) {
        const [found] = await query(join(account.output, "published/crm.duckdb"), wide(from))
        assert.strictEqual(Number(found!["contacts"]), contacts)
        for (const column of columns) {
          assert.strictEqual(Number(found![column]), (contacts * 10) / fields, column)
          assert.strictEqual(found![`all_${column}`], found![column], column)
        }
      }

      const piped = await sluice(["publish", "--stdout", "contacts_wide", "--config", config], environment)
      assert.strictEqual(piped.code, 0, piped.stderr)
      const linesOf = (text: string) => text.split("\r\n").sort()
      const file = readFileSync(join(account.output, "published/csv/contacts_wide.csv"), "utf8")
      assert.deepStrictEqual(linesOf(piped.stdout), linesOf(file))
      const rows = parse(piped.stdout, { columns: true }) as ReadonlyArray<Record<string, string>>
      assert.strictEqual(new Set(rows.map(({ id }) => id)).size, contacts)
      const filled = rows.flatMap((row) => columns.filter((column) => row[column] !== ""))
      assert.strictEqual(filled.length, contacts * 10)
    } finally {
      account.service.stop()
      rmSync(account.output, { recursive: true })
    }
  })
})

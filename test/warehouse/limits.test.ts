/** More custom fields than a wide table has room for: whoever looks is told, and the values are in their table. */
import { assert, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { discard, openAlone, openSynced } from "../support/account.ts"
import { sql } from "../support/broken.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

it(
  "the 1,001st column of a wide table is named by publish, status, check and the report",
  { tags: ["slow"] },
  async () => {
    const account = await openAlone("contacts,custom_fields,locations", "--contacts", "2")
    const environment = { ...account.environment, SLUICE_FORMATS: "csv,duckdb", SLUICE_MODELS: "false" }
    const run = (...args: ReadonlyArray<string>) => sluice(args, environment)
    assert.strictEqual((await account.sync()).code, 0)
    const limits = async () => JSON.parse((await run("status", "--json")).stdout).data.limits
    assert.isUndefined(await limits())
    const [own] = await query(
      account.warehouse,
      "SELECT count(*)::INT AS n FROM crm.custom_fields WHERE model = 'contact' AND document_type IS DISTINCT FROM 'folder'"
    )
    // One more than there is room for.
    await sql(
      account.output,
      `INSERT INTO crm.custom_fields BY NAME SELECT f.* REPLACE ('more' || i AS id, 'More ' || i AS name, 'contact.more_' || i AS field_key)
     FROM (FROM crm.custom_fields WHERE model = 'contact' AND data_type = 'TEXT' LIMIT 1) AS f, range(1001 - ${Number(own!["n"])}) AS r (i)`
    )
    assert.strictEqual((await run("publish")).code, 0)
    const [limit, ...more] = await limits()
    assert.deepStrictEqual(more, [])
    assert.deepStrictEqual(
      [limit.place, limit.allowed, limit.found, limit.whole],
      ["contacts_wide", 1000, 1001, "contacts_wide_2"]
    )
    assert.lengthOf(limit.leftOut, 1)
    assert.match(
      (await run("status")).stderr.replaceAll(/\s+/g, " "),
      /contacts_wide has room for 1,000 columns of custom fields, and there are 1,001: without \w+\. The others are in contacts_wide_2\./
    )
    const second = await query(
      account.warehouse,
      "SELECT column_name AS name FROM meta.columns WHERE table_name = 'contacts_wide_2'"
    )
    assert.includeMembers(
      second.map(({ name }) => name),
      ["id", limit.leftOut[0]]
    )
    assert.include(
      readFileSync(join(account.output, "published/csv/contacts_wide_2.csv"), "utf8").split("\n")[0],
      limit.leftOut[0]
    )
    const header = async (...args: ReadonlyArray<string>) => (await run("publish", ...args)).stdout.split("\n")[0]
    assert.include(await header("--stdout", "contacts_wide_2"), limit.leftOut[0])
    assert.include(await header("--stdout", "contacts_wide_2", "--profile", "masked"), limit.leftOut[0])
    assert.strictEqual((await run("publish", "--stdout", "contacts_wide_3")).code, 2)
    const workbook = join(account.output, "book.xlsx")
    const { data } = JSON.parse((await run("export", "excel", workbook, "--only", "contacts_wide", "--json")).stdout)
    assert.deepStrictEqual(
      data.sheets.map(({ table }: Record<string, string>) => table),
      ["contacts_wide", "contacts_wide_2"]
    )
    const released = join(account.output, "published/crm.duckdb")
    const different = await query(
      account.warehouse,
      `ATTACH '${released}' AS release (READ_ONLY); (FROM release.main.contacts_wide_2 EXCEPT ALL FROM crm.contacts_wide_2)
       UNION ALL (FROM crm.contacts_wide_2 EXCEPT ALL FROM release.main.contacts_wide_2)`
    )
    assert.deepStrictEqual(different, [])
    const checked = await run("check", "--json")
    assert.strictEqual(checked.code, 4)
    assert.deepStrictEqual(
      JSON.parse(checked.stdout).data.alarms.map(({ kind, subject }: Record<string, string>) => `${kind}:${subject}`),
      ["limit:contacts_wide"]
    )
    assert.include(readFileSync(join(account.output, "published/report/index.html"), "utf8"), "What a limit leaves out")
    // The limit is reached no more.
    await sql(
      account.output,
      "DELETE FROM crm.custom_fields WHERE id = 'more0'; UPDATE meta.content_versions SET version = uuid()"
    )
    assert.strictEqual((await run("publish")).code, 0)
    assert.isUndefined(await limits())
    assert.deepStrictEqual(
      await query(account.warehouse, "FROM duckdb_views() WHERE view_name = 'contacts_wide_2'"),
      []
    )
    assert.isFalse(existsSync(join(account.output, "published/csv/contacts_wide_2.csv")))
    assert.strictEqual((await run("check")).code, 0)
    discard(account)
  }
)

it("a limit that was reached is an alarm", async () => {
  const account = await openSynced({ tables: "contacts", flags: ["--contacts", "2"], isAlone: true })
  try {
    const environment = { ...account.environment, SLUICE_MODELS: "false" }
    assert.strictEqual((await sluice(["check"], environment)).code, 0)
    await sql(
      account.output,
      `INSERT INTO meta.limits BY NAME SELECT 'contacts_wide' AS place, 1000 AS allowed, 1001 AS found, 'contact_custom_values' AS whole, ['cf_last'] AS left_out`
    )
    const checked = await sluice(["check"], environment)
    assert.strictEqual(checked.code, 4)
    assert.include(checked.stdout, "limit:contacts_wide")
  } finally {
    discard(account)
  }
})

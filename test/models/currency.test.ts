/** The currency of opportunities: as the service sends it with the location, else as the settings state it, else unknown. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openSynced } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { newFolder, sluice } from "../support/sluice.ts"

describe("the currency of opportunities", () => {
  let account: Account
  const config = join(newFolder(), "sluice.toml")
  beforeAll(async () => {
    account = await openSynced({
      tables: "locations,pipelines,opportunities",
      flags: ["--contacts", "30"],
      formats: "duckdb"
    })
  })
  afterAll(() => discard(account))

  /** After a publish with these settings. */
  const currencies = async (settings: string) => {
    writeFileSync(config, settings)
    assert.strictEqual((await sluice(["publish", "--config", config], account.environment)).code, 0)
    const published = join(account.output, "published", "crm.duckdb")
    const rows = await query(
      published,
      `SELECT DISTINCT o.currency, c.currency AS of_change, (SELECT any_value(currency) FROM locations) AS sent
       FROM bi.fct_opportunity AS o JOIN bi.fct_opportunity_stage_change AS c USING (location_id, opportunity_id)`
    )
    assert.lengthOf(rows, 1)
    return rows[0]
  }
  const ofLocation = (currency: string) => {
    const id = account.environment["SLUICE_LOCATION_ID"]
    return `[account]\ncurrency = "EUR"\n[[locations]]\nid = "${id}"\ncurrency = "${currency}"\n`
  }

  it("is that of the location, whatever the settings state", { tags: ["slow"] }, async () => {
    assert.deepStrictEqual(await currencies('[account]\ncurrency = "EUR"'), {
      currency: "USD",
      of_change: "USD",
      sent: "USD"
    })
  })

  it("is the stated one where the service sends none, and unknown without it", { tags: ["slow"] }, async () => {
    await query(
      account.warehouse,
      "UPDATE crm.locations SET currency = NULL; UPDATE meta.content_versions SET version = version || 'x'",
      "READ_WRITE"
    )
    assert.deepStrictEqual(await currencies(""), { currency: null, of_change: null, sent: null })
    assert.deepStrictEqual(await currencies('[account]\ncurrency = "EUR"'), {
      currency: "EUR",
      of_change: "EUR",
      sent: null
    })
    assert.deepStrictEqual(await currencies(ofLocation("CHF")), { currency: "CHF", of_change: "CHF", sent: null })
    assert.deepStrictEqual(await currencies(""), { currency: null, of_change: null, sent: null })
  })

  it("is an ISO code, and in the dbt project too", async () => {
    writeFileSync(config, '[account]\ncurrency = "Euro"')
    const { code, stderr } = await sluice(["publish", "--config", config], account.environment)
    assert.strictEqual(code, 78)
    assert.match(stderr, /currency.*an ISO 4217 code such as EUR/)
    const project = newFolder()
    const exported = await sluice(["models", "export", project], { ...account.environment, SLUICE_CURRENCY: "SEK" })
    assert.strictEqual(exported.code, 0, exported.stderr)
    assert.include(readFileSync(join(project, "staging/stated_currencies.sql"), "utf8"), "'SEK' AS currency")
  })
})

/** What verify finds in the state of the warehouse and in files that nobody compared before. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { cpSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openAlone, openSynced } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { alteredService } from "../support/proxy.ts"
import { newFolder, sluice } from "../support/sluice.ts"

let account: Account
/** Of every command: models would need more tables. */
let environment: Readonly<Record<string, string>>
beforeAll(async () => {
  account = await openAlone("locations,custom_fields,contacts,pipelines,opportunities,orders", "--contacts", "150")
  const fields = await account.service.records("customFields")
  const keys = new Map(fields.map(({ id, fieldKey }) => [id, fieldKey]))
  /** Opportunities name their fields by key, and one contact has an impossible date. */
  const altered = await alteredService(account.service, ({ path }, answer) => {
    const { contacts, opportunities } = answer as Readonly<Record<string, ReadonlyArray<Row> | undefined>>
    if (path === "/contacts/search" && contacts)
      return {
        ...(answer as object),
        contacts: contacts.map((one, n) => (n === 0 ? { ...one, dateOfBirth: "soon" } : one))
      }
    if (!opportunities) return answer
    const named = opportunities.map((one) => ({
      ...one,
      customFields: (one["customFields"] as ReadonlyArray<Row> | undefined)?.map((value) => ({
        ...value,
        id: keys.get(value["id"]) ?? value["id"]
      }))
    }))
    return { ...(answer as object), opportunities: named }
  })
  environment = { ...account.environment, SLUICE_FORMATS: "duckdb,csv", SLUICE_MODELS: "false" }
  const ran = await sluice(["sync", ...account.selection], { ...environment, SLUICE_BASE_URL: altered.url })
  altered.close()
  assert.strictEqual(ran.code, 0, ran.stderr)
})
afterAll(() => {
  account.service.stop()
  rmSync(account.output, { recursive: true })
})
type Row = Readonly<Record<string, unknown>>

/** Changes a copy of the output and checks it. */
const verified = async (damage: (folder: string) => unknown, ...flags: ReadonlyArray<string>) => {
  const folder = newFolder()
  cpSync(account.output, folder, { recursive: true, verbatimSymlinks: true })
  await damage(folder)
  const ran = await sluice(["verify", ...flags], { ...environment, SLUICE_OUTPUT: folder })
  rmSync(folder, { recursive: true })
  return ran
}
const sql = (folder: string, statement: string) => query(join(folder, "warehouse.duckdb"), statement, "READ_WRITE")

describe("verify", { tags: ["slow"] }, () => {
  it("is content with an account whose custom values name their field by its key, whichever rows it samples", async () => {
    const [resolved] = await query(
      account.warehouse,
      "SELECT count(*) AS n FROM crm.opportunity_custom_values AS v SEMI JOIN crm.custom_fields AS f ON f.id = v.custom_field_id"
    )
    assert.isAbove(Number(resolved!["n"]), 0)
    for (const flags of [[], ["--all"]]) {
      const ran = await verified(() => undefined, ...flags)
      assert.strictEqual(ran.code, 0, ran.stdout + ran.stderr)
    }
  })

  const damages: ReadonlyArray<
    readonly [name: string, damage: (folder: string) => unknown, found: RegExp, ...flags: ReadonlyArray<string>]
  > = [
    [
      "a status that does not follow from the reading",
      (folder) =>
        sql(
          folder,
          `UPDATE meta.run_resources SET reading = '{"shortfalls":["stopped"],"warnings":[]}' WHERE resource = 'contacts'`
        ),
      /contacts.*calls it complete; what the run found makes it incomplete/
    ],
    [
      "a reading that the vault describes otherwise",
      (folder) =>
        sql(
          folder,
          `UPDATE meta.run_resources SET reading = '{"shortfalls":[],"warnings":["w"]}', status = 'complete_with_warnings' WHERE resource = 'contacts'`
        ),
      /meta\.run_resources.*missing or different from what the vault gives: \d+ rows?, for example contacts/
    ],
    [
      "a watermark a year ahead, with its time of reading",
      (folder) =>
        sql(
          folder,
          `UPDATE meta.watermarks SET watermark = watermark + INTERVAL 1 YEAR, complete_at = complete_at + INTERVAL 1 YEAR WHERE resource = 'contacts'`
        ),
      /meta\.watermarks.*for example contacts/
    ],
    [
      "a removed line of meta.rejected_values",
      (folder) => sql(folder, "DELETE FROM meta.rejected_values"),
      /meta\.rejected_values.*missing or different from what the vault gives: .* for example contacts\/\w+\/date_of_birth/,
      "--all"
    ],
    [
      "a file that no manifest names",
      (folder) => writeFileSync(join(folder, "published/csv/extra.csv"), "id\r\n1\r\n"),
      /csv\/extra\.csv.*no manifest names it/
    ]
  ]
  for (const [name, damage, found, ...flags] of damages)
    it(`finds ${name}`, async () => {
      const ran = await verified(damage, ...flags)
      assert.strictEqual(ran.code, 1, ran.stdout)
      assert.match(ran.stdout + ran.stderr, found)
    })
})

describe("verify of a small account", () => {
  it("finds a status that does not follow from the reading", async () => {
    const small = await openSynced({ tables: "contacts", flags: ["--contacts", "3"], isAlone: true })
    try {
      const clean = await sluice(["verify"], small.environment)
      assert.strictEqual(clean.code, 0, clean.stdout)
      await sql(
        small.output,
        `UPDATE meta.run_resources SET reading = '{"shortfalls":["stopped"],"warnings":[]}' WHERE resource = 'contacts'`
      )
      const damaged = await sluice(["verify", "--json"], small.environment)
      assert.strictEqual(damaged.code, 1)
      assert.include(damaged.stdout, "calls it complete; what the run found makes it incomplete")
    } finally {
      discard(small)
    }
  })
})

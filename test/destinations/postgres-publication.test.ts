/** A database whose tables are all replicated: each night changes every table there, also one without a key. */
import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { percentProblem } from "../../src/destinations/postgres/settings.ts"
import { discard, openAlone } from "../support/account.ts"
import { openDatabase, postgresPrograms, sqlIn, withoutPostgres } from "../support/postgres.ts"
import { newFolder, sluice } from "../support/sluice.ts"

it("an address is unreadable only if a % of it begins no code", () => {
  assert.isUndefined(percentProblem("postgres://u:a%25b@h/d"))
  assert.isDefined(percentProblem("postgres://u:a%b@h/d"))
})

describe.skipIf(postgresPrograms === undefined)(
  postgresPrograms === undefined ? withoutPostgres : "a publication for all tables",
  { tags: ["slow"] },
  () => {
    it("keeps no own model without a key at its first rows, nor a table that an earlier version has made", async () => {
      const [account, database] = await Promise.all([openAlone("contacts", "--contacts", "12"), openDatabase()])
      onTestFinished(async () => {
        discard(account)
        await database.stop()
      })
      const folder = newFolder()
      mkdirSync(join(folder, "own"))
      writeFileSync(join(folder, "own", "cities.sql"), "SELECT city, email FROM {{ source('crm', 'contacts') }}")
      const config = join(folder, "sluice.toml")
      writeFileSync(
        config,
        '[models]\nfolder = "own"\n[[publish]]\nname = "db"\npostgres = "env:PLACE"\nprofile = "raw"\ntables = ["contacts"]\n'
      )
      const sync = () =>
        sluice(["sync", ...account.selection, "--config", config], {
          ...account.environment,
          SLUICE_FORMATS: "duckdb",
          PLACE: database.url
        })
      const emails = async (table: string) =>
        sqlIn(database, `SELECT string_agg(coalesce(email, '-'), ',' ORDER BY email, city) FROM ${table}`)
      await sync()
      assert.strictEqual(await emails("crm_bi.cities"), await emails("crm.contacts"))
      // As an earlier version has made it.
      await sqlIn(database, "ALTER TABLE crm_bi.cities REPLICA IDENTITY DEFAULT; CREATE PUBLICATION p FOR ALL TABLES")
      for (const seed of [1, 2]) {
        const before = await emails("crm_bi.cities")
        await account.service.post("change", { contacts: 0.6, seed })
        const { stderr } = await sync()
        assert.notInclude(stderr, "replica identity")
        assert.strictEqual(await emails("crm_bi.cities"), await emails("crm.contacts"))
        assert.notStrictEqual(await emails("crm_bi.cities"), before)
      }
    })
  }
)

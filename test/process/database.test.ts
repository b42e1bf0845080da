/** What a PostgreSQL database gets, and what in it is somebody else's. */
import { assert, describe, it } from "@effect/vitest"
import { appendFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { type Account, discard, openSynced } from "../support/account.ts"
import { inDatabase } from "../support/compare.ts"
import { compareDatabase } from "../support/database.ts"
import { type Postgres, postgresPrograms, sqlIn, openDatabase, withoutPostgres } from "../support/postgres.ts"
import { python, runPython } from "../support/python.ts"
import { knowing, newFolder, sluice } from "../support/sluice.ts"

const tables = "contacts,opportunities,pipelines,users,locations,custom_fields"
const canRun = postgresPrograms !== undefined && python !== undefined

describe.skipIf(!canRun)(canRun ? "a database" : withoutPostgres, () => {
  let server: Postgres
  const accounts: Array<Account> = []
  beforeAll(async () => {
    server = await openDatabase()
  })
  afterAll(async () => {
    discard(...accounts)
    await server?.stop()
  })

  const open = async (seed = "1", isAlone = false) => {
    const flags = ["--contacts", "20", "--seed", seed]
    const account = await openSynced({ tables, flags, formats: "duckdb", isAlone })
    accounts.push(account)
    return account
  }
  /** For the claims that are not about every table or a model. */
  const openFew = () => open("1", true)

  const sql = (text: string) => sqlIn(server, text)

  /** Publishes into a schema; all tables and models only if its name ends so. `settings`: of the target. */
  const publish = async (
    account: Account,
    schema: string,
    settings: string = 'profile = "raw"',
    ...flags: Array<string>
  ) => {
    const config = join(newFolder(), "sluice.toml")
    writeFileSync(
      config,
      `[[publish]]\nname = "warehouse"\npostgres = "env:CRM_URL"\nschema = "${schema}"\n${settings}\n`
    )
    return sluice(["publish", "--config", config, ...flags], {
      ...account.environment,
      SLUICE_FORMATS: "none",
      ...(!schema.endsWith("_all") && { SLUICE_MODELS: "false", ...knowing(tables) }),
      CRM_URL: server.url,
      SLUICE_MASKING_KEY: "11".repeat(32)
    })
  }

  const differences = (account: Account, schema: string) =>
    runPython(
      python!,
      compareDatabase,
      server.url,
      schema,
      join(account.output, "destinations", "warehouse", "release", "crm.duckdb")
    )
      .trim()
      .split("\n")
      .slice(0, -1)

  const changeWarehouse = (account: Account, statement: string) =>
    inDatabase(
      account.warehouse,
      async (ask) => {
        await ask(statement)
        await ask("UPDATE meta.content_versions SET version = uuid(), base = NULL")
      },
      "READ_WRITE"
    )

  it("has keys, indexes, comments and types that its readers expect, and no character that it cannot store", async () => {
    const account = await open()
    const nasty = String.raw`'"\.' || chr(10) || '\.' || chr(10) || 'a\b,"c"' || chr(0) || '\N'`
    await changeWarehouse(
      account,
      `UPDATE crm.contacts SET first_name = ${nasty}, last_name = '', company_name = NULL,
       _extra = '{"nul":"a\\u0000b","pair":"\\ud83d\\ude00","escaped":"\\\\u0000","n":12345678901234567890.5}'
       WHERE id = (SELECT min(id) FROM crm.contacts)`
    )
    const ran = await publish(account, "typed_all")
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.match(ran.stdout, /warehouse: \d+ tables changed in the schema typed_all/)
    assert.deepStrictEqual(
      await sql(`SELECT replace(first_name, chr(10), '#'), last_name = '', company_name IS NULL, _extra->>'nul', _extra->>'escaped', _extra->>'n'
           FROM typed_all.contacts ORDER BY id LIMIT 1`),
      String.raw`"\.#\.#a\b,"c"\N|t|t|ab|\u0000|12345678901234567890.5`
    )
    assert.deepStrictEqual(
      await sql(`SELECT string_agg(data_type, ',' ORDER BY column_name) FROM information_schema.columns
           WHERE table_schema = 'typed_all' AND table_name = 'contacts' AND column_name IN ('_extra', 'date_added', 'date_of_birth', 'dnd', 'email')`),
      "jsonb,timestamp with time zone,date,boolean,text"
    )
    assert.strictEqual(
      await sql(
        "SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'typed_all.contacts_pkey'::regclass"
      ),
      "id,location_id"
    )
    assert.match(await sql("SELECT obj_description('typed_all.contacts'::regclass)"), /\w/)
    assert.match(
      await sql(
        "SELECT col_description('typed_all.contacts'::regclass, attnum) FROM pg_attribute WHERE attrelid = 'typed_all.contacts'::regclass AND attname = 'email'"
      ),
      /\w/
    )
    assert.match(
      await sql(
        "SELECT string_agg(indexdef, ';') FROM pg_indexes WHERE tablename = 'opportunities' AND schemaname = 'typed_all'"
      ),
      /\(contact_id\)/
    )
    assert.strictEqual(await sql("SELECT count(*) FROM typed_all_bi.dim_contact"), "20")
  })

  it("keeps views, rights and tables of its users, also when all rows are written anew and columns come and go", async () => {
    const account = await openFew()
    assert.strictEqual((await publish(account, "kept")).code, 0)
    await sql(`CREATE ROLE reader; GRANT USAGE ON SCHEMA kept TO reader; GRANT SELECT ON kept.contacts TO reader;
         CREATE TABLE kept.mine AS SELECT 1 AS one; CREATE VIEW public.emails AS SELECT id, email FROM kept.contacts;
         ALTER TABLE kept.contacts ADD COLUMN remark text; ALTER TABLE kept.contacts DROP COLUMN website`)
    const full = await publish(account, "kept", undefined, "--full")
    assert.strictEqual(full.code, 0, full.stderr)
    assert.deepStrictEqual(differences(account, "kept"), ["further kept mine"])
    assert.strictEqual(await sql("SET ROLE reader; SELECT count(*) FROM kept.contacts"), "20")
    assert.strictEqual(await sql("SELECT count(*) FROM public.emails"), "20")
    // Fewer tables: what nobody else uses goes; what a view reads stays, without rows.
    const fewer = await publish(account, "kept", 'profile = "raw"\ntables = ["pipelines"]')
    assert.strictEqual(fewer.code, 0, fewer.stderr)
    assert.strictEqual(
      await sql("SELECT to_regclass('kept.opportunities') IS NULL, to_regclass('kept.mine') IS NULL"),
      "t|f"
    )
    assert.strictEqual(await sql("SELECT count(*) FROM public.emails"), "0")
    // Whoever may write what sluice notes of the schema makes no table of theirs one of sluice.
    await sql(`INSERT INTO kept._sluice (owner, table_name, version, shape, run_id)
         SELECT owner, 'mine', version, shape, run_id FROM kept._sluice WHERE table_name = 'pipelines'`)
    const named = await publish(account, "kept", 'profile = "raw"\ntables = ["pipelines"]', "--full")
    assert.strictEqual(named.code, 1, named.stderr)
    assert.include(named.stderr.replaceAll(/\s+/g, " "), "may be another table, and nothing of it was removed")
    assert.strictEqual(await sql("SELECT count(*) FROM kept.mine"), "1")
  })

  it("changes no table that sluice did not create, and no rows of another output folder", async () => {
    const [account, other] = [await open(), await open("2")]
    await sql("CREATE SCHEMA taken; CREATE TABLE taken.contacts (id text); INSERT INTO taken.contacts VALUES ('mine')")
    const refused = await publish(account, "taken")
    assert.strictEqual(refused.code, 1)
    assert.match(refused.stderr, /"taken"\."contacts" exists already, and sluice did not create it/)
    assert.strictEqual(
      await sql("SELECT id, (SELECT count(*) FROM pg_tables WHERE schemaname = 'taken') FROM taken.contacts"),
      "mine|1"
    )

    // Two output folders with a location each share a schema.
    for (const one of [account, other]) assert.strictEqual((await publish(one, "shared")).code, 0)
    assert.strictEqual(await sql("SELECT count(*), count(DISTINCT location_id) FROM shared.contacts"), "40|2")
    assert.strictEqual((await publish(account, "shared", undefined, "--full")).code, 0)
    assert.strictEqual(await sql("SELECT count(DISTINCT location_id) FROM shared.opportunities"), "2")

    // A model without locations has the rows of both.
    const days = async () => Number(await sql("SELECT count(*) FROM shared_all_bi.dim_date"))
    assert.strictEqual((await publish(account, "shared_all")).code, 0)
    const own = await days()
    await sql("INSERT INTO shared_all_bi.dim_date (date_day) VALUES ('1999-01-01')")
    const joined = await publish(other, "shared_all")
    assert.strictEqual(joined.code, 0, joined.stderr)
    assert.isAbove(await days(), own)
    assert.strictEqual(await sql("SELECT count(DISTINCT location_id) FROM shared_all_bi.dim_contact"), "2")

    // The same location from two folders is a mistake, until it is said to be none.
    const copy = await open()
    const twice = await publish(copy, "shared")
    assert.strictEqual(twice.code, 1)
    assert.match(
      twice.stderr,
      new RegExp(`has rows of ${copy.service.locationId} from another output folder [^]* publish .*--full`)
    )
    const replaced = await publish(copy, "shared", undefined, "--full")
    assert.strictEqual(replaced.code, 0, replaced.stderr)
    assert.strictEqual(await sql("SELECT count(*), count(DISTINCT location_id) FROM shared.contacts"), "40|2")
  })

  it("gets a column of another type, and empties one that the release does not have any more", async () => {
    const account = await openFew()
    assert.strictEqual((await publish(account, "retyped")).code, 0)
    await sql(`ALTER TABLE retyped.contacts ALTER COLUMN date_added TYPE date, ALTER COLUMN dnd TYPE text,
           ALTER COLUMN date_of_birth TYPE text;
         CREATE VIEW public.births AS SELECT date_of_birth FROM retyped.contacts;
         ALTER TABLE retyped.contacts ADD COLUMN gone text; UPDATE retyped.contacts SET gone = 'x';
         UPDATE retyped._sluice SET version = 'old', shape = regexp_replace(shape, ',\\[\\["location_id"', ',[["gone","text",null],["location_id"') WHERE table_name = 'contacts';
         UPDATE retyped._sluice SET version = 'old' WHERE table_name = ''`)
    const ran = await publish(account, "retyped")
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.deepStrictEqual(
      differences(account, "retyped").filter((line) => !line.includes("contacts")),
      []
    )
    assert.strictEqual(
      await sql(
        "SELECT count(gone), count(date_added), min(pg_typeof(date_added)::text), min(pg_typeof(dnd)::text), min(pg_typeof(date_of_birth)::text) FROM retyped.contacts"
      ),
      // A view needs the last one.
      "0|20|timestamp with time zone|boolean|text"
    )
  })

  it("is compared with what was loaded, value by value", async () => {
    const account = await open()
    const config = join(newFolder(), "sluice.toml")
    writeFileSync(
      config,
      '[[publish]]\nname = "warehouse"\npostgres = "env:CRM_URL"\nschema = "checked"\nprofile = "raw"\n'
    )
    const environment = { ...account.environment, SLUICE_FORMATS: "duckdb", CRM_URL: server.url }
    const verified = async () => {
      const { code, stdout } = await sluice(["verify", "--config", config, "--json"], environment)
      const { data } = JSON.parse(stdout)
      return [code, data.checks.find(({ check }: { check: string }) => check === "database")]
    }
    const [missing, nothing] = await verified()
    assert.strictEqual(missing, 1)
    assert.deepInclude(nothing.findings[0], {
      where: "warehouse",
      what: "nothing was loaded into the schema checked yet"
    })
    assert.strictEqual((await sluice(["publish", "--config", config], environment)).code, 0)
    const [right, whole] = await verified()
    assert.strictEqual(right, 0, JSON.stringify(whole))
    assert.match(whole.looked, /^\d+ tables, [\d,]+ rows of the schema checked, compared with what was loaded$/)
    await sql(
      "UPDATE checked.contacts SET _extra = coalesce(_extra, '{}') || '{\"x\": 1}' WHERE id = (SELECT min(id) FROM checked.contacts)"
    )
    await sql("DELETE FROM checked_bi.dim_contact WHERE contact_id = (SELECT min(id) FROM checked.contacts)")
    const [wrong, altered] = await verified()
    assert.strictEqual(wrong, 1)
    assert.deepStrictEqual(
      altered.findings.map(({ what, where }: { what: string; where: string }) => `${where}: ${what}`).sort(),
      [
        '"checked"."contacts": 1 row with other values than were loaded',
        '"checked_bi"."dim_contact": 19 rows, and 20 were loaded'
      ]
    )
    assert.strictEqual((await sluice(["publish", "--full", "--config", config], environment)).code, 0)
    assert.strictEqual((await verified())[0], 0)
  })

  it("has pseudonyms only with the profile analytics, and nothing of a table that the profile leaves out", async () => {
    const account = await open()
    const ran = await publish(account, "masked_all", 'profile = "analytics"')
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.deepStrictEqual(differences(account, "masked_all"), [])
    const emails = (await account.service.records("contacts")).flatMap(({ email }) => (email ? [String(email)] : []))
    assert.isAbove(emails.length, 5)
    const text =
      (await sql("SELECT string_agg(t::text, '') FROM masked_all.contacts AS t")) +
      (await sql("SELECT string_agg(t::text, '') FROM masked_all_bi.dim_contact AS t"))
    assert.deepStrictEqual(
      emails.filter((email) => text.includes(email)),
      []
    )
  })

  it("that cannot be reached keeps no other target from its release, and is brought up to date by the next run", async () => {
    const account = await openFew()
    const config = join(newFolder(), "sluice.toml")
    const folder = join(newFolder(), "files")
    const password = "correcthorse"
    writeFileSync(config, '[[publish]]\nname = "down"\npostgres = "env:CRM_URL"\nschema = "late"\nprofile = "raw"\n')
    appendFileSync(config, `[[publish]]\nname = "files"\nfolder = "${folder}"\nprofile = "raw"\n`)
    const run = (url: string) =>
      sluice(["publish", "--config", config, "--json"], {
        ...account.environment,
        SLUICE_FORMATS: "duckdb",
        CRM_URL: url
      })
    const refused = await run(`postgres://sluice:${password}@127.0.0.1:1/nowhere`)
    assert.strictEqual(refused.code, 1)
    assert.match(refused.stdout, /The target down was not changed: .*ECONNREFUSED/)
    assert.notInclude(refused.stdout + refused.stderr, password)
    assert.isAbove(await rowsIn(join(folder, "crm.duckdb"), "contacts"), 0)
    assert.strictEqual((await run(server.url)).code, 0)
    assert.strictEqual(await sql("SELECT count(*) FROM late.contacts"), "20")
  })
})

const rowsIn = async (path: string, table: string): Promise<number> =>
  (await inDatabase(path, (ask) => ask(`SELECT * FROM ${table}`))).length

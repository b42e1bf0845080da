/** Values, structures, readers and poolers that stand between a release and a PostgreSQL database: the rest arrives. */
import { assert, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Client } from "pg"
import { afterAll, beforeAll } from "vitest"
import { type Account, discard, openSynced } from "../support/account.ts"
import { inDatabase } from "../support/compare.ts"
import { bouncer, startBouncer, withoutBouncer } from "../support/pooler.ts"
import { type Postgres, postgresPrograms, sqlIn, openDatabase, withoutPostgres } from "../support/postgres.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const tables = "contacts,opportunities,pipelines,users,locations,custom_fields"

interface Finding {
  readonly check?: string
  readonly level: string
  readonly where: string
  readonly what: string
}

/** Texts that no compression makes shorter. */
const random = (length: number) =>
  `(SELECT left(string_agg(md5(i::VARCHAR), ''), ${length}) FROM range(${length} // 32 + 1) AS r(i))`

describe.skipIf(postgresPrograms === undefined)(postgresPrograms ? "a database" : withoutPostgres, () => {
  let server: Postgres
  const accounts: Array<Account> = []
  beforeAll(async () => {
    server = await openDatabase()
  })
  afterAll(async () => {
    discard(...accounts)
    await server?.stop()
  })

  const sql = (text: string) => sqlIn(server, text)

  const open = async (schema: string, url = () => server.url) => {
    const isAlone = !schema.endsWith("_all")
    const account = await openSynced({ tables, flags: ["--contacts", "20"], formats: "duckdb", isAlone })
    accounts.push(account)
    const config = join(newFolder(), "sluice.toml")
    const target = `[[publish]]\nname = "warehouse"\npostgres = "env:CRM_URL"\nschema = "${schema}"\nprofile = "raw"\n`
    writeFileSync(config, target)
    const run = (...args: ReadonlyArray<string>) =>
      sluice([...args, "--config", config], {
        ...account.environment,
        SLUICE_FORMATS: isAlone ? "none" : "duckdb",
        CRM_URL: url()
      })
    const publish = async (...flags: ReadonlyArray<string>) => {
      const ran = await run("publish", ...flags)
      assert.strictEqual(ran.code, 0, ran.stdout + ran.stderr)
      return ran
    }
    /** Compares each value in the database with the one that was loaded. The warehouse is not what the vault has. */
    const verify = async () => {
      const { data } = JSON.parse((await run("verify", "--json")).stdout)
      const found: ReadonlyArray<Finding> = data.checks.find(({ check }: Finding) => check === "database").findings
      const of = (one: string) =>
        found.filter(({ level }) => level === one).map(({ what, where }) => `${where}: ${what}`)
      return { wrong: of("wrong"), notes: of("note") }
    }
    const change = (statement: string) =>
      inDatabase(
        account.warehouse,
        async (ask) => {
          await ask(statement)
          await ask("UPDATE meta.content_versions SET version = uuid(), base = NULL")
        },
        "READ_WRITE"
      )
    return { change, publish, run, verify, schema }
  }

  it("gets every value that it can hold, and NULL for those that it cannot, which are reported with table, column and key", async () => {
    const { change, publish, verify } = await open("values_all")
    const deep = (depth: number) => `repeat('{"a":', ${depth}) || '1' || repeat('}', ${depth})`
    const values = (night: number) => `
      CREATE TEMP TABLE one AS SELECT id, row_number() OVER (ORDER BY id) AS n FROM crm.contacts;
      UPDATE crm.contacts SET last_name = 'night ${night}' || chr(0) || chr(13) || '!' || chr(13);
      UPDATE crm.contacts SET date_added = '0044-03-15 (BC) 10:00:00+00', date_of_birth = '0044-03-15 (BC)' WHERE id = (SELECT id FROM one WHERE n = 1);
      UPDATE crm.contacts SET date_added = 'infinity', date_of_birth = '-infinity' WHERE id = (SELECT id FROM one WHERE n = 2);
      UPDATE crm.contacts SET date_added = '290000-01-01 (BC) 00:00:00+00', date_of_birth = '5881000-01-01' WHERE id = (SELECT id FROM one WHERE n = 3);
      UPDATE crm.contacts SET date_added = '290000-01-01 00:00:00+00', date_of_birth = '9999-12-31' WHERE id = (SELECT id FROM one WHERE n = 4);
      UPDATE crm.contacts SET _extra = (${deep(10_000)})::JSON WHERE id = (SELECT id FROM one WHERE n = 5);
      UPDATE crm.contacts SET _extra = (${deep(1000)})::JSON WHERE id = (SELECT id FROM one WHERE n = 6);
      UPDATE crm.contacts SET _extra = '{"a":1e200000}'::JSON WHERE id = (SELECT id FROM one WHERE n = 7);
      UPDATE crm.contacts SET _extra = '{"a":NaN}'::JSON WHERE id = (SELECT id FROM one WHERE n = 8);
      UPDATE crm.contacts SET _extra = '{"a":"1e200000, Infinity","b":"\\\\u0000 \\u0000","c":1e400,"__proto__":{"x":[]}}'::JSON WHERE id = (SELECT id FROM one WHERE n = 9);
      DROP TABLE one`
    for (const night of [1, 2]) {
      await change(values(night))
      const { stderr } = await publish()
      assert.match(stderr, /contacts\.date_\w+, contacts\.date_\w+ are NULL in 1 row \(\w+/)
      assert.match(stderr, /contacts\._extra is NULL in 3 rows \(\w+ \w+, /)
      assert.strictEqual(
        await sql(
          "SELECT string_agg(concat_ws(' ', date_added AT TIME ZONE 'UTC', date_of_birth), ', ' ORDER BY id) FROM (SELECT * FROM values_all.contacts ORDER BY id LIMIT 4) AS c"
        ),
        "0044-03-15 10:00:00 BC 0044-03-15 BC, infinity -infinity, , 290000-01-01 00:00:00 9999-12-31"
      )
      assert.strictEqual(
        await sql(
          "SELECT string_agg(coalesce(length(_extra::text)::text, 'NULL'), ' ' ORDER BY id) FROM (SELECT * FROM values_all.contacts ORDER BY id OFFSET 4 LIMIT 4) AS c"
        ),
        "NULL 7001 NULL NULL"
      )
      assert.strictEqual(
        await sql(
          `SELECT count(*) FROM values_all.contacts WHERE last_name = 'night ${night}' || chr(13) || '!' || chr(13)`
        ),
        "20"
      )
      const { notes, wrong } = await verify()
      assert.deepStrictEqual(wrong, [])
      assert.match(notes.join(), /contacts\._extra is NULL in 3 rows/)
    }
  })

  const primaryKeys = (schema: string) =>
    sql(`SELECT string_agg(conrelid::regclass::text, ',' ORDER BY conrelid::regclass::text) FROM pg_constraint WHERE contype = 'p' AND connamespace = '${schema}'::regnamespace
         AND conrelid::regclass::text ~ 'contact_tags|contacts$'`)

  const indexesOf = (schema: string) =>
    sql(
      `SELECT string_agg(indexdef, ';') FROM pg_indexes WHERE schemaname = '${schema}' AND tablename ~ 'contacts$|contact_tags'`
    )

  it.each([
    ["first", 1],
    ["later", 2]
  ])(
    "gets texts that are too long for its indexes in the %s night, and has its keys again when they are gone",
    async (_, nights) => {
      const { change, publish, schema, verify } = await open(`long_${nights}`)
      if (nights > 1) {
        await publish()
        assert.strictEqual(await primaryKeys(schema), `${schema}.contact_tags,${schema}.contacts`)
      }
      await change(`INSERT INTO crm.contact_tags BY NAME SELECT * REPLACE (${random(4000)} AS tag) FROM crm.contact_tags ORDER BY ALL LIMIT 1;
      INSERT INTO crm.contact_tags BY NAME SELECT * REPLACE (tag || chr(0) AS tag) FROM crm.contact_tags ORDER BY ALL LIMIT 1;
      UPDATE crm.contacts SET assigned_to = ${random(5000)} WHERE id = (SELECT min(id) FROM crm.contacts)`)
      const { stderr } = await publish()
      assert.match(stderr, /contact_tags has texts in tag that are too long .* and no primary key/)
      assert.match(stderr, /contacts has texts in assigned_to that are too long/)
      assert.strictEqual(
        await sql(`SELECT count(*), max(length(tag)) FROM ${schema}.contact_tags`),
        await sql(`SELECT count(*), 4000 FROM ${schema}.contact_tags`)
      )
      assert.strictEqual(await sql(`SELECT max(length(assigned_to)) FROM ${schema}.contacts`), "5000")
      assert.match(await indexesOf(schema), /USING hash \(assigned_to\)/)
      assert.strictEqual(await primaryKeys(schema), `${schema}.contacts`)
      assert.deepStrictEqual((await verify()).wrong, [])
      // A night in which other rows change.
      await change(
        "UPDATE crm.contacts SET first_name = 'changed'; DELETE FROM crm.contact_tags WHERE tag = (SELECT max(tag) FROM crm.contact_tags WHERE length(tag) < 100)"
      )
      await publish()
      assert.deepStrictEqual((await verify()).wrong, [])
      await change(
        "DELETE FROM crm.contact_tags WHERE length(tag) > 100 OR contains(tag, chr(0)); UPDATE crm.contacts SET assigned_to = NULL"
      )
      await publish()
      assert.deepStrictEqual((await verify()).wrong, [])
      // PostgreSQL has to remove the deleted rows first, as it does by itself.
      await sql(`VACUUM ${schema}.contact_tags, ${schema}.contacts`)
      await publish("--full")
      assert.strictEqual(await primaryKeys(schema), `${schema}.contact_tags,${schema}.contacts`)
      assert.notMatch(await indexesOf(schema), /hash/)
      assert.deepStrictEqual((await verify()).wrong, [])
    }
  )

  it("gets all tables but one when an index of its users has no room for a text, and keeps the index", async () => {
    const { change, publish, run, schema, verify } = await open("own_index")
    await publish()
    await sql(`CREATE INDEX mine ON ${schema}.contacts (last_name)`)
    await change(`UPDATE crm.contacts SET last_name = ${random(5000)}; UPDATE crm.opportunities SET name = 'tonight'`)
    const ran = await run("publish")
    assert.strictEqual(ran.code, 3, ran.stdout + ran.stderr)
    assert.match(ran.stderr, /"own_index"."contacts": index row size \d+ exceeds .* for index "mine"/)
    assert.strictEqual(await sql(`SELECT count(*) FROM ${schema}.opportunities WHERE name <> 'tonight'`), "0")
    assert.deepStrictEqual((await verify()).wrong.length, 1)
    await sql(`DROP INDEX ${schema}.mine`)
    await publish()
    assert.deepStrictEqual((await verify()).wrong, [])
  })

  it("gets a wide row that exceeds a page without its last columns, and the others whole", async () => {
    const { change, publish, verify } = await open("wide")
    await change(`INSERT INTO crm.contact_custom_values BY NAME
      SELECT location_id, id AS contact_id, 'field' || i AS custom_field_id, 'a text of some length of ' || i AS value_text
      FROM (SELECT location_id, id, row_number() OVER (ORDER BY id) AS n FROM crm.contacts), range(700) AS r(i) WHERE n = 1 OR (n = 2 AND i % 7 = 0)`)
    for (const night of ["first", "later"]) {
      const { stderr } = await publish(...(night === "first" ? [] : ["--full"]))
      assert.match(stderr, /contacts_wide\.cf_\w+, \S+, \S+ and \d{3} more are NULL in 1 row/)
      const wide = "FROM wide.contacts_wide ORDER BY id LIMIT 2"
      assert.strictEqual(
        await sql(
          `SELECT string_agg(concat_ws(' ', cf_field0 IS NULL, cf_field98 IS NULL), ', ') FROM (SELECT * ${wide}) AS w`
        ),
        "f t, f f"
      )
      assert.strictEqual(await sql("SELECT count(*) FROM wide.contacts_wide"), "20")
      assert.deepStrictEqual((await verify()).wrong, [])
    }
  })

  it("gets all tables but one when a field gets another type under a view, and that one when the steps were taken", async () => {
    const { change, publish, run, verify } = await open("views_all")
    await publish()
    const numbers =
      "SELECT attname FROM pg_attribute WHERE attrelid = 'views_all.contacts_wide'::regclass AND attname ~ '^cf_' AND atttypid = 'numeric'::regtype LIMIT 1"
    const column = await sql(numbers)
    await sql(
      `CREATE VIEW public.numbers AS SELECT ${column} FROM views_all.contacts_wide; CREATE VIEW public.above AS SELECT * FROM public.numbers`
    )
    await change(`UPDATE crm.custom_fields SET data_type = 'TEXT' WHERE id IN (SELECT field FROM meta.wide_columns WHERE column_name = '${column}');
      UPDATE crm.contacts SET first_name = 'tonight'`)
    for (const night of [1, 2]) {
      const ran = await run("publish")
      assert.strictEqual(ran.code, 3, ran.stdout + ran.stderr)
      assert.match(
        ran.stderr,
        new RegExp(
          `one table still has its earlier rows. "views_all"."contacts_wide": its column changes \\(${column} from numeric to text\\), and above, numbers reads it`
        )
      )
      assert.match(ran.stderr, /pg_get_viewdef.*DROP VIEW above; DROP VIEW numbers;.*\.\/sluice publish/)
      assert.strictEqual(
        await sql("SELECT count(*) FROM views_all.contacts WHERE first_name = 'tonight'"),
        "20",
        `night ${night}`
      )
      assert.strictEqual(await sql("SELECT count(*) FROM views_all_bi.dim_contact"), "20")
      assert.strictEqual(await sql("SELECT count(*) FROM views_all.contacts_wide WHERE first_name = 'tonight'"), "0")
      assert.match((await verify()).wrong.join(), /^"views_all"."contacts_wide": still has its earlier rows/)
    }
    await sql("DROP VIEW above; DROP VIEW numbers")
    await publish()
    assert.deepStrictEqual((await verify()).wrong, [])
    assert.strictEqual(await sql("SELECT count(*) FROM views_all.contacts_wide WHERE first_name = 'tonight'"), "20")
  })

  /** Reads again and again. Rejects if one statement had to wait for long; resolves to how many did not. */
  const reading = (statement: string) => {
    const client = new Client({ connectionString: server.url, statement_timeout: 15_000 })
    let [isStopped, count] = [false, 0]
    const done = (async () => {
      await client.connect()
      for (; !isStopped; count++) {
        await client.query(statement)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      await client.end()
      return count
    })()
    done.catch(() => {})
    return () => {
      isStopped = true
      return done
    }
  }

  it("keeps no reader waiting for one that idles in a transaction, and gets the rest", async () => {
    const { publish, run, verify } = await open("idle")
    await publish()
    await sql(
      "ALTER TABLE idle.contacts DROP COLUMN website; UPDATE idle._sluice SET version = 'old' WHERE table_name <> ''"
    )
    await sql("UPDATE idle.contacts SET first_name = NULL; UPDATE idle.opportunities SET name = NULL")
    const reader = new Client({ connectionString: server.url, application_name: "a dashboard" })
    await reader.connect()
    try {
      await reader.query("BEGIN; SELECT count(*) FROM idle.contacts")
      const others = reading("SELECT count(*) FROM idle.contacts")
      const ran = await run("publish", "--full")
      assert.strictEqual(ran.code, 3, ran.stdout + ran.stderr)
      // A reader that has the table for a moment is named behind it.
      assert.match(
        ran.stderr,
        /"idle"."contacts": waited for process \d+ of the database \(sluice with a dashboard, idle in transaction, since 2\S+Z\)( and process \d+ of the database \(sluice[^)]*\))*\. End it, then run \.\/sluice publish/
      )
      assert.strictEqual(await sql("SELECT count(*) = count(name) FROM idle.opportunities"), "t")
      assert.isAbove(await others(), 0)
    } finally {
      await reader.end()
    }
    await publish()
    assert.deepStrictEqual((await verify()).wrong, [])
  })

  it("behind a pooler that gives each transaction another connection, in its default settings, gets each night and loses a person", async (context) => {
    if (bouncer === undefined) return context.skip(withoutBouncer)
    const pooled = await startBouncer(server.url)
    try {
      const { change, publish, run, verify } = await open("pooled_all", () => pooled.url)
      await publish()
      await change("UPDATE crm.contacts SET first_name = 'later', date_added = '2024-05-06 07:08:09.5+00'")
      await sql("ALTER ROLE sluice SET TimeZone = 'Asia/Kolkata'; ALTER ROLE sluice SET DateStyle = 'German'")
      await publish()
      assert.strictEqual(
        await sql(
          "SELECT count(*) FROM pooled_all.contacts WHERE first_name = 'later' AND date_added = '2024-05-06 07:08:09.5+00'"
        ),
        "20"
      )
      assert.deepStrictEqual((await verify()).wrong, [])
      const id = await sql("SELECT min(id) FROM pooled_all.contacts")
      const erased = await run("subject", "erase", "--contact", id, "--apply", "--reason", "test")
      assert.strictEqual(erased.code, 0, erased.stdout + erased.stderr)
      assert.strictEqual(await sql(`SELECT count(*) FROM pooled_all.contacts WHERE id = '${id}'`), "0")
    } finally {
      await sql("ALTER ROLE sluice RESET ALL")
      pooled.stop()
    }
  })
})

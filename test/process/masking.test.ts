/** What leaves in masked releases of a small account with unusual data, compared with the warehouse. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openSynced } from "../support/account.ts"
import { inDatabase, query } from "../support/compare.ts"
import { start } from "../support/process.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { occurrences, personalValues, textsOf } from "../masking/secrets.ts"

const keys = { SLUICE_MASKING_KEY: "5a".repeat(32) }

/** Values in places where the account has none: samples, texts of runs, earlier versions, and columns of other classes. */
const planted = [
  `UPDATE crm.contacts SET _extra = '{"a": "planted extra"}', source = 'ask planted.source@example.com',
     attribution_source_url = 'https://planted.user@shop.example/u/planted.path@example.com?e=planted.query#planted-fragment',
     attribution_source_referrer = 'planted referrer', website = 'https://own.example' WHERE id = (SELECT min(id) FROM crm.contacts)`,
  "UPDATE crm.contact_tags SET tag = 'call 0171 234 5678' WHERE contact_id = (SELECT min(contact_id) FROM crm.contact_tags)",
  `INSERT INTO crm_history.contacts (location_id, id, name, email, phone, _row_hash, _extra, _valid_from, _valid_to)
     SELECT location_id, 'planted-earlier-id', 'Planted Earlier', 'planted.earlier@example.com', '+15550107777', 'planted-hash', '"planted"', now(), now() FROM crm.locations`,
  "INSERT INTO meta.rejected_values VALUES ('r', 'l', 'contacts', 'planted-key', 'email', 'planted value', 'no text; in planted-record', now())",
  "INSERT INTO meta.rejected_records VALUES ('r', 'l', 'contacts', '{\"planted\": 1}', 'no tag; in planted/contact_tags/0', now())",
  "INSERT INTO meta.schema_changes VALUES ('l', 'contacts', 'planted@example.com', 'new field', 'planted sample', 'r', now(), 1, 'planted-key')",
  "INSERT INTO meta.enum_values VALUES ('l', 'contacts', 'type', 'planted.enum@example.com', 'r'), ('l', 'contacts', 'gender', 'planted', 'r')",
  "INSERT INTO meta.unexpected_values VALUES ('l', 'contacts', 'type', 'planted.enum@example.com')",
  "UPDATE meta.run_resources SET warnings = ['planted.warning@example.com'], reading = '{\"a\": \"planted reading\"}'",
  "UPDATE meta.coverage SET reason = 'contact plantedId0123456789 is missing'"
]

describe("a masked release", () => {
  let account: Account
  let values: ReadonlySet<string>
  let folder: string
  let config: string
  const publish = (...flags: ReadonlyArray<string>) =>
    sluice(["publish", "--config", config, ...flags], { ...account.environment, ...keys })
  const inRelease = (target: string, sql: string) => query(join(folder, target, "crm.duckdb"), sql)

  beforeAll(async () => {
    account = await openSynced({ flags: ["--contacts", "20", "--world", "nasty"] })
    folder = newFolder()
    config = join(folder, "sluice.toml")
    writeFileSync(
      config,
      `[[publish]]\nname = "analysts"\nfolder = "${folder}/analysts"\nprofile = "analytics"\nformats = ["duckdb", "parquet"]
       [[publish]]\nname = "support"\nfolder = "${folder}/support"\nprofile = "masked"\nformats = ["csv"]`
    )
    await inDatabase(
      account.warehouse,
      async (ask) => {
        for (const statement of planted) await ask(statement)
      },
      "READ_WRITE"
    )
    const published = await publish()
    assert.strictEqual(published.code, 0, published.stderr)
    values = await personalValues(account.warehouse)
  })
  afterAll(() => {
    discard(account)
    rmSync(folder, { recursive: true })
  })

  it("contains no value of the classes direct, sensitive and content, in no byte of its files", async () => {
    assert.isAbove(values.size, 400)
    const known = await query(account.warehouse, "SELECT unnest([email, phone, name, id]) AS v FROM crm.contacts")
    const contacts = known.map(({ v }) => String(v)).filter((value) => value.length > 8)
    // The search would find them: an address is no part of a value that may leave.
    for (const value of contacts.filter((one) => one.includes("@"))) assert.isTrue(values.has(value.trim()), value)
    const texts = await textsOf(join(folder, "analysts"))
    assert.isAbove(texts.length, 250)
    assert.deepStrictEqual(occurrences(new Set([...values, ...contacts]), texts), [])
    assert.deepStrictEqual(occurrences(values, await textsOf(join(folder, "support"))), [])
    // The same search in the warehouse itself.
    assert.isAbove(occurrences(values, [["", readFileSync(account.warehouse, "utf8")]]).length, 100)
  })

  it("makes a bundle without these values, and no bundle of a profile that no folder has", async () => {
    const bundle = (name: string, profile: string) =>
      sluice(["export", "bundle", join(folder, name), "--config", config, "--profile", profile], {
        ...account.environment,
        ...keys
      })
    const made = await bundle("bundle", "analytics")
    assert.strictEqual(made.code, 0, made.stderr)
    const texts = await textsOf(join(folder, "bundle"))
    assert.isAbove(texts.length, 250)
    assert.deepStrictEqual(occurrences(values, texts), [])
    for (const [file, text] of texts) assert.notMatch(text, /planted/i, file)
    assert.include(JSON.parse(readFileSync(join(folder, "bundle", "data", "masked-columns.json"), "utf8")), {
      profile: "analytics"
    })
    const verified = await sluice(["export", "verify", join(folder, "bundle")], {})
    assert.strictEqual(verified.code, 0, verified.stdout)
    const refused = [
      ["masked", 1, /has no DuckDB file, which contains the runs of a masked release/],
      ["raw", 2, /0 \[\[publish\]\] folders of the settings have this profile; there are: analysts \(analytics\)/]
    ] as const
    for (const [profile, expected, message] of refused) {
      const { code, stderr } = await bundle("none", profile)
      assert.strictEqual(code, expected, stderr)
      assert.match(stderr, message)
    }
    rmSync(join(folder, "bundle"), { recursive: true })
  })

  it("contains no value from samples, texts of runs, earlier versions and columns of other classes", async () => {
    for (const target of ["analysts", "support"])
      for (const [file, text] of await textsOf(join(folder, target)))
        assert.notMatch(text, /planted|0171 234|5550107777/i, file)
    const [earlier] = await inRelease(
      "analysts",
      "SELECT email FROM crm_history.contacts WHERE name IS NULL AND email IS NOT NULL"
    )
    assert.match(String(earlier!["email"]), /^eml_k1_/)
    const urls = await inRelease(
      "analysts",
      "SELECT attribution_source_url AS url FROM contacts WHERE attribution_source_url LIKE '%shop.example%'"
    )
    assert.deepStrictEqual(urls, [{ url: "https://shop.example" }])
  })

  it("has shortened values of the class quasi", async () => {
    const [found] = await inRelease(
      "analysts",
      `SELECT (SELECT count(*) FROM contacts WHERE date_of_birth IS NOT NULL)::INT AS births,
         (SELECT count(*) FROM contacts WHERE strftime(date_of_birth, '%m-%d') <> '01-01')::INT AS days,
         (SELECT max(length(postal_code)) FROM contacts)::INT AS postcode,
         (SELECT count(*) FROM contact_attributions WHERE ip IS NOT NULL OR user_agent IS NOT NULL)::INT + (SELECT count(website) FROM contacts)::INT AS devices,
         (SELECT count(*) FROM contacts WHERE attribution_source_url LIKE '%?%' OR attribution_source_url LIKE '%#%')::INT AS queries,
         (SELECT count(*) FROM contacts WHERE attribution_source_url LIKE 'http%')::INT AS urls`
    )
    const row = found!
    assert.isAbove(Number(row["births"]), 0)
    assert.isAbove(Number(row["urls"]), 0)
    assert.deepInclude(row, { days: 0, postcode: 3, devices: 0, queries: 0 })
  })

  it("joins by pseudonyms as the warehouse does by ids", async () => {
    const counts = (schema: string) =>
      `SELECT n::INT AS n, count(*)::INT AS contacts FROM (SELECT c.id, count(*) AS n FROM ${schema}.contacts AS c JOIN ${schema}.opportunities AS o ON o.contact_id = c.id GROUP BY ALL) GROUP BY ALL ORDER BY n`
    const expected = await query(account.warehouse, counts("crm"))
    assert.isAbove(expected.length, 0)
    assert.deepStrictEqual(await inRelease("analysts", counts("main")), expected)
    const addresses = (schema: string) =>
      `SELECT count(DISTINCT lower(trim(i.contact_details_email)))::INT AS n FROM ${schema}.invoices AS i JOIN ${schema}.contacts AS c ON lower(trim(c.email)) = lower(trim(i.contact_details_email))`
    const [shared] = await inRelease("analysts", addresses("main"))
    assert.isAbove(Number(shared!["n"]), 0)
    assert.deepStrictEqual([{ ...shared }], await query(account.warehouse, addresses("crm")))
    const [dimension] = await inRelease(
      "analysts",
      "SELECT count(*)::INT AS n, count(*) FILTER (contact_id LIKE 'con_k1_%')::INT AS pseudonyms, count(contact_name)::INT AS names FROM bi.dim_contact WHERE contact_id <> '-1'"
    )
    const contacts = Number(dimension!["n"])
    assert.isAbove(contacts, 10)
    assert.deepStrictEqual(dimension, { n: contacts, pseudonyms: contacts, names: 0 })
  })

  it("shows in the profile masked the first letters and the last digits", async () => {
    const pairs = await inDatabase(account.warehouse, async (ask) => {
      const file = join(folder, "support", "csv", "contacts.csv")
      return ask(
        `SELECT c.email, m.email AS shown, c.phone, m.phone AS digits FROM crm.contacts AS c JOIN read_csv('${file}', all_varchar = true) AS m USING (id)
         WHERE c.email LIKE '%.com' AND c.phone LIKE '+1%'`
      )
    })
    assert.isAbove(pairs.length, 0)
    for (const { email, shown, phone, digits } of pairs) {
      assert.match(String(shown), /^[^@]\*\*\*@[^@]\*\*\*\.com$/)
      assert.strictEqual(String(shown)[0], String(email)[0])
      assert.strictEqual(digits, `***${String(phone).slice(-4)}`)
    }
  })

  it("has the same values as one table that is written to a pipe", async () => {
    for (const table of ["contacts_wide", "messages"]) {
      const written = await publish("--stdout", table, "--profile", "masked")
      assert.strictEqual(written.code, 0, written.stderr)
      const file = readFileSync(join(folder, "support", "csv", `${table}.csv`), "utf8")
      assert.deepStrictEqual(written.stdout.split("\r\n").toSorted(), file.split("\r\n").toSorted())
    }
    const conditions = await publish("--stdout", "contacts", "--profile", "analytics", "--where", "email LIKE '%@%'")
    assert.strictEqual(conditions.stdout.trim().split("\n").length, 1)
  })

  it("has pseudonyms by which the owner of the key finds the contact, with a reason", async () => {
    const search = (pseudonym: string, reason: string, key = keys.SLUICE_MASKING_KEY) =>
      sluice(["subject", "reidentify", pseudonym, "--reason", reason, "--json"], {
        ...account.environment,
        SLUICE_MASKING_KEY: key
      })
    const [masked] = await inRelease(
      "analysts",
      "SELECT id, email, phone FROM contacts WHERE email <> '' AND phone <> '' LIMIT 1"
    )
    const found = new Set<string>()
    for (const pseudonym of Object.values(masked!)) {
      const ran = await search(String(pseudonym), "complaint")
      assert.strictEqual(ran.code, 0, ran.stderr)
      found.add(JSON.stringify(JSON.parse(ran.stdout).data.contacts))
    }
    assert.strictEqual(found.size, 1)
    const [{ id, email }] = JSON.parse([...found][0]!)
    assert.deepStrictEqual(await query(account.warehouse, `SELECT email FROM crm.contacts WHERE id = '${id}'`), [
      { email }
    ])
    const { email: pseudonym } = masked!
    assert.strictEqual((await search(String(pseudonym), " ")).code, 2)
    assert.strictEqual((await search("ann@example.com", "complaint")).code, 2)
    assert.strictEqual((await search(String(pseudonym).replace("_k1_", "_k2_"), "complaint")).code, 78)
    assert.strictEqual((await search(String(pseudonym), "complaint", "5c".repeat(32))).code, 1)
    assert.strictEqual((await search(String(pseudonym), "complaint", "")).code, 78)
    // The searches that were carried out, also the one that found nobody; neither names the person.
    const ledger = readFileSync(join(account.output, "ledger.jsonl"), "utf8").trim().split("\n")
    const searches = ledger.map((line) => JSON.parse(line)).filter(({ kind }) => kind === "reidentify")
    assert.deepStrictEqual(
      searches.map(({ detail }) => [detail.reason, detail.contacts]),
      [...Object.values(masked!).map(() => ["complaint", 1]), ["complaint", 0]]
    )
    assert.notInclude(JSON.stringify(searches), id)
  })

  it("says what it does with each column, and lets only its owner read it", async () => {
    const document = JSON.parse(readFileSync(join(folder, "analysts", "masked-columns.json"), "utf8"))
    assert.deepInclude(document, { profile: "analytics", keyId: "k1" })
    assert.strictEqual(document.columns["contacts.email"], "addressPseudonym")
    assert.strictEqual(document.columns["messages.body"], "dropped")
    assert.strictEqual(statSync(join(folder, "analysts", "crm.duckdb")).mode & 0o077, 0)
    const temporary = join(account.output, "tmp")
    assert.deepStrictEqual(existsSync(temporary) ? readdirSync(temporary) : [], [])
  })

  it("is written again only if rows, profile or key have changed", async () => {
    const release = () => readdirSync(join(folder, ".analysts")).toSorted().at(-1)
    const before = release()
    const again = await publish()
    assert.strictEqual(again.code, 0, again.stderr)
    assert.include(again.stdout, "analysts: nothing has changed")
    assert.strictEqual(release(), before)
    const emails = "SELECT DISTINCT email FROM contacts WHERE email IS NOT NULL ORDER BY email"
    const old = await inRelease("analysts", emails)
    rmSync(join(folder, ".support"), { recursive: true })
    writeFileSync(
      config,
      `[masking]\nkey_id = "k2"\n[[publish]]\nname = "analysts"\nfolder = "${folder}/analysts"\nprofile = "analytics"\nformats = ["duckdb"]\ntables = ["contacts"]`
    )
    const rotated = await sluice(["publish", "--config", config], {
      ...account.environment,
      SLUICE_MASKING_KEY: "5b".repeat(32)
    })
    assert.strictEqual(rotated.code, 0, rotated.stderr)
    const renewed = await inRelease("analysts", emails)
    assert.strictEqual(renewed.length, old.length)
    const known = new Set(old.map(({ email }) => String(email).slice(-26)))
    for (const { email } of renewed) {
      assert.match(String(email), /^eml_k2_/)
      assert.isFalse(known.has(String(email).slice(-26)))
    }
    const tables = await inRelease(
      "analysts",
      "SELECT table_name AS name FROM duckdb_tables() WHERE schema_name = 'main'"
    )
    assert.includeMembers(
      tables.map(({ name }) => String(name)),
      ["contacts", "contact_emails"]
    )
    assert.notInclude(
      tables.map(({ name }) => String(name)),
      "messages"
    )
  })

  it("that is killed leaves no personal value, and the next run removes what it left", async () => {
    const copy = join(account.output, "tmp", "masked", "warehouse.duckdb")
    const releases = join(folder, ".killed")
    writeFileSync(
      config,
      `[[publish]]\nname = "killed"\nfolder = "${folder}/killed"\nprofile = "analytics"\nformats = ["duckdb", "csv"]`
    )
    const environment = { ...account.environment, ...keys }
    for (const begun of [copy, join(releases, "000001")]) {
      const running = start(["publish", "--config", config], environment)
      const isBegun = () =>
        existsSync(begun) ||
        (existsSync(releases) && readdirSync(releases).some((one) => join(releases, one).startsWith(begun)))
      while (!isBegun()) await new Promise((resolve) => setTimeout(resolve, 5))
      // Somewhere in the work.
      await new Promise((resolve) => setTimeout(resolve, 150))
      running.kill("SIGKILL")
      assert.isNull((await running.ended).code)
      assert.isFalse(existsSync(join(folder, "killed")))
      for (const place of [join(account.output, "tmp"), releases].filter(existsSync))
        for (const file of readdirSync(place, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())) {
          const path = join(file.parentPath, file.name)
          assert.deepStrictEqual(occurrences(values, [[path, readFileSync(path, "utf8")]]), [])
          if (path === copy) assert.strictEqual(statSync(path).mode & 0o077, 0)
        }
    }
    const again = await sluice(["publish", "--config", config], environment)
    assert.strictEqual(again.code, 0, again.stderr)
    assert.isFalse(existsSync(copy))
    assert.strictEqual(readdirSync(releases).length, 1)
  })

  it("of a folder that is not its own fails, and the release before it stays", async () => {
    mkdirSync(join(folder, "foreign"))
    writeFileSync(join(folder, "foreign", "mine.txt"), "")
    writeFileSync(
      config,
      `[[publish]]\nname = "a"\nfolder = "${folder}/foreign"\nprofile = "masked"\ntables = ["pipelines"]`
    )
    const ran = await sluice(["publish", "--config", config], { ...account.environment, SLUICE_FORMATS: "csv" })
    assert.strictEqual(ran.code, 1, ran.stderr)
    assert.include(ran.stderr, `${folder}/foreign exists and is not a link that sluice created`)
    assert.deepStrictEqual(readdirSync(join(folder, "foreign")), ["mine.txt"])
    assert.isTrue(existsSync(join(account.output, "published", "csv", "contacts.csv")))
  })
})

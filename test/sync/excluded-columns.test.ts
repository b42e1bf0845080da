/**
 * A service that plants a new word into every value that the settings keep out, in every response: no byte that sluice writes
 * or prints has one.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { withSince } from "../../src/command/withheld.ts"
import { contractOf } from "../../src/stages/publish/contracts/contract.ts"
import { catalogue, resourcesWith } from "../support/withheld.ts"
import { plant, planted } from "../subject/planted.ts"
import { type Account, discard, openAlone, openPeople } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { placesOf } from "../support/every-byte.ts"
import { alteredService } from "../support/proxy.ts"
import { type Ran, newFolder, sluice } from "../support/sluice.ts"
import { wordPattern } from "../support/worded.ts"

type Json = Record<string, unknown>

const settings = `[personal_data]
exclude_custom_fields = ["contact.KEY"]

[tables.contacts]
exclude = ["ssn", "gender", "first_name", "attribution_source_url", "contact_phones"]
hash = ["email", "company_name"]

[tables.contact_dnd_settings]
exclude = ["message"]

[tables.contact_emails]
hash = ["email"]
`

describe("columns that the settings keep out", { tags: ["slow"] }, () => {
  let account: Account
  let proxy: Awaited<ReturnType<typeof alteredService>>
  const [root, printed] = [newFolder(), [] as Array<string>]
  let formats = "duckdb,parquet,csv"
  const config = join(root, "sluice.toml")
  let sent = 0
  /** Values that nothing ever sends twice. */
  const word = () => `qzx${String(sent++ % 100_000).padStart(5, "0")}`
  /** What is hashed stays the same, so that it can be joined. */
  const addressOf = (contact: unknown) => `Qzx99999.${String(contact)}@planted.example`

  const run = async (args: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}): Promise<Ran> => {
    const named = args.includes("--config") ? args : [...args, "--config", config]
    const reads = args[0] === "sync" && !args.includes("--only") ? [...named, ...account.selection] : named
    const ran = await sluice(reads, {
      ...account.environment,
      SLUICE_BASE_URL: proxy.url,
      SLUICE_MASKING_KEY: "5".repeat(64),
      SLUICE_FORMATS: formats,
      SLUICE_MODELS: "false",
      SLUICE_CONTACT_DETAILS: "true",
      ...more
    })
    printed.push(ran.stdout, ran.stderr)
    return ran
  }
  const runs = async (...args: ReadonlyArray<string>) => {
    const ran = await run(args)
    assert.strictEqual(ran.code, 0, `${args.join(" ")}: ${ran.stdout}${ran.stderr}`)
    return ran
  }
  const wordsIn = async (...folders: ReadonlyArray<string>) =>
    [...(await placesOf(folders, new RegExp(wordPattern.source, "gi")))].map(([, places]) => places[0])

  beforeAll(async () => {
    account = await openAlone(
      "locations,custom_fields,contacts,contact_notes,tasks,pipelines,opportunities,conversations,form_submissions,orders",
      "--contacts",
      "40"
    )
    const fields = await account.service.records("custom_fields")
    const field = fields.find(({ model, dataType }) => model === "contact" && dataType === "TEXT")!
    writeFileSync(config, settings.replace("contact.KEY", String(field["fieldKey"])))
    const withWords = (contact: Json) =>
      Object.assign(contact, {
        ssn: word(),
        gender: { text: word() },
        firstName: word(),
        firstNameRaw: word(),
        firstNameLowerCase: word(),
        name: "N",
        contactName: "N",
        email: addressOf(contact["id"]),
        emailLowerCase: addressOf(contact["id"]).toLowerCase(),
        companyName: `${addressOf("company")}`,
        attributionSource: { ...(contact["attributionSource"] as Json), url: word() },
        additionalPhones: [{ phone: word(), unknown: word() }, word()],
        additionalEmails: [{ email: `Second.${addressOf(contact["id"])}` }, `Third.${addressOf(contact["id"])}`],
        dndSettings: { SMS: { status: "active", message: word() }, Call: word() },
        customFields: [
          { id: field["id"], value: word() },
          { id: field["id"], fieldValueString: word() }
        ],
        first_name: word(),
        unknown: { SSN: word(), inside: [{ ssn: [word()], email: word() }] }
      })
    proxy = await alteredService(account.service, ({ path }, answer) => {
      const found = answer as Readonly<Record<string, any>>
      if (path.startsWith("/contacts/search")) {
        for (const contact of found["contacts"]) withWords(contact)
        found["contacts"].push([word()], word())
      } else if (found["contact"]?.id) withWords(found["contact"])
      for (const deal of [...(found["opportunities"] ?? []), ...(found["opportunity"] ? [found["opportunity"]] : [])])
        Object.assign(deal, {
          contact: { id: deal.contactId, email: addressOf(deal.contactId), ssn: word(), more: [{ ssn: word() }] },
          ssn: word()
        })
      for (const thread of path.startsWith("/conversations/search") ? found["conversations"] : [])
        Object.assign(thread, { email: addressOf(thread.contactId), gender: word(), contact: { firstName: word() } })
      for (const task of path.startsWith("/locations") && found["tasks"] ? found["tasks"] : [])
        Object.assign(task, { contactDetails: { firstName: word(), ssn: word() } })
      for (const order of path.startsWith("/payments/orders") ? (found["data"] ?? [found]) : [])
        if (order.contactId) order.contactSnapshot = { ssn: word(), email: addressOf(order.contactId) }
      for (const { others } of path.startsWith("/forms/submissions") ? found["submissions"] : [])
        others[String(field["id"])] = word()
      return answer
    })
  })
  afterAll(() => {
    proxy.close()
    discard(account)
    rmSync(root, { recursive: true })
  })

  it("are in no file and no message after syncs, releases, a rebuild, a report, a bundle and a workbook", async () => {
    const first = await run(["sync"])
    assert.include([0, 3], first.code, first.stderr)
    assert.isAbove(sent, 500)
    await account.service.post("change", { contacts: 0.25, opportunities: 0.25, seed: 3 })
    const second = await run(["sync", "--json"])
    assert.include([0, 3], second.code, second.stderr)
    // Every word is a new one, so a row whose fingerprint had one would have changed.
    const changed = JSON.parse(second.stdout).data.resources.find(({ resource }: Json) => resource === "contacts")
    assert.strictEqual(changed.changedRows, 10, JSON.stringify(changed))
    const full = JSON.parse((await run(["sync", "--full", "--json"])).stdout)
    const counted = full.data.resources.map(({ resource, changedRows }: Json) => [resource, changedRows])
    assert.deepStrictEqual(
      counted.filter(([, rows]: [string, number]) => rows > 0),
      []
    )
    await runs("rebuild")
    await runs("publish")
    await runs("report")
    await runs("export", "bundle", join(root, "bundle"))
    await runs("export", "excel", join(root, "tables.xlsx"), "--only", "contacts,opportunities")
    await runs("verify", "--all")
    await runs("verify", "--sample", "60")
    assert.deepStrictEqual(await wordsIn(account.output, root), [])
    assert.notMatch(printed.join("\n"), /qzx\d/i)
  })

  it("would be everywhere without the settings", async () => {
    writeFileSync(join(root, "none.toml"), "")
    const output = newFolder()
    await sluice(["sync", ...account.selection, "--config", join(root, "none.toml")], {
      ...account.environment,
      SLUICE_OUTPUT: output,
      SLUICE_BASE_URL: proxy.url
    })
    assert.isAbove((await wordsIn(output)).length, 500)
    rmSync(output, { recursive: true })
  })

  it("are NULL, and say why; other columns and tables are complete", async () => {
    const ask = (sql: string) => query(account.warehouse, sql)
    const [rows] = await ask(
      `SELECT count(*) AS n, count(ssn) + count(gender) + count(first_name) + count(attribution_source_url) AS out,
         count(last_name) AS kept FROM crm.contacts`
    )
    assert.strictEqual(Number(rows!["out"]), 0)
    assert.isAbove(Number(rows!["kept"]), 30)
    const [values] = await ask("SELECT (SELECT count(*) FROM crm.contact_custom_values) AS n")
    assert.strictEqual(Number(values!["n"]), 0)
    assert.isAbove(Number((await ask("SELECT count(*) AS n FROM crm.form_submission_answers"))[0]!["n"]), 0)
    const comments = await ask(
      "SELECT description FROM meta.columns WHERE table_name = 'contacts' AND column_name IN ('ssn', 'email') ORDER BY 1"
    )
    assert.deepStrictEqual(
      comments.map(({ description }) => description),
      ["Address, as typed; hashed by the settings", "Social security number; excluded by the settings"]
    )
  })

  it("are named in the data package and the report", () => {
    const published = join(account.output, "published")
    const { resources } = JSON.parse(readFileSync(join(published, "datapackage.json"), "utf8"))
    const { fields } = resources.find(({ path }: Json) => path === "csv/contacts.csv").schema
    const withheld = fields.filter((field: Json) => field["sluice:withheld"]).map(({ name }: Json) => name)
    const hashed = ["email", "email_lower_case", "company_name"]
    // Deals have custom fields, of which one is kept out.
    const excluded = ["ssn", "gender", "first_name", "attribution_source_url", "opportunities"]
    assert.sameMembers(withheld, [...excluded, ...hashed])
    assert.include(readFileSync(join(published, "report", "index.html"), "utf8"), "contacts.ssn")
  })

  it("join by their hashes", async () => {
    const [joined] = await query(
      account.warehouse,
      `SELECT count(*) AS n, count(*) FILTER (c.email = o.contact_email AND regexp_matches(c.email, '^k1_[0-9a-f]{64}$')
         AND c.email = c.email_lower_case AND c.email = (o.contact->>'$.email')) AS same, count(DISTINCT c.email) AS emails,
         count(DISTINCT c.company_name) AS companies
       FROM crm.opportunities AS o JOIN crm.contacts AS c ON c.id = o.contact_id`
    )
    assert.isAbove(Number(joined!["n"]), 5)
    assert.strictEqual(joined!["same"], joined!["n"])
    assert.isAbove(Number(joined!["emails"]), 3)
    assert.strictEqual(Number(joined!["companies"]), 1)
  })

  it("are refused without a key of the hashes", async () => {
    for (const command of ["sync", "plan", "doctor"]) {
      const { code, stderr, stdout } = await run([command], { SLUICE_MASKING_KEY: "" })
      assert.strictEqual(code, 78, command)
      assert.match(`${stdout}${stderr}`, /masking\.key is missing/, command)
    }
  })

  it("are refused with the line of the file, the name and what is possible", async () => {
    const wrong = join(root, "wrong.toml")
    writeFileSync(wrong, `[tables.contacts]\nexclude = ["id", "snn"]\n\n[tables.contcts]\nhash = ["email"]\nhsh = []\n`)
    const { code, stderr } = await sluice(["plan", "--config", wrong], account.environment)
    assert.strictEqual(code, 78)
    assert.include(
      stderr,
      `${wrong}:6: tables.contcts.hsh: there is no such setting; did you mean tables.contcts.hash?`
    )
    writeFileSync(wrong, `[tables.contacts]\nexclude = ["id", "snn"]\n\n[tables.contcts]\nhash = ["email"]\n`)
    const named = (await sluice(["plan", "--config", wrong], account.environment)).stderr
    assert.include(
      named,
      `${wrong}:2: tables.contacts.exclude: id cannot be kept out: it identifies a row of contacts.`
    )
    assert.include(
      named,
      `${wrong}:2: tables.contacts.exclude: the table has no column or child table snn; did you mean ssn?`
    )
    assert.include(named, `${wrong}:4: [tables.contcts]: there is no such table; did you mean contacts?`)
  })

  it("are named by plan and doctor; what was stored before is said until there is a new folder", async () => {
    // From here on, tests read the DuckDB file and what is said.
    formats = "duckdb"
    const warning = /what was stored before stays/
    const plan = await run(["plan"])
    assert.match(plan.stderr, /The settings keep out: contacts\.ssn/)
    assert.notMatch(plan.stderr, warning)
    assert.match((await run(["doctor"])).stdout, /kept out +\d+ columns and tables, nothing of it stored before/)
    const later = join(root, "later.toml")
    writeFileSync(later, `${readFileSync(config, "utf8")}\n[tables.tasks]\nexclude = ["body"]\n`)
    for (const args of [
      ["plan"],
      ["doctor"],
      ["sync", ...account.selection],
      ["sync", ...account.selection],
      ["plan"]
    ]) {
      const ran = await run([...args, "--config", later])
      assert.match(`${ran.stdout}${ran.stderr}`, /tasks\.body; what was stored before stays/, args.join(" "))
    }
    const day = /; excluded by the settings since \d{4}-\d\d-\d\d, and rows of before may have values$/
    for (const [table, column, has] of [
      ["tasks", "body", true],
      ["contacts", "ssn", false]
    ] as const) {
      const place = `table_name = '${table}' AND column_name = '${column}'`
      const [described] = await query(account.warehouse, `SELECT description FROM meta.columns WHERE ${place}`)
      const file = join(account.output, "published/crm.duckdb")
      const [commented] = await query(
        file,
        `SELECT comment FROM duckdb_columns() WHERE schema_name = 'main' AND ${place}`
      )
      const settings = { tables: [{ name: table, exclude: [column] }] }
      const resources = { ...catalogue, resources: resourcesWith(settings) }
      const contract = contractOf(await Effect.runPromise(withSince(account.output, resources)))
      const ofContract = contract.find(({ name }) => name === table)!.columns.find(({ name }) => name === column)!
      for (const text of [described!["description"], commented!["comment"], ofContract.description])
        assert.strictEqual(day.test(String(text)), has, String(text))
    }
    formats = "none"
    const lifted = await run(["sync"])
    assert.match(lifted.stderr, /no longer keep out tasks\.body: it is stored from now on/)
    assert.notMatch(lifted.stderr, warning)
    assert.notMatch((await run(["sync"])).stderr, /no longer keep out/)
    assert.match((await run(["plan", "--config", later])).stderr, warning)
  })

  it("are hashes that no longer join with those of another key, which a sync says", async () => {
    const { code, stderr } = await run(["sync"], { SLUICE_MASKING_KEY: "6".repeat(64) })
    assert.include([0, 3], code, stderr)
    assert.match(stderr, /hash of contacts\.email.*; what was stored before stays/)
    assert.notMatch(stderr, /contacts\.ssn/)
    assert.notMatch((await run(["sync"], { SLUICE_MASKING_KEY: "5".repeat(64) })).stderr, /no longer keep out/)
  })
})

it("an erased person stays erased by an address that is not stored any more", { tags: ["slow"] }, async () => {
  const account = await openPeople("locations,contacts", "--contacts", "25")
  const config = join(newFolder(), "sluice.toml")
  const run = (...args: ReadonlyArray<string>) =>
    sluice(args[0] === "sync" ? [...args, ...account.selection] : args, account.environment)
  const person = await plant(account.service, [])
  assert.strictEqual((await run("sync")).code, 0)
  const erased = await run("subject", "erase", "--contact", person.contact, "--all", "--apply", "--reason", "test")
  assert.include([0, 3], erased.code, erased.stderr)
  await account.service.post("plant", {
    collection: "contacts",
    like: person.contact,
    id: "anotherid00000000001",
    fields: { email: planted.email }
  })
  writeFileSync(config, `[tables.contacts]\nexclude = ["email", "phone", "contact_emails", "contact_phones"]\n`)
  const synced = await run("sync", "--full", "--config", config)
  assert.strictEqual(synced.code, 0, synced.stderr)
  assert.match(synced.stderr, /records? of erased people received and not stored/)
  const rows = await query(account.warehouse, "SELECT id FROM crm.contacts WHERE first_name = 'Xenia'")
  assert.deepStrictEqual(rows, [])
  discard(account)
})

describe("a column that the settings keep out", () => {
  it("is NULL, and its values are in no file", async () => {
    const account = await openAlone("contacts", "--contacts", "3")
    try {
      for (const { id } of await account.service.records("contacts"))
        await account.service.post("edit", { collection: "contacts", id, fields: { ssn: "qzx00001" } })
      const config = join(account.output, "sluice.toml")
      writeFileSync(config, '[tables.contacts]\nexclude = ["ssn"]\n')
      const ran = await account.sync("--config", config)
      assert.strictEqual(ran.code, 0, ran.stderr)
      const [row] = await query(
        account.warehouse,
        "SELECT count(*)::INT AS n, count(ssn)::INT AS known FROM crm.contacts"
      )
      assert.deepStrictEqual([Number(row!["n"]) >= 3, row!["known"]], [true, 0])
      assert.deepStrictEqual([...(await placesOf([account.output], wordPattern))], [])
    } finally {
      discard(account)
    }
  })
})

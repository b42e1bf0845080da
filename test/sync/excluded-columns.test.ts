/**
 * A service that plants a new word into every value that the settings keep out, in every response: no byte that sluice writes
 * or prints has one.
 */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { withSince } from "../../src/command/withheld.ts"
import { contractOf } from "../../src/stages/publish/contracts/contract.ts"
import { plant, planted } from "../subject/planted.ts"
import { openAlone, openPeople } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { placesOf } from "../support/every-byte.ts"
import { newFolder } from "../support/sluice.ts"
import { catalogue, resourcesWith } from "../support/withheld.ts"
import { wordPattern } from "../support/worded.ts"
import { begin, beginForAll } from "../support/life.ts"

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
const tables =
  "locations,custom_fields,contacts,contact_notes,tasks,pipelines,opportunities,conversations,form_submissions,orders"

let sent = 0
/** Values that nothing ever sends twice. */
const word = () => `qzx${String(sent++ % 100_000).padStart(5, "0")}`
/** What is hashed stays the same, so that it can be joined. */
const addressOf = (contact: unknown) => `Qzx99999.${String(contact)}@planted.example`

/** Plants words into an answer of the service: a value of the custom field, and whatever the settings keep out. */
const withWords = (path: string, answer: unknown, field: unknown) => {
  const found = answer as Readonly<Record<string, any>>
  const plantInto = (contact: Json) =>
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
      companyName: addressOf("company"),
      attributionSource: { ...(contact["attributionSource"] as Json), url: word() },
      additionalPhones: [{ phone: word(), unknown: word() }, word()],
      additionalEmails: [{ email: `Second.${addressOf(contact["id"])}` }, `Third.${addressOf(contact["id"])}`],
      dndSettings: { SMS: { status: "active", message: word() }, Call: word() },
      customFields: [
        { id: field, value: word() },
        { id: field, fieldValueString: word() }
      ],
      first_name: word(),
      unknown: { SSN: word(), inside: [{ ssn: [word()], email: word() }] }
    })
  const listOf = (start: string, name: string): ReadonlyArray<any> =>
    path.startsWith(start) ? (found[name] ?? []) : []
  for (const contact of listOf("/contacts/search", "contacts")) plantInto(contact)
  if (path.startsWith("/contacts/search")) found["contacts"].push([word()], word())
  else if (found["contact"]?.id) plantInto(found["contact"])
  for (const deal of [...(found["opportunities"] ?? []), ...(found["opportunity"] ? [found["opportunity"]] : [])])
    Object.assign(deal, {
      contact: { id: deal.contactId, email: addressOf(deal.contactId), ssn: word(), more: [{ ssn: word() }] },
      ssn: word()
    })
  for (const thread of listOf("/conversations/search", "conversations"))
    Object.assign(thread, { email: addressOf(thread.contactId), gender: word(), contact: { firstName: word() } })
  for (const task of listOf("/locations", "tasks")) task.contactDetails = { firstName: word(), ssn: word() }
  for (const order of listOf("/payments/orders", "data").concat(path.startsWith("/payments/orders") ? found : []))
    if (order.contactId) order.contactSnapshot = { ssn: word(), email: addressOf(order.contactId) }
  for (const { others } of listOf("/forms/submissions", "submissions")) others[String(field)] = word()
  return answer
}

describe("columns that the settings keep out", { tags: ["slow"] }, () => {
  const [root, printed] = [newFolder(), [] as Array<string>]
  const [config, later] = [join(root, "sluice.toml"), join(root, "later.toml")]
  const life = beginForAll(
    () => openAlone(tables, "--contacts", "40"),
    async (life) => {
      const fields = await life.service.records("custom_fields")
      const field = fields.find(({ model, dataType }) => model === "contact" && dataType === "TEXT")!
      writeFileSync(config, settings.replace("contact.KEY", String(field["fieldKey"])))
      life.alter = ({ path }, answer) => withWords(path, answer, field["id"])
    }
  )
  /** Runs a command with the settings; the rejected strays of the service make no difference. */
  const run = async (command: string, more: Readonly<Record<string, string>> = {}, formats = "none") => {
    const given = `${command}${command.includes("--config") ? "" : ` --config ${config}`}`
    const ran = await life.run(given.split(" "), {
      SLUICE_MASKING_KEY: "5".repeat(64),
      SLUICE_FORMATS: formats,
      SLUICE_MODELS: "false",
      SLUICE_CONTACT_DETAILS: "true",
      ...more
    })
    assert.include(/^sync|doctor/.test(command) ? [0, 3] : [0], ran.code, `${command}: ${ran.stdout}${ran.stderr}`)
    printed.push(ran.stdout, ran.stderr)
    return ran
  }
  const published = (name: string) => join(life.account.output, "published", name)
  const wordsIn = async (...folders: ReadonlyArray<string>) =>
    [...(await placesOf(folders, new RegExp(wordPattern.source, "gi")))].map(([, places]) => places[0])

  it("are in no file and no message after syncs, releases, a rebuild, a report, a bundle and a workbook", async () => {
    const formats = "duckdb,parquet,csv"
    const changedBy = async (command: string) => {
      const { data } = JSON.parse((await run(command, {}, formats)).stdout)
      const counted = data.resources.map(({ resource, changedRows }: Json) => [resource, changedRows])
      return new Map<string, number>(counted.filter(([, rows]: [string, number]) => rows > 0))
    }
    await run("sync", {}, formats)
    assert.isAbove(sent, 500)
    await life.service.post("change", { contacts: 0.25, opportunities: 0.25, seed: 3 })
    // Every word is a new one, so a row whose fingerprint had one would have changed.
    assert.strictEqual((await changedBy("sync --json")).get("contacts"), 10)
    assert.strictEqual((await changedBy("sync --again=all --json")).size, 0)
    for (const command of [
      "rebuild",
      "publish",
      "report",
      `export bundle ${join(root, "bundle")}`,
      `export excel ${join(root, "tables.xlsx")} --only contacts,opportunities`,
      "verify --all",
      "verify --sample 60"
    ])
      await run(command, {}, formats)
    assert.deepStrictEqual(await wordsIn(life.account.output, root), [])
    assert.notMatch(printed.join("\n"), /qzx\d/i)
  })

  it("would be everywhere without the settings", async () => {
    const [output, none] = [newFolder(), join(newFolder(), "none.toml")]
    writeFileSync(none, "")
    await life.run(["sync", "--config", none], { SLUICE_OUTPUT: output })
    assert.isAbove((await wordsIn(output)).length, 500)
    rmSync(output, { recursive: true })
  })

  it("are NULL, and say why; other columns and tables are complete", async () => {
    const [rows] = await life.ask(
      `SELECT count(*) AS n, count(ssn) + count(gender) + count(first_name) + count(attribution_source_url) AS out,
         count(last_name) AS kept FROM crm.contacts`
    )
    assert.strictEqual(Number(rows!["out"]), 0)
    assert.isAbove(Number(rows!["kept"]), 30)
    const [values] = await life.ask("SELECT (SELECT count(*) FROM crm.contact_custom_values) AS n")
    assert.strictEqual(Number(values!["n"]), 0)
    assert.isAbove(Number((await life.ask("SELECT count(*) AS n FROM crm.form_submission_answers"))[0]!["n"]), 0)
    const comments = await life.ask(
      "SELECT description FROM meta.columns WHERE table_name = 'contacts' AND column_name IN ('ssn', 'email') ORDER BY 1"
    )
    assert.deepStrictEqual(
      comments.map(({ description }) => description),
      ["Address, as typed; hashed by the settings", "Social security number; excluded by the settings"]
    )
  })

  it("are named in the data package and the report", () => {
    const { resources } = JSON.parse(readFileSync(published("datapackage.json"), "utf8"))
    const { fields } = resources.find(({ path }: Json) => path === "csv/contacts.csv").schema
    const withheld = fields.filter((field: Json) => field["sluice:withheld"]).map(({ name }: Json) => name)
    const hashed = ["email", "email_lower_case", "company_name"]
    // Deals have custom fields, of which one is kept out.
    const excluded = ["ssn", "gender", "first_name", "attribution_source_url", "opportunities"]
    assert.sameMembers(withheld, [...excluded, ...hashed])
    assert.include(readFileSync(published("report/index.html"), "utf8"), "contacts.ssn")
  })

  it("are named by plan and doctor; what was stored before is said until there is a new folder", async () => {
    const warning = /what was stored before stays/
    const plan = await run("plan")
    assert.match(plan.stderr, /The settings keep out: contacts\.ssn/)
    assert.notMatch(plan.stderr, warning)
    assert.match((await run("doctor")).stdout, /kept out +\d+ columns and tables, nothing of it stored before/)
    writeFileSync(later, `${readFileSync(config, "utf8")}\n[tables.tasks]\nexclude = ["body"]\n`)
    for (const command of ["plan", "doctor", "sync", "sync", "plan"]) {
      const ran = await run(`${command} --config ${later}`, {}, "duckdb")
      assert.match(`${ran.stdout}${ran.stderr}`, /tasks\.body; what was stored before stays/, command)
    }
    const day = /; excluded by the settings since \d{4}-\d\d-\d\d, and rows of before may have values$/
    for (const [table, column, has] of [
      ["tasks", "body", true],
      ["contacts", "ssn", false]
    ] as const) {
      const place = `table_name = '${table}' AND column_name = '${column}'`
      const [described] = await life.ask(`SELECT description FROM meta.columns WHERE ${place}`)
      const comment = `SELECT comment FROM duckdb_columns() WHERE schema_name = 'main' AND ${place}`
      const [commented] = await query(published("crm.duckdb"), comment)
      const resources = { ...catalogue, resources: resourcesWith({ tables: [{ name: table, exclude: [column] }] }) }
      const contract = contractOf(await Effect.runPromise(withSince(life.account.output, resources)))
      const ofContract = contract.find(({ name }) => name === table)!.columns.find(({ name }) => name === column)!
      for (const text of [described!["description"], commented!["comment"], ofContract.description])
        assert.strictEqual(day.test(String(text)), has, String(text))
    }
    const lifted = await run("sync")
    assert.match(lifted.stderr, /no longer keep out tasks\.body: it is stored from now on/)
    assert.notMatch(lifted.stderr, warning)
    assert.notMatch((await run("sync")).stderr, /no longer keep out/)
    assert.match((await run(`plan --config ${later}`)).stderr, warning)
  })

  it("are hashes that no longer join with those of another key, which a sync says", async () => {
    const { stderr } = await run("sync", { SLUICE_MASKING_KEY: "6".repeat(64) })
    assert.match(stderr, /hash of contacts\.email.*; what was stored before stays/)
    assert.notMatch(stderr, /contacts\.ssn/)
    assert.notMatch((await run("sync")).stderr, /no longer keep out/)
  })
})

describe("a column that the settings keep out", () => {
  it("is NULL, and its values are in no file", async () => {
    const life = await begin(openAlone("contacts", "--contacts", "3"))
    for (const { id } of await life.service.records("contacts")) await life.edit("contacts", id, { ssn: "qzx00001" })
    const config = join(newFolder(), "sluice.toml")
    writeFileSync(config, '[tables.contacts]\nexclude = ["ssn"]\n')
    await life.sync(`--config ${config}`)
    const [row] = await life.ask("SELECT count(*) > 2 AS some, count(ssn)::INT AS known FROM crm.contacts")
    assert.deepStrictEqual(row, { some: true, known: 0 })
    assert.strictEqual((await placesOf([life.account.output], wordPattern)).size, 0)
  })

  it("does not bring an erased person back whose address it is", { tags: ["slow"] }, async () => {
    const life = await begin(openPeople("locations,contacts", "--contacts", "25"))
    const config = join(newFolder(), "sluice.toml")
    const { contact } = await plant(life.service, [])
    await life.sync()
    const erase = ["subject", "erase", "--contact", contact, "--all", "--apply", "--reason", "test"]
    assert.include([0, 3], (await life.run(erase)).code)
    const again = {
      collection: "contacts",
      like: contact,
      id: "anotherid00000000001",
      fields: { email: planted.email }
    }
    await life.service.post("plant", again)
    writeFileSync(config, `[tables.contacts]\nexclude = ["email", "phone", "contact_emails", "contact_phones"]\n`)
    const { stderr } = await life.sync(`--again=all --config ${config}`)
    assert.match(stderr, /records? of erased people received and not stored/)
    assert.deepStrictEqual(await life.ids("SELECT id FROM crm.contacts WHERE first_name = 'Xenia'"), [])
  })
})

/** `sluice subject export` for a person who is planted in every table that can hold one, and for contacts as they are. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { execFileSync } from "node:child_process"
import { existsSync, globSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { pathOf, tablesOf } from "../../src/catalog/tables.ts"
import { type LinkedResource, linkedResources } from "../../src/features/privacy/subject/belongings.ts"
import { type Account, discard, openPeople } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { statementsOf } from "../support/statements.ts"
import { rowsOf, textOf } from "../report/reading.ts"
import { type Planted, plant, planted, tableOf } from "./planted.ts"

type Row = Readonly<Record<string, unknown>>

describe("an export about a person", () => {
  let account: Account
  let person: Planted
  beforeAll(async () => {
    account = await openPeople("contacts,users", "--contacts", "30")
    person = await plant(account.service)
    assert.strictEqual((await sync()).code, 0)
  })
  afterAll(() => discard(account))

  const sync = (...flags: ReadonlyArray<string>) => sluice(["sync", ...flags], account.environment)
  const run = async (...args: ReadonlyArray<string>) => {
    const to = join(newFolder(), "export")
    const ran = await sluice(["subject", "export", "--to", to, ...args], account.environment)
    const rows = (table: string): ReadonlyArray<Row> =>
      existsSync(join(to, "data", `${table}.json`))
        ? JSON.parse(readFileSync(join(to, "data", `${table}.json`), "utf8"))
        : []
    return { to, rows, ...ran }
  }
  const ids = (rows: ReadonlyArray<Row>) => rows.map((row) => String(row["id"])).toSorted()

  it.each([
    ["email", ["--email", " XENIA.Quillfeather@Planted.Example "]],
    ["another email", ["--email", "x.quill@other.example"]],
    ["phone without the code of the country", ["--phone", "(415) 555-0199"]],
    ["id", ["--contact", "planted0000000000001"]]
  ])(
    "found by %s contains every planted record, and the free text of others only as a candidate",
    { tags: ["slow"] },
    async (_, flags) => {
      const { code, rows, stderr, to } = await run(...flags, "--search-text")
      assert.strictEqual(code, 0, stderr)
      assert.deepStrictEqual(ids(rows("contacts")), [person.contact])
      for (const [collection, table] of Object.entries(tableOf))
        assert.deepStrictEqual(ids(rows(table)), person.ids[collection]!.toSorted(), table)
      assert.deepStrictEqual(
        rows("contact_emails").map((row) => row["email"]),
        ["x.quill@other.example"]
      )
      const candidates = JSON.parse(readFileSync(join(to, "candidates.json"), "utf8")) as ReadonlyArray<Row>
      assert.deepStrictEqual(
        [...new Set(candidates.map(({ table, key }) => `${table} ${key}`))],
        [`contact_notes ${person.note}`]
      )
    }
  )

  it("names whoever may be the person, and does not say that there is nothing", { tags: ["slow"] }, async () => {
    // The address of the planted contact without its dot, as another mailbox would be.
    const { code, stderr, stdout, to } = await run("--email", "xeniaquillfeather@planted.example")
    assert.strictEqual(code, 3, stderr)
    assert.match(stderr, new RegExp(`possibly the same person: ${person.contact} `))
    assert.match(stderr, new RegExp(`^Next: .*--contact ${person.contact}`, "m"))
    assert.match(stdout, /^contacts +not certain: 1 contact may be the person/m)
    assert.notMatch(stdout, /^\w+ +none$/m)
    const { contacts, possible } = JSON.parse(readFileSync(join(to, "person.json"), "utf8"))
    assert.deepStrictEqual([contacts, possible.map(({ id }: Row) => id)], [[], [person.contact]])
    const nobody = await run("--email", "nobody@nowhere.example")
    assert.strictEqual(nobody.code, 0, nobody.stderr)
    assert.match(nobody.stdout, /^contacts +none$/m)
  })

  it("names records of nobody's whose address may be that of the person, in a way that people write addresses", async () => {
    const list = await account.service.records("submissions?form=list")
    const like = String(list[0]!["id"])
    const plantSubmission = (id: string, email: string) =>
      account.service.post("plant", { collection: "submissions", like, id, fields: { contactId: null, email } })
    await plantSubmission("oddsubmission0000001", "odd (at) writer (dot) example")
    await plantSubmission("oddsubmission0000002", "odd@wr\u0456ter.example")
    assert.strictEqual((await sync("--only", "form_submissions")).code, 0)
    const { code, stderr, stdout, to } = await run("--email", "odd@writer.example")
    assert.strictEqual(code, 3, stderr)
    assert.match(stdout, /^form_submissions +not certain: 2 records may be about the person/m)
    assert.match(stderr, /possibly about the same person: form_submissions oddsubmission0000001; form_submissions/)
    assert.match(stderr, /^Next: look at the records in .*person\.json/m)
    const { possibleRecords } = JSON.parse(readFileSync(join(to, "person.json"), "utf8"))
    assert.deepStrictEqual(
      possibleRecords.map(({ key }: Row) => key),
      ["oddsubmission0000001", "oddsubmission0000002"]
    )
  })

  it("sends few statements, however many tables have rows of the person", { tags: ["slow"] }, async () => {
    const { calls, result } = await statementsOf(() => run("--contact", person.contact, "--history"))
    assert.strictEqual(result.code, 0, result.stderr)
    const csv = calls.filter((sql) => sql.includes("FORMAT csv"))
    assert.isAbove(csv.length, 15, "the person has rows in many tables")
    assert.isAtMost(calls.length - csv.length, 55, calls.map((sql) => sql.slice(0, 90)).join("\n"))
  })

  it(
    "names each source with what was found, or why nothing can be said, and what it cannot contain",
    { tags: ["slow"] },
    async () => {
      const { rows, stderr, stdout, to } = await run("--contact", person.contact)
      assert.match(
        stderr,
        /The export may lack records\. .*recurring_tasks:\s+not\s+reachable:\s+account\.recurring_task_ids\s+is not set\./s
      )
      assert.match(stdout, /^source +found\ncontacts +1 found$/m)
      assert.match(stdout, /^appointments +1 found$/m)
      assert.match(stdout, /^recurring_tasks +not reachable: account\.recurring_task_ids is not set$/m)
      const coverage = JSON.parse(readFileSync(join(to, "coverage.json"), "utf8"))
      assert.include(coverage.limits.join(), "wrote about the person in records that belong to somebody else")
      const page = readFileSync(join(to, "index.html"), "utf8")
      const folds = Array.from(
        page.matchAll(/<details (open)?>\s*<summary>(\d+) rows?</g),
        ([, open, n]) => [open, Number(n)] as const
      )
      assert.isAbove(folds.length, 3)
      for (const [open, n] of folds) assert.strictEqual(open === "open", n <= 5, `${n} rows`)
      for (const text of [planted.name, "Where was looked", "messages", person.ids["orders"]![0]!])
        assert.include(page, text)
      const held = rowsOf(page, "held")
      assert.deepStrictEqual(
        held.map(([table, n]) => [table, Number(n)]),
        held.map(([table]) => [table, rows(table!).length])
      )
      assert.sameMembers(
        held.map(([table]) => table),
        globSync("*.json", { cwd: join(to, "data") }).map((file) => file.slice(0, -".json".length))
      )
      const [heading, looked] = ["What is held", "Where was looked"].map((text) => page.indexOf(text))
      assert.isBelow(heading!, looked!)
      assert.strictEqual(held[0]![0], "contacts")
      const counts = `${held.reduce((sum, [, n]) => sum + Number(n), 0)} rows in ${held.length} tables`
      const [said] = new RegExp(`^\\d+ records, ${counts}`, "m").exec(stdout) ?? assert.fail(stdout)
      assert.include(textOf(page), said)
      const added = String(rows("contacts")[0]!["date_added"])
      assert.include(page, `<time datetime="${added}" title="${added}">`)
      assert.notMatch(textOf(page.slice(0, page.indexOf("<section id"))), /\d\d:\d\d:\d\d/, "no time has seconds")
      assert.notMatch(page, /<script|https?:\/\/[^"]*\.(js|css)/)
    }
  )

  it("has the same rows in JSON, CSV and the zip file, which only the owner can read", { tags: ["slow"] }, async () => {
    const { rows, to } = await run("--contact", person.contact)
    const csv = parse(readFileSync(join(to, "data/messages.csv")), { columns: true }) as ReadonlyArray<Row>
    assert.deepStrictEqual(ids(csv), ids(rows("messages")))
    assert.strictEqual(csv[0]!["body"], String(rows("messages")[0]!["body"]))
    const listed = execFileSync("python3", ["-m", "zipfile", "-l", `${to}.zip`], { encoding: "utf8" })
    assert.include(listed, "export/data/messages.csv")
    execFileSync("python3", ["-m", "zipfile", "-t", `${to}.zip`])
    for (const path of [to, `${to}.zip`, join(to, "index.html")]) assert.strictEqual(statSync(path).mode & 0o077, 0)
  })

  it(
    "contains every record of the service that has the id of a contact, and none that has not",
    { tags: ["slow"] },
    async () => {
      const contacts = (await account.service.records("contacts")).slice(0, 3)
      for (const contact of contacts) {
        const { rows } = await run("--contact", String(contact["id"]))
        for (const [collection, table] of Object.entries({ ...tableOf, emails: "emails" })) {
          const all = await account.service.records(
            collection === "transactions" ? "transactions?form=list" : collection
          )
          const own = all.filter((record) => JSON.stringify(record).includes(String(contact["id"])))
          assert.deepStrictEqual(
            ids(rows(table)),
            own.map((record) => String(record["id"] ?? record["_id"])).toSorted(),
            `${table} of ${String(contact["id"])}`
          )
        }
      }
    }
  )

  it(
    "has each conversation as a page: every message once, calls with their recording and transcript",
    { tags: ["slow"] },
    async () => {
      const [caller] = await query(
        account.warehouse,
        "SELECT contact_id AS id FROM crm.messages JOIN crm.recordings AS r ON r.message_id = messages.id WHERE contact_id IS NOT NULL AND r.path IS NOT NULL ORDER BY ALL LIMIT 1"
      )
      const { rows, to } = await run("--contact", String(caller!["id"]))
      const pages = globSync("conversations/*.html", { cwd: to }).map((file) => readFileSync(join(to, file), "utf8"))
      const found = (pattern: RegExp) => pages.flatMap((page) => [...page.matchAll(pattern)].map(([, text]) => text!))
      assert.lengthOf(found(/<article>(.)/gs), rows("messages").length)
      const recordings = found(/href="\.\.\/files\/([^"]+)">Recording</g)
      assert.lengthOf(recordings, rows("recordings").length)
      for (const file of recordings) assert.isAbove(readFileSync(join(to, "files", file)).length, 0)
      assert.lengthOf(found(/<p>(Channel \d)/g), rows("transcript_sentences").length)
      assert.isAbove(rows("transcript_sentences").length, 0)
      const page = readFileSync(join(to, globSync("conversations/*.html", { cwd: to })[0]!), "utf8")
      assert.match(page, /<main>.*<article>.*<\/main>/s)
      assert.match(page, /Recording<\/a>/)
      assert.notMatch(page, /<script|<img/)
    }
  )

  it(
    "is refused for a person who is unknown, ambiguous or not named, with what to do next",
    { tags: ["slow"] },
    async () => {
      const unknown = await run("--contact", "nobody")
      assert.deepInclude(unknown, { code: 1 })
      assert.match(unknown.stderr, /--contact nobody: no table has a contact with this id/)
      await account.service.post("plant", {
        collection: "contacts",
        like: person.contact,
        id: "plantedTwin000000001",
        fields: { additionalEmails: [] }
      })
      assert.strictEqual((await sync()).code, 0)
      const two = await run("--email", planted.email)
      assert.strictEqual(two.code, 2)
      assert.match(two.stderr, /2 contacts match: .*planted0000000000001.*plantedTwin000000001/)
      assert.match(two.stderr, /--contact planted\w+ for one of them, or with --all/)
      assert.isFalse(existsSync(two.to))
      assert.lengthOf((await run("--email", planted.email, "--all")).rows("contacts"), 2)
      const one = await run("--contact", person.contact)
      assert.match(one.stderr, /Not included, although they share an address: plantedTwin000000001/)
      for (const flags of [[], ["--email", "no address"], ["--phone", "12"]])
        assert.strictEqual((await run(...flags)).code, 2, flags.join(" "))
      const again = await sluice(
        ["subject", "export", "--contact", person.contact, "--to", one.to],
        account.environment
      )
      assert.strictEqual(again.code, 2)
      assert.match(again.stderr, /exists already/)
    }
  )

  it(
    "ends with 3 and says so if a table that may hold the person was not read completely",
    { tags: ["slow"] },
    async () => {
      await account.service.post("token", { removeScope: "invoices.readonly" })
      assert.strictEqual((await sync("--again=lists")).code, 3)
      const { code, stdout } = await run("--contact", person.contact)
      assert.strictEqual(code, 3)
      assert.match(stdout, /^invoices +1 found, there may be more: invoices is incomplete/m)
      await account.service.post("token", { addScope: "invoices.readonly" })
    }
  )

  it("contains what the account has since the last sync only with --refresh", { tags: ["slow"] }, async () => {
    const requests = async () => (await account.service.stats()).requests
    const id = "laterinvoice00000001"
    const [like] = person.ids["invoices"]!
    const sent = (await account.service.records("invoices")).find((record) => record["_id"] === like)!
    const { _id, ...fields } = sent
    await account.service.post("plant", { collection: "invoices", like, id, fields })
    const before = await requests()
    const stale = await run("--contact", person.contact)
    assert.deepStrictEqual(ids(stale.rows("invoices")), person.ids["invoices"])
    assert.strictEqual(await requests(), before)
    const fresh = await run("--contact", person.contact, "--refresh")
    assert.strictEqual(fresh.code, 0, fresh.stderr)
    assert.isAbove(await requests(), before)
    assert.include(ids(fresh.rows("invoices")), id)
    await account.service.post("remove", { collection: "invoices", id })
  })
})

/** The links of definitions that name no column of theirs. */
const wrongLinks = ({ resource, links }: LinkedResource): ReadonlyArray<string> => {
  const columns = new Set(
    tablesOf(resource).flatMap((table) => table.columns.map((column) => pathOf(resource, table.name, column.name)))
  )
  const { addresses = [], contacts = [], owner, records = {} } = links
  const paths = [...contacts, ...Object.keys(records), ...addresses, ...(owner ? Object.values(owner) : [])]
  return paths.filter((path) => !columns.has(path)).map((path) => `${resource.table}: ${path}`)
}

describe("the links of definitions to people", async () => {
  const { resources } = await discover()
  const linked = linkedResources(resources)

  it("name columns that exist, and include every column that refers to a contact", () => {
    assert.deepStrictEqual(linked.flatMap(wrongLinks), [])
    const missing = resources.flatMap((resource) =>
      tablesOf(resource).flatMap(({ columns, name, parentColumn }) =>
        columns
          .filter(({ references }) => references === "contacts")
          .map((column) => (name === resource.table ? column.name : `${name}.${column.name}`))
          .filter((path) => path !== `${name}.${parentColumn}` && !resource.person?.contacts?.includes(path))
          .map((path) => `${resource.table}: ${path}`)
      )
    )
    assert.deepStrictEqual(missing, [])
  })

  it("are absent only from resources about the account and the people who work for it", () => {
    const personal = resources.filter((resource) =>
      tablesOf(resource).some(({ columns }) =>
        columns.some(({ name, personal }) => name !== "_extra" && ["direct", "sensitive"].includes(personal))
      )
    )
    assert.deepStrictEqual(
      personal
        .filter(({ person }) => !person)
        .map(({ table }) => table)
        .toSorted(),
      [
        "blog_authors",
        "bulk_email_campaigns",
        "calendars",
        "custom_values",
        "email_campaigns",
        "email_templates",
        "locations",
        "number_pools",
        "phone_numbers",
        "service_locations",
        "social_accounts",
        "social_categories",
        "social_posts",
        "social_queue_items",
        "social_tags",
        "store_settings",
        "users",
        "voice_agents",
        "workflow_campaigns"
      ]
    )
  })
})

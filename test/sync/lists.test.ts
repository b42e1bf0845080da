/** `--except=details`: the lists now, and what takes a request for each record in the next sync. */
import { assert, it } from "@effect/vitest"
import { openAccount, openTables } from "../support/account.ts"
import { dictionary } from "../../src/catalog/dictionary.ts"
import { discover } from "../../src/catalog/discover.ts"
import { begin } from "../support/life.ts"
import { newFolder } from "../support/sluice.ts"
import { writeFileSync } from "node:fs"
import { join } from "node:path"

const tables = "contacts,contact_notes,invoices,users"
const operations = async (life: Awaited<ReturnType<typeof begin>>) => {
  const { requestsByOperation } = await life.service.stats()
  await life.service.post("stats/reset", {})
  return Object.keys(requestsByOperation)
}
const each = /:(contactId|invoiceId|userId)/

it("sends no request for a single record, and says what was never read", async () => {
  const life = await begin(openTables("contacts,contact_notes", "--contacts", "5"))
  await life.sync("--except=details")
  assert.deepStrictEqual(
    (await operations(life)).filter((operation) => each.test(operation)),
    []
  )
  const { stdout } = await life.run(["status", "--json", "--all", ...life.account.selection])
  const { problems, readings } = JSON.parse(stdout).data
  assert.deepInclude(
    readings.find(({ resource }: { readonly resource: string }) => resource === "contact_notes"),
    { requests: 0 }
  )
  assert.isAbove(problems, 0)
})

it(
  "reads lists alone, and the next sync reads the rest, as if nothing had been left out",
  { tags: ["slow"] },
  async () => {
    const life = await begin(openTables(tables, "--contacts", "12"))
    await life.sync("--except=details")
    assert.deepStrictEqual(
      (await operations(life)).filter((operation) => each.test(operation)),
      []
    )
    assert.isAbove((await life.ids("FROM crm.contacts")).length, 11)
    const { stdout } = await life.run(["status", "--json", "--all", ...life.account.selection])
    const states = JSON.parse(stdout).data.readings as ReadonlyArray<{
      readonly resource: string
      readonly completeAt?: string
    }>
    assert.sameMembers(
      states.filter(({ completeAt }) => completeAt === undefined).map(({ resource }) => resource),
      ["contact_notes", "invoice_settings", "invoices/details", "users/details"]
    )
    // What changes before the rest is read has one reading, too.
    await life.service.post("change", { contacts: 0.3, invoices: 0.3 })
    await life.sync("--except=details")
    await life.sync()
    assert.isTrue((await operations(life)).some((operation) => each.test(operation)))
    await life.equalsService()
  }
)

it("keeps what single requests have read, and marks the deleted, in a full sync too", { tags: ["slow"] }, async () => {
  const life = await begin(openTables(`${tables},conversations,messages`, "--contacts", "12"))
  await life.sync()
  const notes = await life.ids("FROM crm.contact_notes WHERE _deleted_at IS NULL")
  assert.isAbove(notes.length, 0)
  const [gone] = await life.ids("FROM crm.contacts WHERE id NOT IN (SELECT contact_id FROM crm.contact_notes)")
  await life.service.post("remove", { collection: "contacts", id: gone })
  await operations(life)
  await life.sync("--again=lists --except=details")
  const sent = (await operations(life)).filter((operation) => each.test(operation))
  // The deleted contact is asked for, with an id that was never issued, and another record before and after.
  assert.deepStrictEqual(sent, ["GET /contacts/:contactId"])
  assert.deepStrictEqual(await life.deleted("contacts"), [gone])
  // The list lacks the messages that only their conversation returns.
  assert.deepStrictEqual((await life.reading("messages"))?.["warnings"], ["deleted rows were not looked for"])
  assert.deepStrictEqual(await life.ids("FROM crm.contact_notes WHERE _deleted_at IS NULL"), notes)
  await life.sync("--again=all")
  await life.equalsService()
})

it("reads what changed, night after night, of a table that has rows of single requests as well", async () => {
  const life = await begin(openTables("table:contacts,table:conversations,table:messages", "--contacts", "12"))
  await life.sync()
  assert.isAbove((await operations(life)).filter((operation) => operation.includes(":conversationId")).length, 0)
  for (const _night of [1, 2]) {
    await life.sync("--except=details")
    assert.deepInclude(await life.reading("messages"), { mode: "incremental", warnings: [] })
  }
  assert.isAtMost((await life.service.stats()).requestsByOperation["GET /conversations/messages/export"]!, 8)
})

it("leaves the records of unchanged parents alone in a full sync, which finds the deleted all the same", async () => {
  const life = await begin(openTables("table:contacts,contact_notes", "--contacts", "6"))
  await life.sync()
  await operations(life)
  const [gone] = await life.ids("FROM crm.contacts")
  await life.service.post("remove", { collection: "contacts", id: gone })
  await life.sync("--again=lists")
  const { requestsByOperation } = await life.service.stats()
  assert.sameMembers(Object.keys(requestsByOperation), ["POST /contacts/search", "GET /contacts/:contactId"])
  assert.isAtMost(requestsByOperation["GET /contacts/:contactId"]!, 4, "the deleted one, and three controls")
  assert.deepStrictEqual(await life.deleted("contacts"), [gone])
})

it("reads the records of unchanged parents too with --again=all", async () => {
  const life = await begin(openTables("table:contacts,contact_notes", "--contacts", "5"))
  await life.sync()
  await operations(life)
  await life.sync("--again=all")
  const each = (await life.service.stats()).requestsByOperation["GET /contacts/:contactId/notes"]
  assert.strictEqual(each, 5)
})

it("asks for all that each flag promises, whatever list it is", { tags: ["slow"] }, async () => {
  const life = await begin(openAccount("--contacts", "40", "--limits", "off"))
  const after = async (flags?: string) => {
    await life.sync(flags)
    return (await operations(life)).map((operation) => operation.replaceAll(/:\w+/g, "*"))
  }
  const first = await after()
  const { resources } = await discover()
  const lists = resources.flatMap(({ full = [], kind }) =>
    kind === "list" ? full.map(({ request: { method, path } }) => `${method} ${path.replaceAll(/\{\w+\}/g, "*")}`) : []
  )
  const ofLists = first.filter((operation) => lists.includes(operation))
  assert.isAbove(ofLists.length, 30)
  assert.isAbove(first.length - ofLists.length, 10)
  const missing = (sent: ReadonlyArray<string>, promised: ReadonlyArray<string>) =>
    promised.filter((operation) => !sent.includes(operation))
  assert.isNotEmpty(missing(await after(), first))
  assert.deepStrictEqual(missing(await after("--again=lists"), ofLists), [])
  assert.deepStrictEqual(missing(await after("--again=all"), first), [])
})

const settingsOf = (settings: Readonly<Record<string, string>>): string => {
  const config = join(newFolder(), "sluice.toml")
  const sections = Object.entries(settings).map(([table, when]) => `[tables.${table}]\ndetails = "${when}"\n`)
  writeFileSync(config, sections.join("\n"))
  return config
}

it("leaves out for ever what the settings say, and says so in status, dictionary and coverage", async () => {
  const life = await begin(openTables("contacts,contact_notes", "--contacts", "5"))
  const config = settingsOf({ contact_notes: "never", contacts: "never" })
  await life.sync(`--config ${config}`)
  assert.isFalse((await operations(life)).some((operation) => each.test(operation)))
  const { stdout } = await life.run(["status", "--json", "--config", config, ...life.account.selection])
  const { problems, readings, singleReads } = JSON.parse(stdout).data
  assert.isFalse(readings.some(({ resource }: { readonly resource: string }) => resource === "contact_notes"))
  assert.strictEqual(problems, 0)
  assert.include(
    singleReads,
    'contact_notes: requests for each record are never sent (details = "never" in [tables.contact_notes])'
  )
  const all = await discover()
  const resources = all.resources.map((one) => ({ ...one, singleReads: "never" as const }))
  assert.include(dictionary({ ...all, resources }), 'details = "never" in [tables.contact_notes]')
  const [covered] = await life.ask(
    "SELECT status, reason FROM meta.coverage WHERE operation = 'GET /contacts/{contactId}/notes'"
  )
  assert.deepStrictEqual(covered, {
    status: "skipped by the settings",
    reason: 'details = "never" in [tables.contact_notes]'
  })
})

it(
  "sends single requests once a night if the settings say so, and with --again=lists",
  { tags: ["slow"] },
  async () => {
    const life = await begin(openTables("contacts,contact_notes", "--contacts", "8"))
    const flags = `--config ${settingsOf({ contact_notes: "night" })}`
    const isAsked = async () => (await operations(life)).some((operation) => each.test(operation))
    await life.sync(flags)
    assert.isTrue(await isAsked())
    await life.service.post("change", { contacts: 0.5 })
    await life.sync(flags)
    assert.isFalse(await isAsked())
    await life.change("UPDATE meta.run_resources SET finished_at = finished_at - INTERVAL 21 HOUR")
    await life.sync(flags)
    assert.isTrue(await isAsked())
    await life.equalsService()
  }
)

it("refuses a table without single requests", async () => {
  const life = await begin(openTables("contacts", "--contacts", "3"))
  const ran = await life.run(["sync", "--config", settingsOf({ pipelines: "night" })])
  assert.strictEqual(ran.code, 78)
  assert.match(ran.stderr, /tables\.pipelines\.details: pipelines takes no request for each record/)
})

it("reads the table alone that is named so, not the family of its name", async () => {
  const life = await begin(openTables("table:contacts", "--contacts", "3"))
  await life.sync()
  assert.deepStrictEqual(await operations(life), ["POST /contacts/search"])
})

/** `--lists`: the lists now, and what takes a request for each record in the next sync. */
import { assert, it } from "@effect/vitest"
import { openTables } from "../support/account.ts"
import { begin } from "../support/life.ts"

const tables = "contacts,contact_notes,invoices,users"
const operations = async (life: Awaited<ReturnType<typeof begin>>) => {
  const { requestsByOperation } = await life.service.stats()
  await life.service.post("stats/reset", {})
  return Object.keys(requestsByOperation)
}
const each = /:(contactId|invoiceId|userId)/

it("sends no request for a single record, and says what was never read", async () => {
  const life = await begin(openTables("contacts,contact_notes", "--contacts", "5"))
  await life.sync("--lists")
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
    await life.sync("--lists")
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
    await life.sync("--lists")
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
  await life.sync("--full --lists")
  const sent = (await operations(life)).filter((operation) => each.test(operation))
  // The deleted contact is asked for, as proof, and no record besides.
  assert.deepStrictEqual(sent, ["GET /contacts/:contactId"])
  assert.deepStrictEqual(await life.deleted("contacts"), [gone])
  // The list lacks the messages that only their conversation returns.
  assert.deepStrictEqual((await life.reading("messages"))?.["warnings"], ["deleted rows were not looked for"])
  assert.deepStrictEqual(await life.ids("FROM crm.contact_notes WHERE _deleted_at IS NULL"), notes)
  await life.sync("--full")
  await life.equalsService()
})

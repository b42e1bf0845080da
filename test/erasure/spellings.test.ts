/** An erased person is recognised in every spelling of their addresses, and in records that no definition can read. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { digitsOf, phoneDigitsOf } from "../../src/features/privacy/subject/addresses.ts"
import { type Account, discard, openPeople } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { filesBelow } from "../support/contents.ts"
import { alteredService } from "../support/proxy.ts"
import { sluice } from "../support/sluice.ts"
import { type Planted, plant, planted } from "../subject/planted.ts"

describe("an erased person", { tags: ["slow"] }, () => {
  let account: Account
  let person: Planted
  let proxy: Awaited<ReturnType<typeof alteredService>>
  const unread = `unreadable ${planted.email}`
  const run = (...args: ReadonlyArray<string>) =>
    sluice(args[0] === "sync" ? [...args, ...account.selection] : args, {
      ...account.environment,
      SLUICE_BASE_URL: proxy.url
    })
  const addContact = (id: string, fields: Readonly<Record<string, unknown>>) =>
    account.service.post("plant", {
      collection: "contacts",
      like: person.contact,
      id,
      fields: { email: null, emailLowerCase: null, phone: null, additionalEmails: [], additionalPhones: [], ...fields }
    })
  beforeAll(async () => {
    account = await openPeople("locations,contacts,contact_notes", "--contacts", "25")
    // A list item without an id, in which only a text inside of an object names the person.
    proxy = await alteredService(account.service, ({ path }, answer) => {
      const { contacts } = answer as { readonly contacts?: Array<unknown> }
      if (path.startsWith("/contacts/search") && contacts && contacts.length > 0)
        contacts.push({ deep: { text: unread } })
      return answer
    })
    person = await plant(account.service, [])
    await account.service.post("remove", { collection: "notes", id: person.note })
    const synced = await run("sync")
    assert.strictEqual(synced.code, 0, synced.stderr)
    const rejected = await query(account.warehouse, "SELECT record FROM meta.rejected_records")
    assert.isTrue(rejected.some(({ record }) => String(record).includes(unread)))
  })
  afterAll(() => {
    proxy.close()
    discard(account)
  })

  it("is found by the search in the usual spellings of a phone number", async () => {
    const [country] = await query(account.warehouse, "SELECT country FROM crm.locations")
    assert.strictEqual(country!["country"], "US")
    const spelled = ["(415) 555-0199", "+1 415 555 0199", "001-415-555-0199", "415.555.0199"]
    const ids = spelled.map((_, index) => `spelling${index}`)
    const [note] = await account.service.records("notes")
    for (const [index, id] of ids.entries())
      await account.service.post("plant", {
        collection: "notes",
        like: note!["id"],
        id,
        fields: { body: `Call ${spelled[index]} again`, bodyText: "" }
      })
    assert.strictEqual((await run("sync", "--again=all")).code, 0)
    const erasing = ["subject", "erase", "--contact", person.contact, "--all", "--apply", "--reason", "test"]
    const { code, stderr } = await run(...erasing)
    assert.strictEqual(code, 3, stderr)
    assert.match(stderr, /crm\.contact_notes\.body contains the phone \(value\)/)
    for (const id of ids) await account.service.post("remove", { collection: "notes", id })
  })

  it("is removed with records that have no id, for good", async () => {
    for (const args of [["sync", "--again=all"], ["rebuild"]]) {
      assert.strictEqual((await run(...args)).code, 0)
      const left = filesBelow(account.output).filter(([, content]) => content.includes(unread))
      assert.deepStrictEqual(
        left.map(([path]) => path),
        []
      )
      assert.deepStrictEqual(await query(account.warehouse, "SELECT record FROM meta.rejected_records"), [])
    }
  })

  it("is not stored again under another spelling of an address, and others are", async () => {
    const own = [
      { phone: "(415) 555-0199" },
      { phone: "+1 415 555 0199" },
      { phone: "0014155550199" },
      { phone: "tel:+1-415-555-0199" },
      { email: `Xenia <${planted.email}>` },
      { email: `mailto:${planted.email.toUpperCase()}` }
    ]
    for (const [index, fields] of own.entries()) await addContact(`OwnSpelling000000${index}`, fields)
    await addContact("OtherPhone0000001", { phone: "(415) 555-0198" })
    const { code, stderr } = await run("sync", "--again=all")
    assert.strictEqual(code, 0, stderr)
    const stored = await query(
      account.warehouse,
      "SELECT id FROM crm.contacts WHERE id LIKE 'OwnSpelling%' OR id LIKE 'OtherPhone%'"
    )
    assert.deepStrictEqual(stored, [{ id: "OtherPhone0000001" }])
  })
})

describe("a person", () => {
  it("is found by a phone number in the usual spellings", async () => {
    const stored = phoneDigitsOf("+14155550199")!
    for (const text of ["(415) 555-0199", "+1 415 555 0199", "415.555.0199"])
      assert.include((await digitsOf({ text, countries: ["US"] }))!, stored, text)
    assert.isUndefined(await digitsOf({ text: "555", countries: ["US"] }), "too short to be of one person")
  })
})

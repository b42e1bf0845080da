/** A 404 for a record that something else still names is no proof that it is deleted. */
import { assert, describe, it } from "@effect/vitest"
import { openAmong } from "../support/account.ts"
import { acceleratedClock } from "../support/clock.ts"
import { Refusal } from "../support/proxy.ts"
import { beginForAll } from "../support/life.ts"

const slow = { tags: ["slow"] }
const tables = "contacts,contact_notes,conversations,messages,emails,invoices,coupons"

describe("a record whose own route answers not found", () => {
  const life = beginForAll(
    () => openAmong(tables, `${tables},recordings,transcript_sentences`, "--contacts", "60"),
    (life) => {
      // One clock for all commands: a reading that lacks records is repeated after some seconds.
      life.clock = acceleratedClock(600_000)
      return life.sync()
    }
  )
  /** The service answers requests to these paths as if nothing were there. */
  const refuse = (isRefused: (path: string) => boolean) => {
    life.alter = ({ path }, answer) => {
      const [plain] = path.split("?")
      const message = `Nothing with ${plain!.replaceAll("/", " ")} found: not found`
      return isRefused(plain!) ? new Refusal(404, { statusCode: 404, message }) : answer
    }
  }
  const isComplete = async (resource: string, requests: number) => {
    const reading = await life.reading(resource)
    assert.deepInclude(reading, { status: "complete", requests: String(requests) }, resource)
  }

  it("is not deleted while its message names it, and each sync asks for it until it is there again", slow, async () => {
    const emails = await life.ids("SELECT id FROM crm.emails ORDER BY id")
    const gone = emails.filter((_, index) => index % 5 === 0)
    assert.isAbove(gone.length, 3)
    refuse((path) => path.includes("/messages/email/") && gone.includes(path.split("/").at(-1)!))
    for (const flags of ["--again=all", "", ""]) {
      const { stderr } = await life.sync(`--only emails ${flags}`)
      assert.match(stderr, new RegExp(`emails: not found, although still named by the service: ${gone.length},`))
      assert.deepStrictEqual(await life.deleted("emails"), [])
      assert.strictEqual((await life.reading("emails"))!["status"], "complete_with_warnings")
    }
    life.alter = undefined
    for (const requests of [gone.length, 0]) {
      await life.sync("--only emails")
      await isComplete("emails", requests)
    }
    await life.equalsService()
  })

  it("is deleted once its message does not name it either", async () => {
    const [message] = await life.ask("SELECT message_id AS id, email_id FROM crm.message_emails ORDER BY ALL LIMIT 1")
    await life.edit("messages", message!["id"], { meta: { email: { messageIds: [] } } })
    await life.sync("--only emails --again=all")
    assert.include(await life.deleted("emails"), String(message!["email_id"]))
    await life.equalsService()
  })

  it("is not deleted while its list names it: the list says what is deleted", slow, async () => {
    const [invoice] = await life.ids("SELECT id FROM crm.invoices ORDER BY id")
    const [contact] = await life.ids("SELECT DISTINCT contact_id AS id FROM crm.contact_notes ORDER BY id")
    refuse((path) => path === `/invoices/${invoice}` || path.startsWith(`/contacts/${contact}`))
    // The answer is not that for an id that was never issued, so it proves nothing.
    const { stderr } = await life.sync("--again=all --only invoices,contacts,contact_notes", 3)
    life.alter = undefined
    assert.match(stderr, new RegExp(`invoices/details: failed requests: 1, for example ${invoice}`))
    assert.match(stderr, new RegExp(`contact_notes: failed requests: 1, for example ${contact}`))
    for (const table of ["invoices", "contacts", "contact_notes"])
      assert.deepStrictEqual(await life.deleted(table), [], table)
    await life.sync("--only invoices,contacts,contact_notes")
    for (const label of ["invoices/details", "contact_notes"]) await isComplete(label, 1)
    await life.equalsService()
  })

  it("is told apart from others by its whole request: a deleted coupon is recognised", async () => {
    const [coupon, ...others] = await life.ids("SELECT id FROM crm.coupons ORDER BY id")
    assert.isNotEmpty(others)
    await life.service.post("remove", { collection: "coupons", id: coupon })
    assert.notMatch((await life.sync("--only coupons")).stderr, /coupons:/)
    assert.deepStrictEqual(await life.deleted("coupons"), [coupon])
  })
})

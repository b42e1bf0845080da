/** A 404 for a record that something else still names is no proof that it is deleted. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Account, openAmong } from "../support/account.ts"
import { acceleratedClock } from "../support/clock.ts"
import { query } from "../support/compare.ts"
import { Refusal, alteredService } from "../support/proxy.ts"
import { sluice } from "../support/sluice.ts"

const tables = "contacts,contact_notes,conversations,messages,emails,invoices,coupons"

describe("a record whose own route answers not found", () => {
  let account: Account
  let altered: Awaited<ReturnType<typeof alteredService>>
  let refused = (_path: string): boolean => false
  // One clock for all commands: a reading that lacks records is repeated after some seconds.
  const overrides = acceleratedClock(600_000)
  const sync = (...flags: ReadonlyArray<string>) =>
    sluice(["sync", ...flags], { ...account.environment, SLUICE_BASE_URL: altered.url }, { overrides })
  beforeAll(async () => {
    account = await openAmong(tables, `${tables},recordings,transcript_sentences`, "--contacts", "60")
    altered = await alteredService(account.service, ({ path }, answer) =>
      refused(path.split("?")[0]!)
        ? new Refusal(404, {
            statusCode: 404,
            message: `Nothing with ${path.split("?")[0]!.replaceAll("/", " ")} found: not found`
          })
        : answer
    )
    const ran = await sync()
    assert.strictEqual(ran.code, 0, ran.stderr)
  })
  afterAll(() => {
    altered.close()
    account.service.stop()
  })

  const ids = async (sql: string) => (await query(account.warehouse, sql)).map((row) => String(row["id"]))
  const deleted = (table: string) => ids(`SELECT id FROM crm.${table} WHERE _deleted_at IS NOT NULL ORDER BY id`)
  const lastReading = async (resource: string) =>
    (
      await query(
        account.warehouse,
        `SELECT status, requests::INT AS requests FROM meta.run_resources WHERE resource = '${resource}' ORDER BY run_id DESC LIMIT 1`
      )
    )[0]

  it(
    "is not deleted while its message names it, and each further sync asks for it, until it is there again",
    { tags: ["slow"] },
    async () => {
      const emails = await ids("SELECT id FROM crm.emails ORDER BY id")
      const gone = emails.filter((_, index) => index % 5 === 0)
      assert.isAbove(gone.length, 3)
      refused = (path) => path.includes("/messages/email/") && gone.includes(path.split("/").at(-1)!)
      for (const flags of [["--full"], [], []]) {
        const ran = await sync("--only", "emails", ...flags)
        assert.strictEqual(ran.code, 0, ran.stderr)
        assert.match(ran.stderr, new RegExp(`emails: not found, although still named by the service: ${gone.length},`))
        assert.deepStrictEqual(await deleted("emails"), [])
        assert.strictEqual((await lastReading("emails"))!["status"], "complete_with_warnings")
      }
      refused = () => false
      assert.strictEqual((await sync("--only", "emails")).code, 0)
      assert.deepStrictEqual(await lastReading("emails"), { status: "complete", requests: gone.length })
      assert.strictEqual((await sync("--only", "emails")).code, 0)
      assert.deepStrictEqual(await lastReading("emails"), { status: "complete", requests: 0 })
      assert.deepStrictEqual(await account.differences(), [])
    }
  )

  it("is deleted once its message does not name it either", async () => {
    const [message] = await query(
      account.warehouse,
      "SELECT message_id AS id, email_id FROM crm.message_emails ORDER BY ALL LIMIT 1"
    )
    await account.service.post("edit", {
      collection: "messages",
      id: message!["id"],
      fields: { meta: { email: { messageIds: [] } } }
    })
    const ran = await sync("--only", "emails", "--full")
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.include(await deleted("emails"), String(message!["email_id"]))
    assert.deepStrictEqual(await account.differences(), [])
  })

  it("is not deleted while its list names it: the list says what is deleted", { tags: ["slow"] }, async () => {
    const [invoice] = await ids("SELECT id FROM crm.invoices ORDER BY id")
    const [contact] = await ids("SELECT DISTINCT contact_id AS id FROM crm.contact_notes ORDER BY id")
    refused = (path) => path === `/invoices/${invoice}` || path.startsWith(`/contacts/${contact}`)
    const ran = await sync("--full", "--only", "invoices,contacts,contact_notes")
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.match(ran.stderr, new RegExp(`invoices/details: not found, .* 1, for example ${invoice}`))
    assert.match(ran.stderr, new RegExp(`contact_notes: not found, .* 1, for example ${contact}`))
    for (const table of ["invoices", "contacts", "contact_notes"])
      assert.deepStrictEqual(await deleted(table), [], table)
    refused = () => false
    const again = await sync("--only", "invoices,contacts,contact_notes")
    assert.strictEqual(again.code, 0, again.stderr)
    for (const label of ["invoices/details", "contact_notes"])
      assert.deepStrictEqual(await lastReading(label), { status: "complete", requests: 1 }, label)
    assert.deepStrictEqual(await account.differences(), [])
  })

  it("is told apart from others by its whole request: a deleted coupon is recognised", async () => {
    const [coupon, ...others] = await ids("SELECT id FROM crm.coupons ORDER BY id")
    assert.isNotEmpty(others)
    await account.service.post("remove", { collection: "coupons", id: coupon })
    const ran = await sync("--only", "coupons")
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.deepStrictEqual(await deleted("coupons"), [coupon])
    assert.notMatch(ran.stderr, /coupons:/)
  })
})

/** `sluice subject erase --keep-financial`: the amounts stay true, and nobody can tell whose they are. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { existsSync, readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openPeople } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { type Rows, contentsOf, filesBelow } from "../support/contents.ts"
import { sluice } from "../support/sluice.ts"
import { type Planted, plant, planted } from "../subject/planted.ts"

/** Without the time of a child row, which may be that of the list or of the detail. */
const withoutTimes = (contents: Rows) =>
  [...contents].map(([table, rows]) => [table, rows.map((row) => row.replace(/"_synced_at":"[^"]*"/, ""))])

const financial = ["invoices", "orders", "transactions", "subscriptions"] as const

describe("an erasure that keeps financial records", { tags: ["slow"] }, () => {
  let account: Account
  let person: Planted
  let before: Awaited<ReturnType<typeof sums>>
  let after: Rows
  const run = (...args: ReadonlyArray<string>) =>
    sluice(args[0] === "sync" ? [...args, ...account.selection] : args, {
      ...account.environment,
      SLUICE_FORMATS: "csv"
    })
  const sums = async () =>
    Promise.all(
      [
        "SELECT count(*) AS n, sum(total) AS total, sum(amount_paid) AS paid FROM crm.invoices WHERE _deleted_at IS NULL",
        "SELECT count(*) AS n, sum(amount) AS total FROM crm.orders WHERE _deleted_at IS NULL",
        "SELECT count(*) AS n, sum(line_amount) AS total FROM crm.order_items",
        "SELECT count(*) AS n, sum(amount * qty) AS total FROM crm.invoice_items",
        "SELECT count(*) AS n, sum(amount) AS total FROM crm.transactions WHERE _deleted_at IS NULL",
        "SELECT count(*) AS n, sum(amount) AS total FROM crm.subscriptions WHERE _deleted_at IS NULL",
        "SELECT count(*) AS n, sum(total) AS total FROM crm_history.invoices"
      ].map((sql) => query(account.warehouse, sql))
    )
  const left = () =>
    filesBelow(account.output).flatMap(([path, content]) =>
      ["xenia", "quillfeather", "4155550199", person.contact]
        .filter((text) => content.includes(text.toLowerCase()))
        .map((text) => `${path}: ${text}`)
    )
  beforeAll(async () => {
    account = await openPeople("contacts,invoices,orders,order_notes,transactions,subscriptions", "--contacts", "25")
    person = await plant(account.service, [...financial])
    await run("sync")
    await account.service.post("change", { invoices: 1, orders: 1, seed: 3 })
    assert.strictEqual((await run("sync", "--again=all")).code, 0)
    before = await sums()
  })
  afterAll(() => discard(account))

  it("says what stays before and after, and keeps every amount", async () => {
    const args = ["subject", "erase", "--email", planted.email, "--keep-financial"]
    const plan = await run(...args)
    assert.match(plan.stdout, /^contacts +\d/m)
    assert.notMatch(plan.stdout, /^(invoices|orders|transactions|subscriptions) /m)
    assert.match(plan.stdout, /^6 financial records would be kept without the person\.$/m)
    const { code, stderr, stdout } = await run(...args, "--apply", "--reason", "a request")
    assert.strictEqual(code, 0, `${stdout}\n${stderr}`)
    assert.match(stdout, /^6 financial records kept without the person\.$/m)
    assert.deepStrictEqual(await sums(), before)
    assert.isTrue(existsSync(join(account.output, "published/report/index.html")), "the new release has a report")
    const [file] = readdirSync(join(account.output, "certificates"))
    const certificate = JSON.parse(readFileSync(join(account.output, "certificates", file!), "utf8"))
    assert.deepInclude(certificate, { isErased: true, recordsKept: 6 })
    after = await contentsOf(account.warehouse)
  })

  it("leaves one pseudonym in place of the person, and no trace of them in any file", async () => {
    const contacts = await Promise.all(
      financial.map((table) =>
        query(account.warehouse, `SELECT contact_id FROM crm.${table} WHERE id = '${person.ids[table]![0]}'`)
      )
    )
    const [pseudonym] = contacts.flat().map((row) => row["contact_id"])
    assert.match(String(pseudonym), /^erased-[0-9a-f]{20}$/)
    assert.deepStrictEqual(
      contacts.flat(),
      financial.map(() => ({ contact_id: pseudonym }))
    )
    const [invoice] = await query(
      account.warehouse,
      `SELECT name, title, contact_details_name, invoice_number FROM crm.invoices WHERE id = '${person.ids["invoices"]![0]}'`
    )
    const { invoice_number: number, ...personal } = invoice!
    assert.deepStrictEqual(personal, { name: null, title: null, contact_details_name: null })
    assert.isNotNull(number)
    assert.deepStrictEqual(left(), [])
  })

  it.each([["verify", "--all"], ["rebuild"]])("is what the vault contains, by %s %s", async (...args) => {
    const { code, stderr, stdout } = await run(...args)
    assert.strictEqual(code, 0, `${stdout}\n${stderr}`)
    assert.deepStrictEqual(withoutTimes(await contentsOf(account.warehouse)), withoutTimes(after))
  })

  it("is not undone by a full sync, which stores a later payment without the person too", async () => {
    const id = "laterpayment00000001"
    const [like] = person.ids["transactions"]!
    const sent = (await account.service.records("transactions")).find((record) => record["_id"] === like)!
    const { _id, ...fields } = sent
    await account.service.post("plant", { collection: "transactions", like, id, fields: { ...fields, amount: 17.5 } })
    const { code, stderr } = await run("sync", "--again=all")
    assert.strictEqual(code, 0, stderr)
    const [payment] = await query(
      account.warehouse,
      `SELECT amount::VARCHAR AS amount, contact_name, contact_email, starts_with(contact_id, 'erased-') AS is_pseudonym FROM crm.transactions WHERE id = '${id}'`
    )
    assert.deepInclude(payment, { contact_name: null, contact_email: null, is_pseudonym: true })
    assert.strictEqual(Number(payment!["amount"]), 17.5)
    assert.deepStrictEqual(left(), [])
    const invoices = "crm_history.invoices"
    assert.deepStrictEqual((await contentsOf(account.warehouse)).get(invoices), after.get(invoices))
  })
})

describe("a plan that keeps financial records", () => {
  let account: Account
  let before: Rows
  beforeAll(async () => {
    account = await openPeople("contacts,invoices", "--contacts", "3")
    await plant(account.service, ["invoices"])
    assert.strictEqual((await account.sync()).code, 0)
    before = await contentsOf(account.warehouse)
  })
  afterAll(() => discard(account))

  it("names what would be erased and what would stay, and changes nothing", async () => {
    const plan = await sluice(["subject", "erase", "--email", planted.email, "--keep-financial"], account.environment)
    assert.match(plan.stdout, /^contacts +\d/m)
    assert.notMatch(plan.stdout, /^invoices /m)
    assert.match(plan.stdout, /^\d+ financial records? would be kept without the person\.$/m)
    assert.deepStrictEqual(withoutTimes(await contentsOf(account.warehouse)), withoutTimes(before))
  })
})

/** Which resources a run reads and leaves out, what it reports about them, and custom fields as columns. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { type Account, openAccount } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { prepareIn } from "../support/fixtures.ts"
import { environmentOf, newFolder, sluice } from "../support/sluice.ts"

let account: Account
beforeAll(async () => {
  account = await openAccount("--contacts", "60")
})
afterAll(() => account.service.stop())

/** Syncs into a folder, and returns the requested operations and the warehouse. */
const syncInto = async (output: string, ...flags: ReadonlyArray<string>) => {
  if (!existsSync(join(output, "warehouse.duckdb"))) await prepareIn(output)
  await account.service.post("stats/reset", {})
  const ran = await sluice(["sync", ...flags], environmentOf(account.service, output))
  const operations = Object.keys((await account.service.stats()).requestsByOperation)
  return { ran, operations, warehouse: join(output, "warehouse.duckdb") }
}

describe("choosing the resources", () => {
  it("--only also reads the parents of a table, and no other operation", async () => {
    const { ran, operations } = await syncInto(newFolder(), "--only", "order_notes,blogs")
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.sameMembers(operations, [
      "GET /payments/orders",
      "GET /payments/orders/:orderId",
      "GET /payments/orders/:orderId/notes",
      "GET /blogs/site/all",
      "GET /blogs/posts/all",
      "GET /blogs/authors",
      "GET /blogs/categories"
    ])
  })

  it("--only also reads the location if a request has to name the company", async () => {
    const { operations } = await syncInto(newFolder(), "--only", "users")
    assert.sameMembers(operations, ["GET /locations/:locationId", "GET /users/search", "GET /users/:userId"])
  })

  it("--except leaves out tables and whole families; --only with a child table requests its parents", async () => {
    const output = newFolder()
    const first = await syncInto(output, "--only", "products", "--except", "prices,inventory")
    assert.sameMembers(first.operations, ["GET /products/", "GET /products/collections"])
    const second = await syncInto(output, "--only", "prices", "--except", "products")
    assert.sameMembers(second.operations, [], "a family named in --except is left out whole")
    const third = await syncInto(output, "--only", "prices")
    assert.sameMembers(third.operations, ["GET /products/", "GET /products/:productId/price"])
  })

  it.each(["--only", "--except"])(
    "%s with an unknown table exits with 2 and lists the families if no name is similar",
    async (flag) => {
      const { ran } = await syncInto(newFolder(), flag, "anything")
      assert.strictEqual(ran.code, 2)
      assert.match(ran.stderr, new RegExp(`${flag} anything: there is no such table or family.*crm.*payments`))
    }
  )
})

describe("the coverage of a run", { tags: ["slow"] }, () => {
  it("states what the settings leave out of a table that was read, unless they do not", async () => {
    const reasonsWith = async (setting: Readonly<Record<string, string>>) => {
      const output = newFolder()
      const environment = { ...environmentOf(account.service, output), SLUICE_FORMATS: "none", ...setting }
      const ran = await sluice(
        ["sync", "--only", "conversations,messages", "--except", "emails,recordings"],
        environment
      )
      assert.include([0, 3], ran.code, ran.stderr)
      const reasons = await query(
        join(output, "warehouse.duckdb"),
        "SELECT reason FROM meta.coverage WHERE list_contains(tables, 'messages')"
      )
      return reasons.map(({ reason }) => String(reason)).join()
    }
    const left = /not read, unless account\.conversation_messages is set: review requests/
    assert.match(await reasonsWith({}), left)
    assert.notMatch(await reasonsWith({ SLUICE_CONVERSATION_MESSAGES: "true" }), left)
  })

  it("states for each operation whether it was read, and the reason if it was not", async () => {
    await account.service.post("token", { removeScope: "invoices.readonly" })
    try {
      const { ran, warehouse } = await syncInto(newFolder(), "--except", "crm")
      assert.strictEqual(ran.code, 77)
      const statuses = await query(warehouse, "SELECT operation, status, reason FROM meta.coverage")
      const of = (operation: string) => statuses.find((row) => row["operation"] === operation)!
      assert.isAbove(statuses.length, 80)
      assert.strictEqual(of("GET /payments/orders")["status"], "read")
      assert.strictEqual(of("POST /contacts/search")["status"], "left out of this run")
      assert.strictEqual(of("GET /contacts/lookup")["status"], "not data")
      assert.strictEqual(of("GET /invoices/")["status"], "not readable with this token")
      assert.match(String(of("GET /invoices/")["reason"]), /scope invoices\.readonly/)
      assert.strictEqual(of("GET /locations/{locationId}/recurring-tasks/{id}")["status"], "skipped by the settings")
      assert.match(
        String(of("GET /locations/{locationId}/recurring-tasks/{id}")["reason"]),
        /The API does not list recurring tasks/
      )
    } finally {
      await account.service.post("token", { addScope: "invoices.readonly" })
    }
  })
})

describe("custom fields as columns", () => {
  it(
    "are typed columns of the wide view with every value of the long table; a renamed field keeps its column",
    { tags: ["slow"] },
    async () => {
      const output = newFolder()
      const { warehouse } = await syncInto(output, "--only", "contacts,opportunities,custom_fields,forms")
      const types = async () =>
        query(
          warehouse,
          `SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'contacts_wide'
         AND column_name LIKE 'cf_%' ORDER BY column_name`
        )
      const before = await types()
      const typeByColumn = new Map(before.map((row) => [row["column_name"], row["data_type"]]))
      assert.strictEqual(typeByColumn.get("cf_lifetime_value"), "DECIMAL(38,7)")
      assert.strictEqual(typeByColumn.get("cf_last_service"), "DATE")
      assert.strictEqual(typeByColumn.get("cf_interested_in"), "VARCHAR[]")
      assert.strictEqual(typeByColumn.get("cf_home_type"), "VARCHAR")

      // Each column has as many values as the field has in the long table.
      for (const field of await query(
        warehouse,
        "SELECT id, field_key, data_type FROM crm.custom_fields WHERE model = 'contact'"
      )) {
        const column = `cf_${String(field["field_key"]).replace("contact.", "")}`
        const [row] = await query(
          warehouse,
          `SELECT (SELECT count(*) FROM crm.contact_custom_values WHERE custom_field_id = '${String(field["id"])}') AS long,
           (SELECT count("${column}") FROM crm.contacts_wide) AS wide`
        )
        assert.strictEqual(row!["wide"], row!["long"], column)
      }
      const [rows] = await query(
        warehouse,
        "SELECT (SELECT count(*) FROM crm.contacts) AS contacts, (SELECT count(*) FROM crm.contacts_wide) AS wide"
      )
      assert.strictEqual(rows!["wide"], rows!["contacts"])
      const [answers] = await query(
        warehouse,
        "SELECT count(*) AS n FROM duckdb_columns() WHERE table_name = 'form_submissions_wide' AND column_name LIKE 'answer_%'"
      )
      assert.isAbove(Number(answers!["n"]), 2)

      const [field] = await query(warehouse, "SELECT id FROM crm.custom_fields WHERE field_key = 'contact.home_type'")
      const renamed = { collection: "customFields", id: field!["id"], fields: { name: "Kind of house" } }
      await account.service.post("edit", renamed)
      await syncInto(output, "--only", "custom_fields")
      const after = await types()
      assert.deepStrictEqual(
        after.map((row) => row["column_name"]),
        before.map((row) => row["column_name"])
      )
      const published = { ...environmentOf(account.service, output), SLUICE_FORMATS: "duckdb" }
      assert.strictEqual((await sluice(["publish"], published)).code, 0)
      const [column] = await query(
        join(output, "published/crm.duckdb"),
        "SELECT comment FROM duckdb_columns() WHERE table_name = 'contacts_wide' AND column_name = 'cf_home_type'"
      )
      assert.match(String(column!["comment"]), /^Kind of house/, "the comment follows the new name")
    }
  )
})

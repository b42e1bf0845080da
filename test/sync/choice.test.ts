/** Which resources a run reads and leaves out, and what it says about them. */
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { openAccount } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { newOutput } from "../support/fixtures.ts"
import { beginForAll } from "../support/life.ts"
import { randomFrom } from "../support/random.ts"

const life = beginForAll(() => openAccount("--contacts", "60"))

/** Syncs into a new folder; returns the requested operations and the warehouse. */
const syncInto = async (flags: string, code = 0, more: Readonly<Record<string, string>> = {}) => {
  const output = await newOutput()
  await life.service.post("stats/reset", {})
  await life.sync(flags, code, { SLUICE_OUTPUT: output, ...more })
  const operations = Object.keys((await life.service.stats()).requestsByOperation)
  return { operations, ask: (sql: string) => query(join(output, "warehouse.duckdb"), sql) }
}

describe("choosing the resources", () => {
  it.each([
    [
      "--only order_notes,blogs",
      "the parents of a table",
      "/payments/orders,/payments/orders/:orderId,/payments/orders/:orderId/notes,/blogs/site/all,/blogs/posts/all,/blogs/authors,/blogs/categories"
    ],
    [
      "--only users",
      "the location, if a request has to name the company",
      "/locations/:locationId,/users/search,/users/:userId"
    ],
    [
      "--only products --except prices,inventory",
      "no table that is left out",
      "/products/,/products/collections,/products/reviews"
    ],
    ["--only prices", "the parents, but not their family", "/products/,/products/:productId/price"],
    ["--only prices --except products", "nothing of a family that is left out whole", ""]
  ])("with %s requests %s, and no other operation", async (flags, _, paths) => {
    const { operations } = await syncInto(flags, paths === "" ? 2 : 0)
    assert.sameMembers(
      operations,
      paths.split(",").flatMap((path) => (path === "" ? [] : [`GET ${path}`]))
    )
  })

  it.each(["--only", "--except"])("%s with an unknown table exits with 2, and lists the families", async (flag) => {
    const { stderr } = await life.sync(`${flag} anything`, 2)
    assert.match(stderr, new RegExp(`${flag} anything: there is no such table or family.*crm.*payments`))
  })
})

describe("a drawn choice", { tags: ["slow"] }, () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "is complete, and read again at most as often on each quiet night (seed %i)",
    async (seed) => {
      const random = randomFrom(seed)
      const { familyByTable, resources } = await discover()
      const names = [...new Set([...familyByTable.values(), ...resources.map(({ table }) => table)])].filter(
        // Without the record of the location, account.company_id is missing.
        (one) => one !== "locations" && one !== "account"
      )
      const drawn = (count: number) =>
        Array.from({ length: count }, () => names[Math.floor(random() * names.length)]).join()
      const families = ["", "conversations", "crm,products", "calendars,objects,payments"]
      const [only, except] = [families[seed % 4]!, [drawn(2), "details"][seed % 5 === 0 ? 1 : 0]!]
      const flags = `${only && `--only ${only}`} --except ${except}`.trim()
      const output = await newOutput()
      let before = Number.POSITIVE_INFINITY
      for (const night of [1, 2, 3]) {
        await life.service.post("stats/reset", {})
        const { code, stderr } = await life.run(["sync", ...flags.split(" ")], { SLUICE_OUTPUT: output })
        if (code === 2 && stderr.includes("nothing is left to read")) return
        assert.strictEqual(code, 0, `${flags}, night ${night}: ${stderr}`)
        const { requestsByOperation } = await life.service.stats()
        const requests = Object.values(requestsByOperation).reduce((sum, n) => sum + n, 0)
        // The second night asks each list for its changes and for its total.
        assert.isAtMost(requests, before * (night === 2 ? 2 : 1), `${flags}, night ${night}`)
        before = requests
      }
      const status = await life.run(["status", "--check", ...flags.split(" ")], { SLUICE_OUTPUT: output })
      assert.strictEqual(status.code, 0, `${flags}: ${status.stdout}`)
    }
  )
})

describe("the coverage of a run", { tags: ["slow"] }, () => {
  it.each([
    ["states what the settings leave out of a table that was read", {}, true],
    ["does not state what they do not", { SLUICE_CONVERSATION_MESSAGES: "true" }, false]
  ])("%s", async (_, setting, isLeft) => {
    const only = "--only conversations,messages --except emails,recordings,transcript_sentences"
    const { ask } = await syncInto(only, 0, setting)
    const reasons = await ask("SELECT reason FROM meta.coverage WHERE list_contains(tables, 'messages')")
    const left = /not read, unless account\.conversation_messages is set: review requests/
    assert.strictEqual(left.test(reasons.map(({ reason }) => String(reason)).join()), isLeft)
  })

  it("states for each operation whether it was read, and the reason if it was not", async () => {
    await life.service.post("token", { removeScope: "invoices.readonly" })
    const { ask } = await syncInto("--except crm", 3)
    await life.service.post("token", { addScope: "invoices.readonly" })
    const statuses = await ask("SELECT operation, status, reason FROM meta.coverage")
    assert.isAbove(statuses.length, 80)
    for (const [operation, expected, reason = /^/] of [
      ["GET /payments/orders", "read"],
      ["POST /contacts/search", "left out of this run"],
      ["GET /contacts/lookup", "not data"],
      ["GET /invoices/", "not readable with this token", /refused by the service, which answers other requests/],
      ["GET /locations/{locationId}/recurring-tasks/{id}", "skipped by the settings", /does not list recurring tasks/]
    ] as const) {
      const row = statuses.find((one) => one["operation"] === operation)!
      assert.strictEqual(row["status"], expected, operation)
      assert.match(String(row["reason"]), reason)
    }
  })
})

import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Account, discard, openAccount, openAlone, usualScale } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { lowerBound } from "../support/lower-bound.ts"
import { sluice } from "../support/sluice.ts"

describe("a sync after one per cent of the account has changed", { tags: ["slow"] }, () => {
  let account: Account
  let first: Readonly<Record<string, number>>
  let second: Readonly<Record<string, number>>
  beforeAll(async () => {
    account = await openAccount("--contacts", "1000", ...usualScale)
    const ran = await account.sync()
    assert.strictEqual(ran.code, 0, ran.stderr)
    first = (await account.service.stats()).requestsByOperation
  })
  afterAll(() => account.service.stop())

  it("every table equals the service after the first run", async () =>
    assert.deepStrictEqual(await account.differences(), []))

  /** `SHOW=1` prints the table of the bounds. */
  it("the requests of the first run are at most 2 % above the lower bound, except for those of the small lists", async () => {
    const bounds = await lowerBound(account.service)
    if (process.env["SHOW"])
      for (const { resource, records, operation, requests } of bounds)
        console.log(`| ${resource} | ${operation} | ${records} | ${first[operation] ?? 0} | ${requests} |`)
    const least = bounds.reduce((sum, { requests }) => sum + requests, 0)
    const bounded = bounds.reduce((sum, { operation }) => sum + (first[operation] ?? 0), 0)
    assert.isAtMost(bounded, least * 1.02)
    assert.isAtLeast(bounded, least, "fewer would mean that something was not read")
    const known = new Set(bounds.map(({ operation }) => operation))
    assert.sameMembers(
      Object.keys(first).filter((operation) => !known.has(operation)),
      [
        "GET /locations/:locationId/timezones",
        "GET /locations/:locationId/conversationChannels/:type",
        "GET /locations/:locationId/templates",
        "POST /locations/:locationId/tasks/search",
        "GET /emails/locations/:locationId/templates",
        "POST /social-media-posting/:locationId/posts/list"
      ]
    )
  })

  it("every table equals the changed service after the second run", async () => {
    await account.service.post("stats/reset", {})
    await account.service.post("change", { contacts: 0.01, opportunities: 0.01, conversations: 0.02 })
    const ran = await account.sync()
    assert.strictEqual(ran.code, 0, ran.stderr)
    second = (await account.service.stats()).requestsByOperation
    assert.deepStrictEqual(await account.differences(), [])
  })

  it("the second run takes at most 3 % of the requests of the first", () => {
    const total = (requests: Readonly<Record<string, number>>) => Object.values(requests).reduce((sum, n) => sum + n, 0)
    assert.isAtMost(total(second), total(first) * 0.03)
    assert.isAtMost(second["GET /contacts/:contactId/notes"]!, first["GET /contacts/:contactId/notes"]! * 0.03)
    // One request for changed contacts, and one for new contacts without a date of change.
    assert.strictEqual(second["POST /contacts/search"], 2)
    assert.strictEqual(second["GET /conversations/search"], 1)
    assert.isAtMost(second["GET /conversations/messages/export"]!, 2)
  })

  it("the earlier versions of the changed rows are in the history", async () => {
    const [row] = await query(
      account.warehouse,
      `SELECT count(*) AS n, count(*) FILTER (h._valid_to = c._synced_at) AS joined
       FROM crm_history.contacts AS h JOIN crm.contacts AS c USING (location_id, id)`
    )
    assert.isAtLeast(Number(row!["n"]), 10)
    assert.strictEqual(row!["joined"], row!["n"])
  })

  it("a value that the service has cleared is cleared in its table", async () => {
    const contact = (await account.service.records("contacts")).find(({ city }) => typeof city === "string")!
    await account.service.call("PUT", `/contacts/${String(contact["id"])}`, { city: null })
    assert.match((await account.differences()).join("\n"), /^contacts \w+\.city: ".*" has no value in the service$/m)
    assert.strictEqual((await account.sync()).code, 0)
    assert.deepStrictEqual(await account.differences(), [])
  })

  it("a run without changes writes no contact", async () => {
    const before = await query(account.warehouse, "SELECT max(_run_id) AS run FROM crm.contacts")
    assert.strictEqual((await account.sync()).code, 0)
    assert.deepStrictEqual(await query(account.warehouse, "SELECT max(_run_id) AS run FROM crm.contacts"), before)
  })

  it("rebuild produces the same rows from the vault without a request", async () => {
    const tables = [
      "contacts",
      "contact_tags",
      "contact_custom_values",
      "messages",
      "orders",
      "order_items",
      "contact_notes"
    ]
    const fingerprints = () =>
      Promise.all(
        tables
          .flatMap((table) => [`crm.${table}`, `crm_history.${table}`])
          .map((table) =>
            query(
              account.warehouse,
              `SELECT '${table}' AS name, count(*) AS n, bit_xor(hash(t)) AS fingerprint FROM ${table} AS t`
            )
          )
      )
    const before = await fingerprints()
    await account.service.post("stats/reset", {})
    const ran = await sluice(["rebuild"], { SLUICE_OUTPUT: account.output, SLUICE_FORMATS: "none" })
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.strictEqual((await account.service.stats()).requests, 0)
    assert.deepStrictEqual(await fingerprints(), before)
  })

  it("the sync after a rebuild reads contacts incrementally, and every table equals the service", async () => {
    await account.service.post("stats/reset", {})
    await account.service.post("change", { contacts: 0.01, seed: 2 })
    const ran = await account.sync()
    assert.strictEqual(ran.code, 0, ran.stderr)
    const [contacts] = await query(
      account.warehouse,
      "SELECT mode, records < 100 AS few FROM meta.run_resources WHERE resource = 'contacts' ORDER BY run_id DESC LIMIT 1"
    )
    assert.deepStrictEqual(contacts, { mode: "incremental", few: true })
    assert.deepStrictEqual(await account.differences(), [])
  })
})

describe("a night in which one contact has changed", () => {
  it("requests the notes of that contact only", async () => {
    const account = await openAlone("contacts,contact_notes", "--contacts", "12")
    try {
      assert.strictEqual((await account.sync()).code, 0)
      await account.service.post("stats/reset", {})
      const [contact] = await account.service.records("contacts")
      await account.service.call("PUT", `/contacts/${String(contact!["id"])}`, { city: "Elsewhere" })
      assert.strictEqual((await account.sync()).code, 0)
      const { requestsByOperation } = await account.service.stats()
      assert.strictEqual(requestsByOperation["GET /contacts/:contactId/notes"], 1)
      const [row] = await query(
        account.warehouse,
        `SELECT count(*)::INT AS n FROM crm_history.contacts AS h JOIN crm.contacts AS c USING (location_id, id)
         WHERE c.id = '${String(contact!["id"])}' AND c.city = 'Elsewhere' AND h._valid_to = c._synced_at`
      )
      assert.strictEqual(row!["n"], 1, "its earlier version is in the history")
    } finally {
      discard(account)
    }
  })
})

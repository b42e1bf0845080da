/** A night reads what has changed, and little else. */
import { discover } from "../../src/catalog/discover.ts"
import { assert, describe, it } from "@effect/vitest"
import { openAccount, openAlone, usualScale } from "../support/account.ts"
import { lowerBound } from "../support/lower-bound.ts"
import { begin, beginForAll } from "../support/life.ts"

/** A change of an invoice that its list does not show is found when its detail is due (test/simulation has those it shows). */
const change = { contacts: 0.04, invoices: 0 }

type Requests = Readonly<Record<string, number>>

describe("a sync after four per cent of the contacts have changed", { tags: ["slow"] }, () => {
  let [first, second]: ReadonlyArray<Requests> = []
  const life = beginForAll(
    () => openAccount("--contacts", "300", ...usualScale),
    async (life) => {
      await life.sync()
      await life.equalsService()
      first = (await life.service.stats()).requestsByOperation
      await life.service.post("stats/reset", {})
      await life.service.post("change", { ...change, opportunities: 0.02, conversations: 0.02 })
      await life.sync()
      second = (await life.service.stats()).requestsByOperation
    }
  )

  it("the requests of the first run are at most 2 % above the lower bound, except for those of the small lists", async () => {
    const bounds = await lowerBound(life.service)
    if (process.env["SHOW"])
      for (const { resource, records, operation, requests } of bounds)
        console.log(`| ${resource} | ${operation} | ${records} | ${first![operation] ?? 0} | ${requests} |`)
    const least = bounds.reduce((sum, { requests }) => sum + requests, 0)
    const bounded = bounds.reduce((sum, { operation }) => sum + (first![operation] ?? 0), 0)
    assert.isAtMost(bounded, least * 1.02)
    assert.isAtLeast(bounded, least, "fewer would mean that something was not read")
    const shown = (operation: string) => operation.replaceAll(/:\w+|\{\w+\}/g, "*")
    const unproven = (await discover()).resources.flatMap(({ full = [], unproven }) =>
      unproven ? full.map(({ request: { method, path } }) => shown(`${method} ${path}`)) : []
    )
    // The fields of an object are requested for each.
    const further = new Set([...unproven, "GET /custom-fields/object-key/*"])
    const known = new Set(bounds.map(({ operation }) => operation))
    assert.sameMembers(
      Object.keys(first!).filter((operation) => !known.has(operation) && !further.has(shown(operation))),
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

  it("every table equals the changed service, and the second run takes at most 11 % of the requests of the first", async () => {
    await life.equalsService()
    const total = (requests: Requests) => Object.values(requests).reduce((sum, n) => sum + n, 0)
    assert.isAtMost(total(second!), total(first!) * 0.11)
    const [notes, noted] = [first, second].map((one) => one!["GET /contacts/:contactId/notes"]!)
    assert.isAtMost(noted!, notes! * 0.08)
    // The page with the newest changes has the total, too.
    assert.strictEqual(second!["POST /contacts/search"], 1)
    assert.strictEqual(second!["GET /conversations/search"], 2)
    assert.isAtMost(second!["GET /conversations/messages/export"]!, 2)
  })

  it("the earlier versions of the changed rows are in the history", async () => {
    const [row] = await life.ask(
      `SELECT count(*) AS n, count(*) FILTER (h._valid_to = c._synced_at) AS joined
       FROM crm_history.contacts AS h JOIN crm.contacts AS c USING (location_id, id)`
    )
    assert.isAtLeast(Number(row!["n"]), 10)
    assert.strictEqual(row!["joined"], row!["n"])
  })

  it("a value that the service has cleared is cleared in its table", async () => {
    const contact = (await life.service.records("contacts")).find(({ city }) => typeof city === "string")!
    await life.service.call("PUT", `/contacts/${String(contact["id"])}`, { city: null })
    const differences = (await life.account.differences()).join("\n")
    assert.match(differences, /^contacts \w+\.city: ".*" has no value in the service$/m)
    await life.sync()
    await life.equalsService()
  })

  it("a run without changes writes no contact", async () => {
    const last = () => life.ask("SELECT max(_run_id) AS run FROM crm.contacts")
    const before = await last()
    await life.sync()
    assert.deepStrictEqual(await last(), before)
  })

  it("a rebuild makes the same rows without a request, and the sync after it reads contacts incrementally", async () => {
    const tables = "contacts,contact_tags,contact_custom_values,messages,orders,order_items,contact_notes".split(",")
    const prints = tables
      .flatMap((table) => [`crm.${table}`, `crm_history.${table}`])
      .map((table) => `SELECT '${table}', count(*), bit_xor(hash(t)) FROM ${table} AS t`)
    const fingerprints = () => life.ask(`${prints.join(" UNION ALL ")} ORDER BY 1`)
    const before = await fingerprints()
    await life.service.post("stats/reset", {})
    const ran = await life.run(["rebuild"])
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.strictEqual((await life.service.stats()).requests, 0)
    assert.deepStrictEqual(await fingerprints(), before)
    await life.service.post("change", { ...change, seed: 2 })
    await life.sync()
    const { mode, records } = (await life.reading("contacts"))!
    assert.strictEqual(mode, "incremental")
    assert.isAtMost(Number(records), 100)
    await life.equalsService()
  })
})

describe("a night in which one contact has changed", () => {
  it("requests the notes of that contact only", async () => {
    const life = await begin(openAlone("contacts,contact_notes", "--contacts", "12"))
    await life.sync()
    await life.service.post("stats/reset", {})
    const [contact] = await life.service.records("contacts")
    await life.service.call("PUT", `/contacts/${String(contact!["id"])}`, { city: "Elsewhere" })
    await life.sync()
    assert.strictEqual((await life.service.stats()).requestsByOperation["GET /contacts/:contactId/notes"], 1)
    const [row] = await life.ask(
      `SELECT count(*)::INT AS n FROM crm_history.contacts AS h JOIN crm.contacts AS c USING (location_id, id)
       WHERE c.id = '${String(contact!["id"])}' AND c.city = 'Elsewhere' AND h._valid_to = c._synced_at`
    )
    assert.strictEqual(row!["n"], 1, "its earlier version is in the history")
  })
})

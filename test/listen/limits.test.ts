/** What `listen` keeps and how long, whatever is sent and whatever its file contains. */
import { assert, describe, it } from "vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { Due, eventOf, wordsByTable } from "../../src/features/listen/due.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const known = new Set(["contacts", "orders"])
const words = wordsByTable((await discover()).resources)

describe("the tables that are due", () => {
  const opened = async (text: string) => {
    const path = join(newFolder(), "events-due.json")
    writeFileSync(path, text)
    const due = await Due.open(path, known, 7)
    return { problem: due.problem, tables: Object.fromEntries(due.take()), due, path }
  }

  it("are those of the file; one that no longer exists is named and left out", async () => {
    const { problem, tables, due, path } = await opened('{"contacts": 5, "bogus": 1}')
    assert.deepStrictEqual(tables, { contacts: 5 })
    assert.match(problem!, /names what is no table to read: bogus$/)
    await due.settle(false)
    assert.deepStrictEqual(JSON.parse(readFileSync(path, "utf8")), { contacts: 5 })
  })

  it.each(["null", "7", '{"contacts": "soon"}', '{"contacts"', "[]"])(
    "are all tables if the file is %s, because any of them may be",
    async (text) => {
      const { problem, tables } = await opened(text)
      assert.deepStrictEqual(tables, { contacts: 7, orders: 7 })
      assert.match(problem!, /cannot be read: all tables are read once$/)
    }
  )

  it("are none without a file", async () => {
    const due = await Due.open(join(newFolder(), "events-due.json"), known, 7)
    assert.deepStrictEqual([due.size, due.problem], [0, undefined])
  })
})

describe("an event", () => {
  it.each([
    ["ContactCreate", ["contacts"]],
    ["workflow_enrollment", ["contacts"]],
    ["InboundMessage", ["conversations", "messages"]],
    ["missed_call", ["conversations", "messages"]],
    ["OpportunityStageUpdate", ["opportunities"]],
    ["form_submitted", ["form_submissions"]],
    ["survey_submitted", ["survey_submissions"]],
    ["payment_received", ["transactions"]],
    // Their lists cannot be filtered by change.
    ["AppointmentCreate", []],
    ["order_submitted", []],
    ["InvoicePaid", []]
  ])("of the type %s says that the records of %j have changed", (type, tables) => {
    const event = eventOf(Buffer.from(JSON.stringify({ locationId: "l", type })), words)!
    assert.deepStrictEqual(event.tables, tables)
  })

  it("is remembered by a few bytes, however long its id is", () => {
    const event = (eventId: string) =>
      eventOf(Buffer.from(JSON.stringify({ eventId, locationId: "l", type: "ContactUpdate" })), words)!.fingerprint
    assert.isBelow(event("x".repeat(900_000)).length, 50)
    assert.strictEqual(event("a"), event("a"))
    assert.notStrictEqual(event("a"), event("b"))
  })
})

describe("the listener", () => {
  it("refuses a secret that can be guessed", async () => {
    const environment = {
      SLUICE_BASE_URL: "http://127.0.0.1:9",
      SLUICE_TOKEN: "pit-0000",
      SLUICE_LOCATION_ID: "l",
      SLUICE_OUTPUT: newFolder(),
      SLUICE_LISTEN_SECRET: "fifteen letters"
    }
    const { code, stderr } = await sluice(["listen"], environment)
    assert.strictEqual(code, 78)
    assert.match(stderr, /listen\.secret has 15 characters: .* It needs 16 or more/)
  })
})

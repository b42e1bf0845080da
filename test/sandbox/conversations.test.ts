import { assert, describe, it } from "vitest"
import { ids, type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 1500 })
const { locationId } = s
const search = (query = "") => s.get(`/conversations/search?locationId=${locationId}&${query}`)

/** Reads all pages, each from the date of the last conversation of the page before. */
const readAll = async (limit: number, back: number): Promise<Array<Json>> => {
  const rows = new Map<string, Json>()
  for (let after = ""; ;) {
    const { body } = await search(`limit=${limit}${after}`)
    const fresh = body["conversations"].filter((row: Json) => !rows.has(row["id"]))
    for (const row of fresh) rows.set(row["id"], row)
    if (fresh.length === 0) return [...rows.values()]
    after = `&startAfterDate=${Date.parse(body["conversations"].at(-1).lastMessageDate) + back}`
  }
}

describe("GET /conversations/search", () => {
  it("loses ties at page boundaries if a client pages by the date alone, but not if its pages overlap", async () => {
    const all = await s.records("conversations")
    assert.equal(all.length, 900)
    assert.isBelow((await readAll(20, 0)).length, 900)
    assert.deepEqual(ids(await readAll(100, 1)), ids(all))
  })

  it("returns at most 100 and by default 20 conversations, in descending order of the last message", async () => {
    assert.equal((await search()).body["conversations"].length, 20)
    assert.equal((await search()).body["total"], 900)
    assert.equal((await search("limit=101")).status, 400)
    const dates = (await search("limit=100")).body["conversations"].map((row: Json) => row["lastMessageDate"])
    assert.deepEqual(dates, dates.toSorted().toReversed())
    const oldest = (await search("limit=1&sort=asc")).body["conversations"][0].lastMessageDate
    assert.equal(oldest, (await s.records("conversations")).map((row) => row["lastMessageDate"]).toSorted()[0])
  })

  it("returns the type as text and a name, whereas a single read returns a number and no name", async () => {
    const [found] = (await search("limit=1")).body["conversations"]
    const one = (await s.get(`/conversations/${found.id}`)).body
    assert.match(found.type, /^TYPE_/)
    assert.isNumber(one["type"])
    assert.isString(found.fullName)
    assert.isUndefined(one["fullName"])
  })

  it("ignores startAfterId, and filters as documented", async () => {
    const first = (await search("limit=5")).body["conversations"]
    assert.deepEqual((await search(`limit=5&startAfterId=${first[4].id}`)).body["conversations"], first)
    const starred = (await s.records("conversations")).filter((row) => row["starred"]).length
    assert.equal((await search("status=starred")).body["total"], starred)
    assert.equal((await search(`contactId=${first[0].contactId}`)).body["conversations"][0].id, first[0].id)
    assert.equal((await search("status=sleeping")).status, 422)
  })

  it("distinguishes manual from automated last messages", async () => {
    const totals = [await search("lastMessageAction=manual"), await search("lastMessageAction=automated")].map(
      (reply) => reply.body["total"]
    )
    assert.isTrue(totals.every((total) => total > 0))
    assert.equal(totals[0] + totals[1], (await search()).body["total"])
    const [found] = (await search("lastMessageAction=automated&limit=1")).body["conversations"]
    const [last] = (await s.get(`/conversations/${found.id}/messages?limit=1`)).body["messages"].messages
    assert.include(["workflow", "bulk_actions", "campaign", "api"], last.source)
  })

  it("can be read completely by last manual message and by score, with the sort value of each row", async () => {
    const all = await s.records("conversations")
    const manual = new Map<string, number>(all.map((row) => [row["id"], 0]))
    for (const { conversationId, dateAdded, source } of await s.records("messages")) {
      if (["workflow", "bulk_actions", "campaign", "api"].includes(source)) continue
      manual.set(conversationId, Math.max(manual.get(conversationId)!, Date.parse(dateAdded)))
    }
    for (const sortBy of ["last_manual_message_date", "score_profile&scoreProfile=p1"]) {
      for (const sort of ["asc", "desc"]) {
        const rows: Array<Json> = []
        for (let after = ""; ;) {
          const page = (await search(`sortBy=${sortBy}&sort=${sort}&limit=100${after}`)).body["conversations"]
          rows.push(...page)
          if (page.length < 100) break
          const [value, id] = page.at(-1).sort
          after = `&startAfterDate=${value}&startAfterDate=${id}`
        }
        assert.deepEqual(ids(rows), ids(all), sortBy)
        const values = rows.map((row) => row["sort"][0] as number)
        assert.deepEqual(
          values,
          values.toSorted((a, b) => (sort === "asc" ? a - b : b - a))
        )
        if (sortBy !== "last_manual_message_date") continue
        assert.isTrue(rows.every((row) => row["sort"][0] === manual.get(row["id"])))
      }
    }
  })

  it("filters by the range of a score, which differs between profiles", async () => {
    const total = async (query: string) => (await search(`limit=1&${query}`)).body["total"]
    const high = await total("scoreProfile=p1&scoreProfileMin=60")
    assert.isTrue(high > 0 && high < 900)
    assert.equal(await total("scoreProfile=p1&scoreProfileMin=0&scoreProfileMax=100"), 900)
    assert.notEqual(await total("scoreProfile=p2&scoreProfileMin=60"), high)
  })

  it("refuses a sort value that is not a number", async () => {
    assert.equal((await search("startAfterDate=x")).status, 400)
  })

  it("returns dates as numbers in the variant conversationDates", async () => {
    const epoch = await sandbox({ variants: { conversationDates: "epoch" } })
    const { body } = await epoch.get(`/conversations/search?locationId=${epoch.locationId}&limit=1`)
    const [found] = body["conversations"]
    assert.isNumber(found.lastMessageDate)
    assert.isString((await epoch.get(`/conversations/${found.id}`)).body["lastMessageDate"])
  })
})

describe("the messages of a conversation", () => {
  it("are returned in pages, newest first, until nextPage is false", async () => {
    const all = await s.records("messages")
    const counts = Map.groupBy(all, (row) => row["conversationId"])
    const [id, own] = [...counts].toSorted((a, b) => b[1].length - a[1].length)[0]!
    const rows: Array<Json> = []
    for (let last = ""; ;) {
      const { messages } = (await s.get(`/conversations/${id}/messages?limit=7${last}`)).body
      rows.push(...messages.messages)
      assert.equal(messages.lastMessageId, rows.at(-1)!["id"])
      if (!messages.nextPage) break
      last = `&lastMessageId=${messages.lastMessageId}`
    }
    assert.deepEqual(ids(rows), ids(own))
    const dates = rows.map((row) => row["dateAdded"])
    assert.deepEqual(dates, dates.toSorted().toReversed())
    assert.equal(dates[0], (await s.get(`/conversations/${id}`)).body["lastMessageDate"])
  })

  it("can be filtered by each documented type", async () => {
    const types =
      "TYPE_CALL TYPE_SMS TYPE_EMAIL TYPE_FACEBOOK TYPE_GMB TYPE_INSTAGRAM TYPE_WHATSAPP TYPE_ACTIVITY_APPOINTMENT " +
      "TYPE_ACTIVITY_CONTACT TYPE_ACTIVITY_INVOICE TYPE_ACTIVITY_PAYMENT TYPE_ACTIVITY_OPPORTUNITY TYPE_LIVE_CHAT " +
      "TYPE_INTERNAL_COMMENTS TYPE_ACTIVITY_EMPLOYEE_ACTION_LOG"
    const all = await s.records("messages")
    for (const type of types.split(" ")) {
      const { conversationId } = all.find((row) => row["messageType"] === type) ?? all[0]!
      const own = all.filter((row) => row["conversationId"] === conversationId && row["messageType"] === type)
      const { body, status } = await s.get(`/conversations/${conversationId}/messages?limit=100&type=${type}`)
      assert.equal(status, 200, type)
      assert.deepEqual(ids(body["messages"].messages), ids(own), type)
    }
    assert.equal((await s.get(`/conversations/${all[0]!["conversationId"]}/messages?type=TYPE_FAX`)).status, 422)
  })

  it("include a sent message, which moves its conversation to the front", async () => {
    const [contact] = await s.records("contacts")
    const sent = await s.post("/conversations/messages", { type: "SMS", contactId: contact!["id"], message: "hello" })
    assert.equal(sent.status, 201)
    const [first] = (await search("limit=1")).body["conversations"]
    assert.deepEqual([first.id, first.lastMessageBody], [sent.body["conversationId"], "hello"])
    const message = (await s.get(`/conversations/messages/${sent.body["messageId"]}`)).body
    assert.deepEqual([message["body"], message["messageType"]], ["hello", "TYPE_SMS"])
  })
})

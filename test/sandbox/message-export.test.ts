import { assert, describe, it } from "vitest"
import { type Client, ids, type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 500 })
const page = (query: string, client: Client = s) =>
  client.get(`/conversations/messages/export?locationId=${client.locationId}&${query}`)

const sweep = async (query: string): Promise<Array<Json>> => {
  const rows: Array<Json> = []
  for (let cursor = ""; ;) {
    const { body } = await page(`${query}${cursor}`)
    rows.push(...body["messages"])
    if (body["nextCursor"] === null) return rows
    cursor = `&cursor=${body["nextCursor"]}`
  }
}

const isUnsupported = (row: Json) => ["TYPE_GROUP_SMS", "TYPE_SMS_REVIEW_REQUEST"].includes(row["messageType"])

describe("the message export", () => {
  it("without a channel has every type except emails, group chats and review requests; emails have a channel", async () => {
    const all = await s.records("messages")
    const supported = all.filter((row) => !isUnsupported(row))
    assert.isAbove(all.length, supported.length)
    const isEmail = (row: Json) => row["messageType"] === "TYPE_EMAIL"
    assert.deepEqual(ids(await sweep("limit=300")), ids(supported.filter((row) => !isEmail(row))))
    const emails = await sweep("limit=300&channel=Email")
    assert.deepEqual(ids(emails), ids(supported.filter(isEmail)))
    for (const row of emails) assert.isNotEmpty(row["meta"].email.messageIds)
  })

  it("sorts by either date in either direction", async () => {
    for (const [sortBy, field] of [
      ["createdAt", "dateAdded"],
      ["updatedAt", "dateUpdated"]
    ]) {
      for (const sortOrder of ["asc", "desc"]) {
        const dates = (await sweep(`limit=500&sortBy=${sortBy}&sortOrder=${sortOrder}`)).map((row) => row[field!])
        assert.deepEqual(dates, sortOrder === "asc" ? dates.toSorted() : dates.toSorted().toReversed())
      }
    }
  })

  it("filters by dates in ISO format or epoch milliseconds with every order", async () => {
    const all = (await sweep("limit=500")).map((row) => row["dateAdded"]).toSorted()
    const [from, to] = [all[200]!, all[900]!]
    const expected = all.filter((date) => date >= from && date <= to).length
    for (const sortBy of ["createdAt", "updatedAt"]) {
      const iso = await sweep(`limit=100&sortBy=${sortBy}&startDate=${from}&endDate=${to}`)
      const epoch = await sweep(`limit=100&sortBy=${sortBy}&startDate=${Date.parse(from)}&endDate=${Date.parse(to)}`)
      assert.deepEqual([iso.length, new Set(ids(iso)).size, epoch.length], [expected, expected, expected])
    }
    const ignoring = await sandbox({ variants: { exportDates: "ignored" } })
    const { body } = await page(`limit=10&startDate=2999-01-01`, ignoring)
    assert.equal(body["messages"].length, 10)
  })

  it("refuses and names a limit below 10 or above its maximum", async () => {
    for (const limit of [9, 1001]) {
      const { body, status } = await page(`limit=${limit}`)
      assert.equal(status, 400)
      assert.match(body["message"], /limit/)
    }
    assert.equal((await page("limit=1000")).status, 200)
    assert.equal((await page("")).body["messages"].length, 100)
    const smaller = await sandbox({ variants: { exportLimitMax: 500 } })
    assert.equal((await page("limit=501", smaller)).status, 400)
  })

  it("returns the messages in the state of its beginning", async () => {
    const first = (await page("limit=10")).body
    const { now } = (await s.post("/__sandbox/clock", { advanceMs: 1 })).body
    await s.post("/__sandbox/change", { conversations: 0.2, messages: 0.2 })
    const rows: Array<Json> = [...first["messages"]]
    for (let cursor = first["nextCursor"]; cursor !== null;) {
      const { body } = await page(`limit=500&cursor=${cursor}`)
      rows.push(...body["messages"])
      cursor = body["nextCursor"]
    }
    assert.equal(rows.length, first["total"])
    assert.isTrue(rows.every((row) => Date.parse(row["dateUpdated"]) <= now))
    const fresh = await sweep("limit=500")
    assert.isAbove(fresh.length, rows.length)
    assert.isTrue(fresh.some((row) => Date.parse(row["dateUpdated"]) > now))
  })

  it("has cursors that expire 2 minutes after their last use, and counts refused ones", async () => {
    const { nextCursor } = (await page("limit=10")).body
    for (let use = 0; use < 3; use++) {
      await s.post("/__sandbox/clock", { advanceMs: 100_000 })
      assert.equal((await page(`limit=10&cursor=${nextCursor}`)).status, 200)
    }
    await s.post("/__sandbox/clock", { advanceMs: 121_000 })
    const expired = await page(`limit=10&cursor=${nextCursor}`)
    assert.equal(expired.status, 400)
    assert.match(expired.body["message"], /cursor/)
    assert.equal((await page("limit=10&cursor=made-up")).status, 400)
    assert.equal((await s.get("/__sandbox/stats")).body["expiredCursorsShown"], 2)
  })

  it("of a contact or conversation has only its messages", async () => {
    const [message] = await sweep("limit=10&channel=SMS")
    const rows = await sweep(`limit=100&conversationId=${message!["conversationId"]}`)
    assert.isTrue(rows.every((row) => row["conversationId"] === message!["conversationId"]))
    const ofContact = await sweep(`limit=100&contactId=${message!["contactId"]}`)
    assert.isTrue(ofContact.every((row) => row["contactId"] === message!["contactId"]))
    assert.isAtLeast(ofContact.length, rows.length)
  })

  it("has no dateUpdated in the variant messageDateUpdated", async () => {
    const bare = await sandbox({ variants: { messageDateUpdated: false } })
    assert.isUndefined((await page("limit=10", bare)).body["messages"][0].dateUpdated)
  })
})

import { assert, describe, it } from "vitest"
import { ids, type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 40 })
const { locationId } = s
const at = `/locations/${locationId}`

describe("a location", () => {
  it("has time zones, and messaging providers with one default for each channel", async () => {
    assert.include((await s.get(`${at}/timezones`)).body["timezones"], "America/New_York")
    for (const type of ["SMS", "Email"]) {
      const { conversationChannel } = (await s.get(`${at}/conversationChannels/${type}`)).body
      const providers = conversationChannel[type].map((row: Json) => row["conversationProvider"])
      assert.equal(providers.filter((provider: Json) => provider["default"]).length, 1)
      assert.isTrue(
        providers.every((provider: Json) => provider["type"] === type && provider["_id"] && provider["name"])
      )
    }
    const dated = await s.get(`${at}/conversationChannels/SMS`, { Version: "2021-07-28" })
    assert.equal(dated.status, 404)
    for (const type of ["sms", "Fax", "__proto__", "constructor"]) {
      assert.equal((await s.get(`${at}/conversationChannels/${type}`)).status, 422, type)
    }
  })

  it("has templates, by default 25, and separate deleted ones", async () => {
    const list = (query: string) => s.get(`${at}/templates?${query}`)
    const origin = `originId=${locationId}`
    const first = (await list(origin)).body
    assert.equal(first["templates"].length, 25)
    const second = (await list(`${origin}&skip=25&limit=100`)).body
    assert.equal(25 + second["templates"].length, first["totalCount"])
    const deleted = (await list(`${origin}&deleted=true&limit=100`)).body
    assert.isNotEmpty(deleted["templates"])
    const all = ids([...first["templates"], ...second["templates"], ...deleted["templates"]])
    assert.deepEqual(all, ids(await s.records("templates")))
    const sms = (await list(`${origin}&type=sms&limit=100`)).body["templates"]
    assert.isNotEmpty(sms)
    assert.isTrue(sms.every((row: Json) => row["type"] === "sms" && Array.isArray(row["urlAttachments"])))
    const [mail] = (await list(`${origin}&type=email&limit=1`)).body["templates"]
    assert.hasAllKeys(mail.template, ["subject", "html", "attachments"])
    assert.deepEqual((await list("originId=elsewhere")).body, { templates: [], totalCount: 0 })
    assert.equal((await list("")).status, 422)
    assert.equal((await list(`${origin}&type=fax`)).status, 422)
    assert.equal((await list(`${origin}&deleted=maybe`)).status, 400)
    assert.equal((await list(`${origin}&limit=x`)).status, 400)
  })

  it("of another token is refused", async () => {
    for (const path of ["timezones", "conversationChannels/SMS", "templates?originId=x", "customFields"]) {
      assert.equal((await s.get(`/locations/other/${path}`)).status, 403, path)
    }
    assert.equal((await s.get("/locations/other/recurring-tasks/x")).status, 403)
  })
})

describe("a recurring task", () => {
  it("can be read and deleted", async () => {
    const [recurringTask] = await s.records("recurringTasks")
    const one = `${at}/recurring-tasks/${recurringTask!["id"]}`
    assert.deepEqual((await s.get(one)).body, { recurringTask })
    assert.deepEqual((await s.send("DELETE", one)).body, { id: recurringTask!["id"], success: true })
    assert.equal((await s.get(one)).status, 404)
    assert.equal((await s.send("DELETE", one)).status, 404)
  })
})

import { assert, describe, it } from "vitest"
import { type Client, type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 50 })
const strict = await sandbox({ contacts: 50, allowDuplicateContact: false, duplicateOrder: ["phone", "email"] })

const create = async (client: Client, fields: Json): Promise<Json> =>
  (await client.post("/contacts/", { locationId: client.locationId, ...fields })).body["contact"]

describe("a duplicate", () => {
  it("is a conflict if the account forbids it, and is created if the account allows it", async () => {
    const sent = { email: "dup@post.example" }
    const first = await create(strict, sent)
    const refused = await strict.post("/contacts/", { locationId: strict.locationId, ...sent })
    assert.deepEqual([refused.status, refused.body["error"]], [409, "Conflict"])
    assert.equal(refused.body["meta"].contactId, first["id"])
    const location = (await strict.get(`/locations/${strict.locationId}`)).body["location"]
    assert.isFalse(location.settings.allowDuplicateContact)
    await create(s, sent)
    assert.isDefined((await create(s, sent))["id"])
  })

  it("is also a conflict in an update, unless it is the contact itself", async () => {
    const one = await create(strict, { email: "one@post.example", phone: "+12075550166" })
    const two = await create(strict, { email: "two@post.example" })
    const update = (fields: Json) => strict.send("PUT", `/contacts/${two["id"]}`, fields)
    for (const taken of [{ email: "ONE@post.example" }, { phone: "+12075550166" }]) {
      const refused = await update(taken)
      assert.deepEqual([refused.status, refused.body["meta"].contactId], [409, one["id"]])
    }
    assert.equal((await update({ email: "two@post.example", firstName: "Two" })).status, 200)
    const allowed = await create(s, { email: "six@post.example" })
    assert.equal((await s.send("PUT", `/contacts/${allowed["id"]}`, { email: "one@post.example" })).status, 200)
  })

  it("is found by email first if duplicates are allowed, and in the configured order otherwise", async () => {
    for (const [client, by] of [
      [s, "email"],
      [strict, "phone"]
    ] as const) {
      const made: Json = { email: await create(client, { email: "f+1@post.example" }), phone: undefined }
      made["phone"] = await create(client, { phone: "+12075550188" })
      const path = `/contacts/search/duplicate?locationId=${client.locationId}`
      const { body } = await client.get(`${path}&email=f%2B1%40post.example&number=%2B12075550188`)
      assert.equal(body["contact"].id, made[by].id)
      assert.deepEqual((await client.get(`${path}&email=nobody@post.example`)).body, { contact: null })
      assert.equal((await client.get(path)).status, 422)
      assert.equal((await client.get(`${path}&number=5550188`)).status, 422)
    }
  })
})

describe("lookup", () => {
  const path = `/contacts/lookup?locationId=${s.locationId}`

  it("finds contacts by email in any case, in pages, with an empty last page", async () => {
    for (let copy = 0; copy < 20; copy++) await create(s, { email: "Many@post.example" })
    const first = (await s.get(`${path}&email=MANY@POST.EXAMPLE`)).body
    assert.equal(first["contacts"].length, 20)
    assert.isString(first["nextCursor"])
    const last = (await s.get(`${path}&email=many@post.example&nextCursor=${first["nextCursor"]}`)).body
    assert.deepEqual(last, { contacts: [] })
    assert.equal((await s.get(`${path}&email=many@post.example&limit=3`)).body["contacts"].length, 3)
  })

  it("finds contacts by phone, but not by a phone that was changed or of a deleted contact", async () => {
    const { id } = await create(s, { phone: "+12075550199" })
    const found = async () =>
      (await s.get(`${path}&phone=%2B12075550199`)).body["contacts"].map((row: Json) => row["id"])
    assert.deepEqual(await found(), [id])
    await s.send("PUT", `/contacts/${id}`, { phone: "+12075550111" })
    assert.deepEqual(await found(), [])
    await s.send("PUT", `/contacts/${id}`, { phone: "+12075550199" })
    assert.deepEqual(await found(), [id])
    await s.send("DELETE", `/contacts/${id}`)
    assert.deepEqual(await found(), [])
  })

  it("needs either an email or a phone, and has a limit of at most 20", async () => {
    assert.equal((await s.get(path)).status, 422)
    assert.equal((await s.get(`${path}&email=a@b.example&phone=%2B12075550199`)).status, 422)
    assert.equal((await s.get(`${path}&phone=12075550199`)).status, 422)
    assert.equal((await s.get(`${path}&email=a@b.example&limit=21`)).status, 400)
    assert.equal((await s.get(`${path}&email=a@b.example&nextCursor=zzz`)).status, 422)
  })
})

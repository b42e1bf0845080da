import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 20 })
const { companyId, locationId } = s
const password = "Correct-Horse-9"
const sent = {
  companyId,
  firstName: "Nell",
  lastName: "Gill",
  email: "nell@harborandpine.example",
  password,
  type: "account",
  role: "user",
  locationIds: [locationId]
}
const create = (fields: Json = {}) => s.post("/users/", { ...sent, email: `${Math.random()}@x.example`, ...fields })

describe("a user", () => {
  it("is created with default permissions, and without its password in the response", async () => {
    const { body, status } = await s.post("/users/", { ...sent, permissions: { refundsEnabled: false } })
    assert.equal(status, 201)
    assert.deepEqual([body["name"], body["roles"].role, body["scopes"]], ["Nell Gill", "user", []])
    const { contactsEnabled, refundsEnabled, websitesEnabled } = body["permissions"]
    assert.deepEqual([contactsEnabled, refundsEnabled, websitesEnabled], [true, false, false])
    assert.notInclude(JSON.stringify(body), password)
    const network = body["permissions"].adwordsReportingEnabled || body["permissions"].facebookAdsReportingEnabled
    assert.isFalse(network)
    assert.deepEqual((await s.get(`/users/${body["id"]}`)).body, body)
    const { permissions } = (await s.send("PUT", `/users/${body["id"]}`, { permissions: { pigeons: true } })).body
    assert.deepEqual(permissions, body["permissions"])
    assert.equal((await s.post("/users/", sent)).status, 409)
  })

  it("needs every required field and a strong password", async () => {
    for (const name of Object.keys(sent)) assert.equal((await create({ [name]: undefined })).status, 422, name)
    for (const weak of ["Short-1", "no-upper-case-1", "NO-LOWER-CASE-1", "No-Number-Here", "NoSpecial12345"]) {
      assert.equal((await create({ password: weak })).status, 422, weak)
    }
    assert.equal((await create({ companyId: "other" })).status, 403)
    assert.equal((await create({ locationIds: ["other"] })).status, 403)
    assert.equal((await create({ locationIds: [] })).status, 422)
    assert.equal((await create({ phone: "2075550100" })).status, 422)
    assert.equal((await create({ role: "owner" })).status, 422)
    assert.equal((await create({ platformLanguage: "en_GB" })).status, 422)
    assert.equal((await create({ permissions: { contactsEnabled: "yes" } })).status, 400)
    assert.equal((await create({ lcPhone: { [locationId]: 5 } })).status, 400)
    assert.equal((await create({ profilePhoto: "x" })).status, 422)
    assert.equal((await create({ profilePhoto: "https://files.example/n.png" })).status, 201)
    assert.equal((await create({ lcPhone: { [locationId]: "555" } })).status, 422)
  })

  it("can be changed except for its email, and loses scopes that are not listed", async () => {
    const { body } = await create({ scopes: ["contacts.write"], platformLanguage: "de" })
    const update = (fields: Json) => s.send("PUT", `/users/${body["id"]}`, fields)
    const changed = (await update({ firstName: "Nia", email: "new@x.example", scopes: [], role: "admin" })).body
    assert.deepEqual([changed["name"], changed["email"]], ["Nia Gill", body["email"]])
    assert.deepEqual([changed["scopes"], changed["roles"].role, changed["roles"].type], [[], "admin", "account"])
    assert.equal((await update({ password: "weak" })).status, 422)
    assert.equal((await update({ scopes: "all" })).status, 400)
    assert.equal((await s.send("PUT", "/users/nobody", {})).status, 404)
  })

  it("is deleted five minutes after the request", async () => {
    const { id } = (await create()).body
    const { body } = await s.send("DELETE", `/users/${id}`)
    assert.isTrue(body["succeeded"])
    assert.isString(body["message"])
    assert.equal((await s.get(`/users/${id}`)).status, 200)
    await s.post("/__sandbox/clock", { advanceMs: 5 * 60_000 })
    assert.isFalse((await s.records("users")).some((user) => user["id"] === id))
    assert.equal((await s.get(`/users/${id}`)).status, 404)
    assert.equal((await s.send("DELETE", `/users/${id}`)).status, 404)
  })
})

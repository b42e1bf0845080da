import { assert, describe, it } from "vitest"
import { type Json, ids, sandbox } from "../client.ts"
import { statuses } from "./walk.ts"

const s = await sandbox({ contacts: 600 })
const base = `/social-media-posting/${s.locationId}`
const [account] = await s.records("social_accounts")

const always = { skip: "0", limit: "100", fromDate: "2000-01-01", toDate: "2999-01-01", includeUsers: "false" }
const search = (body: Json = {}) => s.post(`${base}/posts/list`, { ...always, ...body })

describe("social posts", () => {
  it("are searched with numbers as text, and returned with 201 in a wrapper", async () => {
    const { body, status } = await search({ limit: "1" })
    assert.equal(status, 201)
    assert.deepEqual(Object.keys(body), ["success", "statusCode", "message", "results"])
    assert.deepEqual([body["success"], body["statusCode"], body["results"].posts.length], [true, 201, 1])
    for (const size of ["10", "100"]) {
      const rows: Array<Json> = []
      for (;;) {
        const { posts } = (await search({ limit: size, skip: String(rows.length) })).body["results"]
        rows.push(...posts)
        if (posts.length < Number(size)) break
      }
      assert.deepEqual(ids(rows), ids(await s.records("social_posts")))
    }
    const refused = [{ skip: 0 }, { limit: 10 }, { includeUsers: false }, { fromDate: 1 }, { limit: "101" }]
    assert.deepEqual(await statuses(refused.map(search)), [400, 400, 400, 400, 400])
    const invalid = [{ skip: "x" }, { limit: "" }, { limit: "0" }, { fromDate: "May" }, { includeUsers: "maybe" }]
    assert.deepEqual(await statuses(invalid.map(search)), [422, 422, 422, 422, 422])
    for (const name of Object.keys(always)) assert.equal((await search({ [name]: undefined })).status, 422, name)
  })

  it("can be filtered by time, account and status, and include their users on request", async () => {
    const all = (await search()).body["results"].posts as Array<Json>
    const some = (await search({ accounts: account!["id"] })).body["results"]
    assert.equal(some.count, all.filter((row) => row["accountIds"].includes(account!["id"])).length)
    const drafts = (await search({ type: "draft" })).body["results"].posts as Array<Json>
    assert.isTrue(drafts.length > 0 && drafts.every((row) => row["status"] === "draft"))
    const days = all.map((row) => row["createdAt"]).toSorted()
    const within = (await search({ fromDate: days[10], toDate: days[20] })).body["results"].count
    assert.equal(within, days.filter((day) => day >= days[10]! && day <= days[20]!).length)
    const users = (await search({ includeUsers: "true" })).body["results"].posts as Array<Json>
    assert.isTrue(users.some((row) => row["user"].id === row["userId"]))
  })

  it("can be read and deleted, and deleted ones are listed with that type", async () => {
    const [post] = (await search()).body["results"].posts as [Json]
    const { id } = post
    const read = () => s.get(`${base}/posts/${id}`)
    assert.equal((await read()).body["results"].post.id, id)
    assert.equal((await s.send("DELETE", `${base}/posts/${id}`)).body["results"].postId, id)
    const deleted = await read()
    assert.deepEqual([deleted.status, deleted.body["message"]], [404, `Post with id ${id} not found`])
    assert.isFalse((await search()).body["results"].posts.some((row: Json) => row["id"] === id))
    assert.deepEqual(ids((await search({ type: "deleted" })).body["results"].posts), [id])
  })
})

describe("the accounts, categories and tags of social posts", () => {
  it("accounts are returned in one page", async () => {
    const { accounts } = (await s.get(`${base}/accounts`)).body["results"]
    assert.deepEqual(ids(accounts), ids(await s.records("social_accounts")))
    assert.isTrue(accounts.some((row: Json) => row["isActive"] === false))
  })

  it("categories and tags are returned in pages by skip", async () => {
    for (const [name, path, collection] of [
      ["categories", "/categories", "social_categories"],
      ["tags", "/tags", "social_tags"]
    ] as const) {
      const rows: Array<Json> = []
      for (;;) {
        const { results } = (await s.get(`${base}${path}?skip=${rows.length}`)).body
        rows.push(...results[name])
        if (results[name].length < 10) break
      }
      assert.deepEqual(ids(rows), ids(await s.records(collection)))
      const { results } = (await s.get(`${base}${path}?searchText=${rows[0]!["name"].slice(0, 4)}&limit=100`)).body
      assert.equal(results.count, results[name].length)
      assert.equal((await s.get(`${base}${path}?limit=101`)).status, 400)
    }
  })
})

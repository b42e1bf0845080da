import { assert, describe, it } from "vitest"
import { type Json, ids, sandbox } from "../client.ts"
import { statuses, walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 300 })
const locationId = s.locationId
const query = `?locationId=${locationId}`
const blogs = await s.records("blogs")

describe("blogs", () => {
  it("have sites in pages by skip, and other lists in pages by offset only", async () => {
    await walkAll(s, `/blogs/site/all${query}`, "data", "blogs", [10, 2], "skip")
    await walkAll(s, `/blogs/authors${query}`, "authors", "blog_authors", [10, 100])
    await walkAll(s, `/blogs/categories${query}`, "categories", "blog_categories", [10, 100])
    const { body } = await s.get(`/blogs/site/all${query}&skip=0&limit=10&searchTerm=JARDIN`)
    assert.equal(body["data"].length, 1)
    assert.equal((await s.get(`/blogs/site/all${query}&offset=0&limit=10`)).status, 422)
    const posts = `/blogs/posts/all${query}&blogId=${blogs[0]!["_id"]}`
    for (const path of [posts, `/blogs/authors${query}`, `/blogs/categories${query}`]) {
      const refused = ["&limit=10", "&offset=0", "&limit=10&skip=0", "&limit=10&offset=0&skip=0", "&limit=101&offset=0"]
      const expected = [422, 422, 422, 422, 400]
      assert.deepEqual(await statuses(refused.map((more) => s.get(path + more))), expected, path)
    }
  })

  it("have posts by site in pages, also by title and status", async () => {
    const all: Array<Json> = []
    for (const blog of blogs) {
      const rows: Array<Json> = []
      for (;;) {
        const path = `/blogs/posts/all${query}&blogId=${blog["_id"]}&status=ALL&limit=10&offset=${rows.length}`
        const { body } = await s.get(path)
        rows.push(...body["blogs"])
        if (body["blogs"].length < 10) break
      }
      all.push(...rows)
    }
    assert.deepEqual(ids(all), ids(await s.records("blog_posts")))
    const path = `/blogs/posts/all${query}&blogId=${blogs[0]!["_id"]}&limit=100&offset=0`
    const drafts = (await s.get(`${path}&status=DRAFT`)).body["blogs"] as Array<Json>
    assert.isTrue(drafts.length > 0 && drafts.every((row) => row["status"] === "DRAFT"))
    const found = (await s.get(`${path}&searchTerm=apr%C3%A8s`)).body["blogs"] as Array<Json>
    assert.isTrue(found.length > 0 && found.every((row) => row["title"].includes("après")))
    assert.deepEqual(
      await statuses([s.get(`${path}&status=OLD`), s.get(`/blogs/posts/all${query}&limit=1&offset=0`)]),
      [422, 422]
    )
  })

  it("say whether a slug is taken, except by the post itself", async () => {
    const exists = async (slug: string, more = "") =>
      (await s.get(`/blogs/posts/url-slug-exists${query}&urlSlug=${slug}${more}`)).body["exists"]
    const { _id: id, urlSlug } = (await s.records("blog_posts")).find((row) => row["urlSlug"] !== undefined)!
    assert.isFalse(await exists("cedar"))
    assert.isTrue(await exists(urlSlug))
    assert.isFalse(await exists(urlSlug, `&postId=${id}`))
    assert.equal((await s.get(`/blogs/posts/url-slug-exists${query}`)).status, 422)
  })
})

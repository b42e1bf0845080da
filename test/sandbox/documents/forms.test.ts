import { assert, describe, it } from "vitest"
import { type Json, ids, sandbox } from "../client.ts"
import { statuses, walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 900 })
const locationId = s.locationId
const query = `?locationId=${locationId}`

const kinds = [
  { list: "/forms/", path: "/forms/submissions", plural: "forms", records: "submissions", of: "formId" },
  { list: "/surveys/", path: "/surveys/submissions", plural: "surveys", records: "survey_submissions", of: "surveyId" }
]

describe.each(kinds)("$plural", ({ list, of, path, plural, records }) => {
  it("are listed completely by skip, at most 50 on a page", async () => {
    const rows = await walkAll(s, list + query, plural, plural, [undefined, 50], "skip")
    assert.equal((await s.get(`${list}${query}&limit=1`)).body["total"], rows.length)
    assert.deepEqual((await s.get(`${list}${query}&type=folder`)).body, { [plural]: [], total: 0 })
    assert.deepEqual(await statuses([s.get(list), s.get(`${list}${query}&limit=51`)]), [422, 400])
  })

  it("have submissions, by default of the last month, and of all time in pages", async () => {
    const all = await s.records(records)
    const recent = (await s.get(path + query)).body
    assert.isTrue(recent["meta"].total > 0 && recent["meta"].total < all.length)
    assert.isNull(recent["meta"].prevPage)
    for (const limit of [20, 100]) {
      const rows: Array<Json> = []
      for (let page: number | null = 1; page !== null;) {
        const range = `&startAt=2000-01-01&endAt=2999-01-01&limit=${limit}&page=${page}`
        const { body }: { body: Json } = await s.get(path + query + range)
        assert.equal(body["meta"].currentPage, page)
        rows.push(...body["submissions"])
        page = body["meta"].nextPage
      }
      assert.deepEqual(ids(rows), ids(all))
    }
    const refused = ["&limit=101", "&page=0", "&startAt=1/2/2026"]
    assert.deepEqual(await statuses(refused.map((more) => s.get(path + query + more))), [400, 422, 422])
  })

  it("have submissions that can be filtered by form, contact, name, phone and email", async () => {
    const all = await s.records(records)
    const total = async (more: string) => (await s.get(`${path}${query}&startAt=2000-01-01${more}`)).body["meta"].total
    const one = all.find((row) => row["contactId"] !== undefined && row["others"].phone !== "")!
    assert.equal(await total(`&${of}=${one[of]}`), all.filter((row) => row[of] === one[of]).length)
    for (const text of [one["contactId"], one["name"].toUpperCase(), one["others"].phone, one["others"].email]) {
      assert.isAtLeast(await total(`&q=${encodeURIComponent(text)}`), 1, text)
    }
    assert.isArray(one["others"].fieldsOriSequance)
    assert.isString(one["others"].eventData.page.url)
  })
})

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

describe("files for custom fields", () => {
  const upload = async (contactId: string, parts: ReadonlyArray<[string, Blob, string]>, headers = {}) => {
    const form = new FormData()
    for (const [name, blob, file] of parts) form.append(name, blob, file)
    const path = `/forms/upload-custom-files${query}&contactId=${contactId}`
    const all = { Version: "v3", Authorization: `Bearer ${s.token}`, ...headers }
    const response = await s.fetch(path, { method: "POST", headers: all, body: form })
    return { status: response.status, body: (await response.json()) as Json }
  }
  const pdf = new Blob(["%PDF"], { type: "application/pdf" })

  it("are stored in the contact, which is returned", async () => {
    const { customFields } = (await s.get(`/locations/${locationId}/customFields?model=contact`)).body
    const field = customFields.find((one: Json) => one["dataType"] === "FILE_UPLOAD").id
    const [contact] = await s.records("contacts")
    const id = contact!["id"]
    const { body, status } = await upload(id, [
      [`${field}_a1`, pdf, "plan.pdf"],
      [`${field}_b2`, pdf, "Photo.JPG"]
    ])
    assert.deepEqual([status, body["id"]], [200, id])
    const { value } = body["customFields"].find((one: Json) => one["id"] === field)
    assert.equal(value.a1.meta.originalname, "plan.pdf")
    assert.isDefined(value.b2)
    assert.deepEqual((await s.get(`/contacts/${id}`)).body["contact"].customFields, body["customFields"])

    const big = new Blob([new Uint8Array(50 * 1024 * 1024 + 1)])
    const wrong = [
      upload(id, [[`${field}_a1`, pdf, "run.exe"]]),
      upload(id, [[`${field}_a1`, big, "big.zip"]]),
      upload(id, [["nofield_a1", pdf, "a.pdf"]]),
      upload(id, [[field, pdf, "a.pdf"]]),
      upload(id, []),
      upload("unknown", [[`${field}_a1`, pdf, "a.pdf"]]),
      s.post(`/forms/upload-custom-files${query}&contactId=${id}`, {}),
      upload("", [[`${field}_a1`, pdf, "a.pdf"]])
    ]
    assert.deepEqual(await statuses(wrong), [415, 413, 422, 422, 422, 404, 415, 422])
  })

  it("need a field for files, its formats, and at most its number of files", async () => {
    const path = `/locations/${locationId}/customFields`
    const { customFields } = (await s.get(`${path}?model=contact`)).body
    const note = customFields.find((one: Json) => one["dataType"] === "TEXT").id
    const make = async (fields: Json) =>
      (await s.post(path, { dataType: "FILE_UPLOAD", ...fields })).body["customField"]
    const { id: two } = await make({ name: "Two", isMultipleFile: true, maxNumberOfFiles: 2 })
    const { id: one } = await make({ name: "One", isMultipleFile: false })
    const { id: pdfs } = await make({ name: "Pdfs", acceptedFormat: [".pdf"] })
    const [contact] = await s.records("contacts")
    const send = async (...names: Array<string>) =>
      (
        await upload(
          contact!["id"],
          names.map((name) => [name, pdf, "a.pdf"])
        )
      ).status
    assert.equal(await send(`${note}_a`), 422)
    assert.equal(await send(`${two}_a`, `${two}_b`, `${two}_c`), 422)
    assert.equal(await send(`${two}_a`, `${two}_b`), 200)
    assert.equal(await send(`${two}_b`), 200)
    assert.equal(await send(`${two}_c`), 422)
    assert.equal(await send(`${one}_a`, `${one}_b`), 422)
    assert.equal(await send(`${pdfs}_a`), 200)
    assert.equal((await upload(contact!["id"], [[`${pdfs}_b`, pdf, "a.png"]])).status, 415)
  })
})

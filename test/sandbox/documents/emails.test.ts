import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "../client.ts"
import { statuses, walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 300 })
const base = `/emails/locations/${s.locationId}`
const templates = `${base}/templates`
const campaigns = `${base}/campaigns/emails`

const create = async (body: Json = {}): Promise<Json> =>
  (await s.post(templates, { name: "Hello", editorType: "html", ...body })).body
const folder = async (name: string): Promise<Json> => (await s.post(`${templates}/folders`, { name })).body
const all = async (query: string): Promise<Array<Json>> => {
  const rows: Array<Json> = []
  for (;;) {
    const { body } = await s.get(`${templates}?limit=20&offset=${rows.length}${query}`)
    rows.push(...body["items"])
    if (body["items"].length < 20) return rows
  }
}

describe("email templates", () => {
  it("are listed with their folders, latest change first, by default 10 and at most 20", async () => {
    const { body } = await s.get(templates)
    assert.equal(body["items"].length, 10)
    assert.isString(body["traceId"])
    const [open, archived] = [await all(""), await all("&archived=true")]
    assert.equal(open.length, body["total"])
    const known = [...(await s.records("email_templates")), ...(await s.records("email_template_folders"))]
    assert.deepEqual([...open, ...archived].map((row) => row["id"]).sort(), known.map((row) => row["id"]).sort())
    const dates = open.map((row) => row["updatedAt"])
    assert.deepEqual(dates, dates.toSorted().toReversed())
    assert.isTrue(archived.length > 0 && archived.every((row) => row["type"] === "template"))
    const [refused, unsorted] = [`${templates}?limit=21`, `${templates}?sortBy=name`]
    assert.deepEqual(await statuses([s.get(refused), s.get(`${templates}?limit=0`), s.get(unsorted)]), [400, 422, 422])
  })

  it("can be filtered by folder, kind and name", async () => {
    const folders = await all("&include=folders")
    assert.isTrue(folders.length > 5 && folders.every((row) => row["type"] === "folder"))
    const full = folders.find((row) => row["hasChildren"])!
    const inside = await all(`&folderId=${full["id"]}`)
    assert.equal(inside.length + (await all(`&folderId=${full["id"]}&archived=true`)).length, full["childCount"])
    const everyRow = (rows: ReadonlyArray<Json>, holds: (row: Json) => boolean, query: string): void => {
      assert.isNotEmpty(rows, query)
      assert.isTrue(rows.every(holds), query)
    }
    everyRow(inside, (row) => row["parentFolderId"] === full["id"], "folderId")
    everyRow(await all("&folderId=root"), (row) => row["parentFolderId"] === undefined, "root")
    everyRow(await all("&search=DECK"), (row) => /deck/i.test(row["name"]), "search")
    everyRow(await all("&include=templates&sortOrder=asc"), (row) => row["type"] === "template", "include")
  })

  it("can be created with content, and the subject is read as `subject` and written as `subjectLine`", async () => {
    const { id: parentFolderId } = await folder("Letters")
    const fields = { subjectLine: "Hi", editorContent: "<p>Hi</p>", parentFolderId, fromEmail: "a@b.example" }
    const { body, status } = await s.post(templates, { name: "Hello", editorType: "html", ...fields })
    assert.deepEqual([status, body["subjectLine"], body["subject"], body["deleted"]], [201, "Hi", undefined, false])
    assert.isUndefined(body["editorContent"])
    const read = (await s.get(`${templates}/${body["id"]}`)).body
    assert.deepEqual([read["subject"], read["subjectLine"], read["parentFolderId"]], ["Hi", undefined, parentFolderId])
    assert.isString(read["traceId"])
    const listed = (await all(`&folderId=${parentFolderId}`))[0]!
    assert.deepEqual([listed["id"], listed["subject"], listed["isPlainText"]], [body["id"], undefined, false])
    const bad = [
      { editorType: "builder" },
      { name: "" },
      { parentFolderId: "none" },
      { parentFolderId: body["id"] },
      { userId: "nobody" }
    ]
    for (const fields of bad) {
      assert.equal((await s.post(templates, { name: "x", editorType: "text", ...fields })).status, 422)
    }
  })

  it("have their content at another address, which refuses the token", async () => {
    const { id } = await create({ editorContent: "<b>unique 42</b>" })
    const { editorContentUrl } = (await s.get(`${templates}/${id}`)).body
    assert.isTrue(editorContentUrl.startsWith(s.url))
    const response = await s.fetch(editorContentUrl)
    assert.match(response.headers.get("content-type")!, /^text\/html/)
    assert.equal(await response.text(), "<b>unique 42</b>")
    assert.equal((await s.fetch(editorContentUrl, { headers: { Authorization: `Bearer ${s.token}` } })).status, 400)
    assert.equal((await s.fetch(`${editorContentUrl}x`)).status, 404)
    const [seeded] = await s.records("email_templates")
    assert.include(await (await s.fetch(seeded!["editorContentUrl"])).text(), "<p>")
    const single = (await s.get(`${templates}/${seeded!["id"]}`)).body
    assert.deepEqual({ ...single, traceId: undefined }, { ...seeded, traceId: undefined })
  })

  it("can be changed: content only with its type, archived, and moved to the top level by null", async () => {
    const { id: parentFolderId } = await folder("Old")
    const { id } = await create({ parentFolderId })
    const change = (body: Json) => s.send("PATCH", `${templates}/${id}`, body)
    assert.deepEqual(
      await statuses([change({ editorContent: "x" }), change({ editorType: "text" }), change({ archived: "true" })]),
      [422, 422, 400]
    )
    const { body } = await change({ editorContent: "plain", editorType: "text", archived: true, subjectLine: "New" })
    assert.deepEqual([body["archived"], body["subjectLine"], body["isPlainText"]], [true, "New", true])
    assert.equal(body["parentFolderId"], parentFolderId)
    assert.isUndefined((await change({ parentFolderId: null })).body["parentFolderId"])
    assert.isTrue((await all("&archived=true&folderId=root")).some((row) => row["id"] === id))
  })

  it("can be imported from a provider, and deleted", async () => {
    const from = { importProvider: "provider_a", importUrl: "https://templates.example/1" }
    const { body, status } = await s.post(`${templates}/import`, { ...from, name: "Theirs" })
    assert.deepEqual([status, body["name"]], [201, "Theirs"])
    assert.equal((await s.post(`${templates}/import`, { ...from, importUrl: "no" })).status, 422)
    assert.equal((await s.post(`${templates}/import`, { ...from, importProvider: "other" })).status, 422)
    const deleted = await s.send("DELETE", `${templates}/${body["id"]}`)
    assert.equal(deleted.body["deleted"], true)
    assert.equal((await s.get(`${templates}/${body["id"]}`)).status, 404)
    const { id } = await folder("No template")
    const unknown = await s.get(`${templates}/${id}`)
    assert.deepEqual([unknown.status, unknown.body["message"]], [404, `Template with id ${id} not found`])
    const userId = "nobody"
    const refused = [
      s.post(`${templates}/folders`, {}),
      s.post(`${templates}/folders`, { name: "x", userId }),
      s.post(`${templates}/import`, { ...from, userId }),
      s.send("PATCH", `${templates}/${(await create())["id"]}`, { userId })
    ]
    assert.deepEqual(await statuses(refused), [422, 422, 422, 422])
  })
})

describe("email campaigns", () => {
  it("and templates exist in v3 only", async () => {
    const dated = { Version: "2021-07-28" }
    assert.deepEqual(await statuses([s.get(templates, dated), s.get(campaigns, dated)]), [404, 404])
  })

  it("are listed completely and by status", async () => {
    const rows = await walkAll(s, `${campaigns}?status=all`, "campaigns", "email_campaigns", [undefined, 20])
    assert.isTrue(rows.every((row) => row["editorType"] === undefined))
    assert.isTrue(rows.some((row) => row["variations"]?.length === 2))
    const sent = (await s.get(`${campaigns}?status=sent&limit=20`)).body
    assert.equal(sent["total"], rows.filter((row) => row["status"] === "sent").length)
    assert.deepEqual(await statuses([s.get(`${campaigns}?limit=21`), s.get(`${campaigns}?status=lost`)]), [400, 422])
  })

  it("are created as drafts and read with their sender", async () => {
    const [user] = await s.records("users")
    const fields = { name: "June", editorType: "html", timeZone: "Europe/Berlin", userId: user!["id"] }
    const { body, status } = await s.post(campaigns, fields)
    assert.equal(status, 201)
    assert.deepEqual(Object.keys(body), ["id", "name", "status", "deleted", "createdAt", "updatedAt", "traceId"])
    assert.deepEqual([body["status"], body["deleted"]], ["draft", false])
    assert.equal((await s.get(`${campaigns}/${body["id"]}`)).body["editorType"], "html")
    const [seeded] = await s.records("email_campaigns")
    assert.deepEqual((await s.get(`${campaigns}/${seeded!["id"]}`)).body, seeded)
    assert.equal((await s.fetch(seeded!["editorContentUrl"])).status, 200)
    const { id: folderId } = await folder("June")
    assert.equal((await s.post(campaigns, { ...fields, parentFolderId: folderId })).status, 201)
    for (const wrong of [
      { timeZone: "Mars/Base" },
      { userId: "nobody" },
      { templateId: "none" },
      { templateId: folderId },
      { parentFolderId: "none" },
      { name: undefined }
    ]) {
      assert.equal((await s.post(campaigns, { ...fields, ...wrong })).status, 422)
    }
    assert.equal((await s.get(`${campaigns}/unknown`)).status, 404)
  })
})

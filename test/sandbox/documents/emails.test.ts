import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "../client.ts"
import { statuses, walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 300 })
const base = `/emails/locations/${s.locationId}`
const templates = `${base}/templates`
const campaigns = `${base}/campaigns/emails`

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

  it("are read with the address of their content, which refuses the token", async () => {
    const [seeded] = await s.records("email_templates")
    const { editorContentUrl } = seeded!
    assert.isTrue(editorContentUrl.startsWith(s.url))
    const response = await s.fetch(editorContentUrl)
    assert.match(response.headers.get("content-type")!, /^text\/html/)
    assert.include(await response.text(), "<p>")
    assert.equal((await s.fetch(editorContentUrl, { headers: { Authorization: `Bearer ${s.token}` } })).status, 400)
    assert.equal((await s.fetch(`${editorContentUrl}x`)).status, 404)
    const { traceId, ...single } = (await s.get(`${templates}/${seeded!["id"]}`)).body
    assert.isString(traceId)
    assert.deepEqual(single, seeded)
    const [folder] = await s.records("email_template_folders")
    const unknown = await s.get(`${templates}/${folder!["id"]}`)
    assert.deepEqual([unknown.status, unknown.body["message"]], [404, `Template with id ${folder!["id"]} not found`])
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

  it("are read with their sender and content", async () => {
    const [seeded] = await s.records("email_campaigns")
    assert.deepEqual((await s.get(`${campaigns}/${seeded!["id"]}`)).body, seeded)
    assert.equal((await s.fetch(seeded!["editorContentUrl"])).status, 200)
    assert.equal((await s.get(`${campaigns}/unknown`)).status, 404)
  })
})

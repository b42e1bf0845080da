/** Where the records of an account with files have links, and what they say about them. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "vitest"
import { type Json, listening, sandbox } from "./client.ts"
import { type LinkRow, linksOf, raw, sha256 } from "./file-client.ts"

const account = { contacts: 120, files: true, now: Date.parse("2026-11-20T00:00:00Z") }

describe("without the option", () => {
  it("links lead nowhere, and there is no second host", async () => {
    const client = await listening({ contacts: 120 })
    assert.isUndefined(client.files)
    assert.strictEqual((await client.fetch("/__sandbox/files")).status, 404)
    assert.strictEqual((await client.get("/documents/download/d000-000000000000")).status, 404)
    const [location] = await client.records("locations")
    assert.strictEqual(location!["logoUrl"], "https://files.example/logo.png")
  })
})

describe("links", () => {
  it("are in every place where the API has them", async () => {
    const places = new Set(
      (await linksOf(await sandbox(account))).map(({ collection, place }) => `${collection} ${place}`)
    )
    assert.deepStrictEqual([...places].toSorted(), expectedPlaces)
  })

  it("are the same for the same seed, and others for another seed", async () => {
    const shape = (links: ReadonlyArray<LinkRow>) => links.map((link) => ({ ...link, url: "" }))
    const [first, second] = [
      await listening({ ...account, fileTrouble: 0.2 }),
      await sandbox({ ...account, fileTrouble: 0.2 })
    ]
    assert.deepStrictEqual(shape(await linksOf(first)), shape(await linksOf(second)))
    const other = await linksOf(await sandbox({ ...account, fileTrouble: 0.2, seed: 2 }))
    assert.isEmpty(
      new Set(other.map(({ path }) => path)).intersection(new Set((await linksOf(first)).map(({ path }) => path)))
    )
  })

  it("share contents: different addresses lead to the same bytes", async () => {
    const links = await linksOf(await sandbox({ ...account, fileContents: 12 }))
    const contents = new Set(links.map(({ sha256 }) => sha256))
    assert.isAtMost(contents.size, 12)
    assert.isAbove(new Set(links.map(({ path }) => path)).size, 200)
    const usual = await linksOf(await sandbox(account))
    const distinct = new Set(usual.map(({ content }) => content)).size
    assert.isAbove(distinct, usual.length / 12)
    assert.isBelow(distinct, usual.length / 2)
  })

  it("lead to files of each kind, from none to hundreds of kilobytes", async () => {
    const links = await linksOf(await sandbox({ ...account, contacts: 1000 }))
    const types = new Set(links.map(({ contentType }) => contentType))
    for (const type of ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "application/zip"]) {
      assert.include([...types], type)
    }
    const sizes = links.map(({ bytes }) => bytes!)
    assert.strictEqual(Math.min(...sizes), 0)
    assert.isAbove(Math.max(...sizes), 200_000)
    assert.isAtMost(Math.max(...sizes), 300_000)
  })

  it("have the exact size that was set, and messages have as many as was set", async () => {
    const benchmark = { ...account, fileBytes: 50_000, messagesWithFiles: 1, messages: 500, fileContents: 400 }
    const client = await sandbox(benchmark)
    const links = await linksOf(client)
    assert.deepStrictEqual([...new Set(links.map(({ bytes }) => bytes))], [50_000])
    const messages = await client.records("messages")
    const possible = messages.filter(({ type }) => type !== 1 && type !== 10)
    assert.isAbove(possible.length, 200)
    for (const { attachments } of possible) assert.isNotEmpty(attachments)
    for (const { attachments, type } of messages) if (type === 1 || type === 10) assert.isEmpty(attachments)
  })

  it("lead to exactly one largest file, if it was requested", async () => {
    const largest = (await linksOf(await sandbox({ ...account, fileMb: 2.5 }))).filter(({ bytes }) => bytes! > 400_000)
    assert.deepStrictEqual(
      largest.map(({ bytes, place }) => [place, bytes]),
      [["attachments[]", 2_621_440]]
    )
  })

  it("have each trouble at least once, however small the share", async () => {
    const troubles = new Set(
      (await linksOf(await sandbox({ ...account, fileTrouble: 0.001 }))).map(({ trouble }) => trouble)
    )
    assert.strictEqual(troubles.size, 19)
    const none = await linksOf(await sandbox(account))
    assert.deepStrictEqual([...new Set(none.map(({ trouble }) => trouble))], ["none"])
  })

  it("of a malformed account are links too", async () => {
    const links = await linksOf(await sandbox({ ...account, world: "nasty", fileTrouble: 0.1 }))
    assert.isAbove(links.length, 200)
    assert.isEmpty(links.filter(({ path }) => path === undefined))
  })

  it("of each location of an agency lead to its own files", async () => {
    const client = await listening({ ...account, contacts: 20, locations: 2 })
    const { body } = await client.get(`/locations/search?companyId=${client.companyId}`, {
      Authorization: `Bearer ${client.agencyToken}`
    })
    const urls = (body["locations"] as ReadonlyArray<Json>).map(({ id, logoUrl }) => {
      assert.include(logoUrl, `${client.files}/${id}/`)
      return logoUrl as string
    })
    assert.strictEqual(urls.length, 2)
    for (const url of urls) assert.strictEqual((await raw(url)).status, 200)
  })
})

describe("the size and type that a record states", () => {
  it("are those of the file", async () => {
    const client = await listening(account)
    const links = new Map((await linksOf(client)).map((link) => [link.path, link]))
    const linkOf = (url: string) => links.get(new URL(url).pathname)!
    const invoices = (await client.records("invoices")).flatMap(
      ({ attachments = [] }) => attachments as ReadonlyArray<Json>
    )
    assert.isNotEmpty(invoices)
    for (const { id, name, size, type, url } of invoices) {
      assert.deepStrictEqual([size, type], [linkOf(url).bytes, linkOf(url).contentType])
      assert.match(id, /^[0-9a-f-]{36}$/)
      assert.strictEqual(name, decodeURIComponent(new URL(url).pathname.split("/").at(-1)!))
    }
  })

  it("are in the values of custom fields, by id, and a signature may be a plain link", async () => {
    const client = await listening({ ...account, contacts: 600 })
    const fields = new Map((await client.records("customFields")).map(({ dataType, id }) => [id, dataType]))
    const valuesOf = (records: ReadonlyArray<Json>, dataType: string) =>
      records.flatMap(({ customFields }) =>
        (customFields as ReadonlyArray<Json>).filter(({ id }) => fields.get(id) === dataType)
      )
    const contacts = await client.records("contacts")
    for (const { id, value } of valuesOf(contacts, "FILE_UPLOAD")) {
      for (const [uuid, file] of Object.entries(value as Record<string, Json>)) {
        const { encoding, fieldname, mimetype, originalname, size, uuid: own } = file["meta"]
        assert.deepStrictEqual([own, fieldname, encoding], [uuid, id, "7bit"])
        assert.isTrue(typeof mimetype === "string" && typeof originalname === "string" && Number.isInteger(size))
        assert.match(file["url"], /^http:\/\/127\.0\.0\.1:/)
        assert.isString(file["documentId"])
      }
    }
    const signatures = valuesOf(contacts, "SIGNATURE").map(({ value }) => value)
    assert.isTrue(signatures.some((value) => typeof value === "string"))
    assert.isTrue(signatures.some((value) => value.meta?.mimetype.startsWith("image/") && value.url.startsWith("http")))
    const deals = valuesOf(await client.records("opportunities"), "FILE_UPLOAD")
    assert.isTrue(deals.some(({ fieldValueFiles }) => fieldValueFiles?.[0]?.url.startsWith("http")))
    assert.isTrue(deals.some(({ fieldValue }) => fieldValue !== undefined))
  })
})

describe("signed links", () => {
  it("are signed anew at each read, and the record does not change", async () => {
    const client = await listening({ ...account, contacts: 600 })
    const link = (await linksOf(client)).find(
      ({ collection, place, url }) =>
        collection === "contacts" && place === "profilePhoto" && url.includes("X-Amz-Date")
    )!
    const read = async () => (await client.get(`/contacts/${link.record}`)).body["contact"] as Json
    const first = await read()
    await client.post("/__sandbox/clock", { advanceMs: 3_000 })
    const second = await read()
    assert.notStrictEqual(first["profilePhoto"], second["profilePhoto"])
    assert.strictEqual(first["profilePhoto"].split("?")[0], second["profilePhoto"].split("?")[0])
    assert.deepStrictEqual({ ...first, ...second }, { ...second })
    assert.strictEqual(first["dateUpdated"], second["dateUpdated"])
    assert.strictEqual((await raw(first["profilePhoto"])).status, 200)
    await client.post("/__sandbox/clock", { advanceMs: 3_600_000 })
    const expired = await raw(second["profilePhoto"])
    assert.strictEqual(expired.status, 403)
    assert.include(expired.body.toString(), "Request has expired")
    assert.strictEqual((await raw((await read())["profilePhoto"])).status, 200)
  })

  it("of every style can be read until they expire, and not with another signature or without one", async () => {
    const client = await listening({ ...account, contacts: 600 })
    const links = await linksOf(client)
    for (const style of ["X-Amz-Signature", "X-Goog-Signature", "sig", "Key-Pair-Id"]) {
      const { url } = links.find((link) => new URL(link.url).searchParams.has(style))!
      assert.strictEqual((await raw(url)).status, 200, style)
      assert.strictEqual((await raw(url.split("?")[0]!)).status, 403, style)
      assert.strictEqual((await raw(url.replace(/(ignature=|sig=)..../, "$10000"))).status, 403, style)
    }
    await client.post("/__sandbox/clock", { advanceMs: 3_600_001 })
    for (const { url } of links.filter(({ url }) => url.includes("?")).slice(0, 40)) {
      assert.strictEqual((await raw(url)).status, 403)
    }
  })

  it("that a list shows expired are fresh when the record is read singly", async () => {
    const client = await listening({ ...account, fileTrouble: 0.001 })
    const link = (await linksOf(client)).find(({ trouble }) => trouble === "expired")!
    assert.strictEqual(link.expected, "fetched")
    const [inList] = (await client.records("contacts", "?form=list")).filter(({ id }) => id === link.record)
    const find = ({ attachments }: Json) =>
      (attachments as ReadonlyArray<string>).find((url) => url.includes(link.path))!
    assert.strictEqual((await raw(find(inList!))).status, 403)
    const search = await client.post("/contacts/search", { locationId: client.locationId, pageLimit: 100 })
    const found = (search.body["contacts"] as ReadonlyArray<Json>).find(({ id }) => id === link.record)
    if (found !== undefined) assert.strictEqual((await raw(find(found))).status, 403)
    const single = await client.get(`/contacts/${link.record}`)
    const fresh = await raw(find(single.body["contact"]))
    assert.strictEqual(sha256(fresh.body), link.sha256)
  })
})

describe("an event", () => {
  it("has links to the file host, signed when it is sent", async () => {
    const client = await listening(account)
    const arrived = new Promise<Json>((resolve) => {
      const receiver = createServer((request, response) => {
        let text = ""
        request.on("data", (part: Buffer) => (text += part.toString()))
        request.on("end", () => {
          response.end()
          receiver.close()
          resolve(JSON.parse(text) as Json)
        })
      }).listen(0, "127.0.0.1", async () => {
        const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
        const steps = [{ type: "custom_webhook", url }]
        const { body } = await client.post("/__sandbox/workflows", { trigger: "contact_created", steps })
        const contact = (await client.records("contacts")).find(({ profilePhoto }) => profilePhoto !== undefined)!
        await client.post(`/contacts/${contact["id"]}/workflow/${body["id"]}`, {})
      })
    })
    const { profilePhoto } = await arrived
    assert.isTrue(profilePhoto.startsWith(client.files))
    assert.strictEqual((await raw(profilePhoto)).status, 200)
  })
})

describe("documents", () => {
  it("lie on the host of the API, need its token, and count as its requests", async () => {
    const client = await listening({ ...account, contacts: 600 })
    const documents = (await linksOf(client)).filter(({ url }) => url.includes("/documents/download/"))
    assert.isNotEmpty(documents)
    const { contentType, sha256: digest, url } = documents[0]!
    assert.isTrue(url.startsWith(`${client.url}/documents/download/`))
    assert.strictEqual((await raw(url, { version: "v3" })).status, 401)
    await client.post("/__sandbox/stats/reset")
    const read = await raw(url, { version: "v3", authorization: `Bearer ${client.token}` })
    assert.deepStrictEqual(
      [read.status, sha256(read.body), read.headers["content-type"]?.split(";")[0]],
      [200, digest, contentType]
    )
    const stats = (await (await client.fetch("/__sandbox/stats")).json()) as Json
    assert.deepStrictEqual(stats["requestsByOperation"], { "GET /documents/download/:documentId": 1 })
    assert.strictEqual((await client.get("/documents/download/d000-none")).status, 404)
  })
})

describe("a link that a test plants", () => {
  it("is listed like any other", async () => {
    const client = await listening(account)
    const { path, url } = (await linksOf(client))[0]!
    const [contact] = await client.records("contacts")
    await client.post("/__sandbox/edit", { collection: "contacts", id: contact!["id"], fields: { attachments: [url] } })
    const planted = (await linksOf(client)).filter(
      (link) => link.record === contact!["id"] && link.place === "attachments[]"
    )
    assert.deepStrictEqual(
      planted.map((link) => link.path),
      [path]
    )
  })
})

const expectedPlaces = [
  "blogPosts imageUrl",
  "collections image",
  "contacts attachments[]",
  "contacts customFields[].value",
  "contacts customFields[].value.url",
  "contacts customFields[].value.{}.url",
  "contacts profilePhoto",
  "conversations profilePhoto",
  "customFields picklistImageOptions[]",
  "emailTemplates previewUrl",
  "emails attachments[]",
  "estimateTemplates attachments[].url",
  "estimates attachments[].url",
  "invoiceTemplates attachments[].url",
  "invoices attachments[].url",
  "locations business.logoUrl",
  "locations logoUrl",
  "messages attachments[]",
  "opportunities customFields[].fieldValue",
  "opportunities customFields[].fieldValue.url",
  "opportunities customFields[].fieldValue.{}.url",
  "opportunities customFields[].fieldValueFiles[].url",
  "products image",
  "products medias[].url",
  "socialAccounts avatar",
  "socialPosts media[].thumbnail",
  "socialPosts media[].url",
  "submissions others.{}",
  "submissions others.{}.url",
  "submissions others.{}.{}.url",
  "surveySubmissions others.{}",
  "surveySubmissions others.{}.url",
  "surveySubmissions others.{}.{}.url",
  "templates template.attachments[]",
  "templates urlAttachments[]",
  "users profilePhoto"
]

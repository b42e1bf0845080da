/** How the second host serves the files behind links, with real requests. */
import { assert, beforeAll, describe, it } from "vitest"
import { createGunzip } from "node:zlib"
import { type Listening, listening } from "./client.ts"
import { type LinkRow, linksOf, raw, sha256, statsOf } from "./file-client.ts"

let client: Listening
let links: ReadonlyArray<LinkRow>

beforeAll(async () => {
  client = await listening({ contacts: 100, files: true, fileTrouble: 0.3, fileMb: 3 })
  links = await linksOf(client)
})

/** Links with this trouble, newly signed. */
const withTrouble = (trouble: string): ReadonlyArray<LinkRow> => {
  const found = links.filter((link) => link.trouble === trouble && !link.url.includes("/documents/"))
  assert.isNotEmpty(found, trouble)
  return found
}

/** An ordinary link of some bytes, whose response has, or has not, these headers. */
const ordinary = async (test: (headers: Awaited<ReturnType<typeof raw>>["headers"]) => boolean): Promise<LinkRow> => {
  for (const link of withTrouble("none")) {
    if (link.bytes! > 1000 && test((await raw(link.url, {}, { method: "HEAD" })).headers)) return link
  }
  throw new Error("There is no such link")
}

describe("the file host", () => {
  it("has an address of its own on the loopback interface", () => {
    assert.match(client.files ?? "", /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.notStrictEqual(client.files, client.url)
  })

  it("serves the bytes that it announces, of the kind that it names", async () => {
    const starts: Record<string, string> = {
      "image/png": "89504e470d0a1a0a",
      "image/jpeg": "ffd8ff",
      "image/gif": "474946383961",
      "image/webp": "52494646",
      "application/pdf": "255044462d",
      "application/zip": "504b0304",
      "audio/mpeg": "494433"
    }
    for (const link of withTrouble("none").slice(0, 150)) {
      const { body, headers, isWhole, status } = await raw(link.url)
      assert.strictEqual(status, 200, link.url)
      assert.isTrue(isWhole)
      assert.strictEqual(headers["content-length"], String(link.bytes))
      assert.strictEqual(headers["content-type"], link.contentType)
      assert.strictEqual(sha256(body), link.sha256)
      if (body.length > 0) assert.isTrue(body.toString("hex").startsWith(starts[link.contentType!] ?? ""))
    }
  })

  it("streams the largest file", async () => {
    const { bytes, sha256: digest, url } = links.find(({ bytes }) => bytes === 3 * 1_048_576)!
    const { body } = await raw(url)
    assert.deepStrictEqual([body.length, sha256(body)], [bytes, digest])
  })

  it("makes a file of 300 MB while it is sent", async () => {
    const large = await listening({ contacts: 5, files: true, fileMb: 300 })
    const urls = (await large.records("contacts")).flatMap(({ attachments = [] }) => attachments as Array<string>)
    const heads = await Promise.all(urls.map((url) => raw(url, {}, { method: "HEAD" })))
    const place = heads.findIndex(({ headers }) => headers["content-length"] === "314572800")
    const before = process.memoryUsage().rss
    const { body, isWhole } = await raw(urls[place]!, {}, { bytesMax: 1_000_000 })
    assert.isFalse(isWhole)
    assert.isBelow(body.length, 3_000_000)
    assert.isBelow(process.memoryUsage().rss - before, 100_000_000)
  })

  it("answers HEAD without a body, and nothing else than GET and HEAD", async () => {
    const { bytes, url } = withTrouble("none")[0]!
    const head = await raw(url, {}, { method: "HEAD" })
    assert.deepStrictEqual([head.status, head.body.length, head.headers["content-length"]], [200, 0, String(bytes)])
    assert.strictEqual((await raw(url, {}, { method: "POST" })).status, 405)
  })

  it("answers 404 for a path that is no link", async () => {
    assert.strictEqual((await raw(`${client.files}/nothing`)).status, 404)
    assert.strictEqual((await raw(`${client.files}/${client.locationId}/p00zzzz-000000000000/a.pdf`)).status, 404)
  })

  it("answers 304 to what the client has, by tag before date", async () => {
    const both = await ordinary((headers) => headers.etag !== undefined && headers["last-modified"] !== undefined)
    const { headers } = await raw(both.url)
    const [tag, date] = [headers.etag!, headers["last-modified"]!]
    assert.match(tag, /^"[^"]+"$/)
    const known = await raw(both.url, { "if-none-match": tag })
    assert.deepStrictEqual([known.status, known.body.length, known.headers.etag], [304, 0, tag])
    assert.strictEqual((await raw(both.url, { "if-modified-since": date })).status, 304)
    assert.strictEqual((await raw(both.url, { "if-none-match": '"other"', "if-modified-since": date })).status, 200)
    const older = new Date(Date.parse(date) - 1000).toUTCString()
    assert.strictEqual((await raw(both.url, { "if-modified-since": older })).status, 200)
    await ordinary((headers) => headers.etag === undefined && headers["last-modified"] !== undefined)
    await ordinary((headers) => headers.etag !== undefined && headers["last-modified"] === undefined)
  })

  it("serves a part of some files, only of the same version", async () => {
    const { bytes, url } = await ordinary(
      (headers) => headers["accept-ranges"] === "bytes" && headers.etag !== undefined
    )
    const whole = await raw(url)
    const last = bytes! - 1
    for (const [range, from, to] of [
      ["bytes=0-9", 0, 9],
      ["bytes=500-", 500, last],
      ["bytes=-7", bytes! - 7, last],
      [`bytes=10-${bytes! + 500}`, 10, last]
    ] as const) {
      const part = await raw(url, { range })
      assert.strictEqual(part.status, 206, range)
      assert.strictEqual(part.headers["content-range"], `bytes ${from}-${to}/${bytes}`)
      assert.isTrue(part.body.equals(whole.body.subarray(from, to + 1)))
    }
    assert.strictEqual((await raw(url, { range: "bytes=5-", "if-range": whole.headers.etag! })).status, 206)
    assert.strictEqual((await raw(url, { range: "bytes=5-", "if-range": '"other"' })).status, 200)
    const after = await raw(url, { range: `bytes=${bytes}-` })
    assert.deepStrictEqual([after.status, after.headers["content-range"]], [416, `bytes */${bytes}`])
  })

  it("serves other files only as a whole", async () => {
    const { bytes, url } = await ordinary((headers) => headers["accept-ranges"] !== "bytes")
    const { body, status } = await raw(url, { range: "bytes=5-9" })
    assert.deepStrictEqual([status, body.length], [200, bytes])
  })

  it("refuses and counts a request that carries a token", async () => {
    const before = (await statsOf(client))["withToken"]
    const { body, status } = await raw(withTrouble("none")[0]!.url, { authorization: `Bearer ${client.token}` })
    assert.strictEqual(status, 400)
    assert.include(body.toString(), "Only one auth mechanism allowed")
    assert.strictEqual((await statsOf(client))["withToken"], before + 1)
  })

  it("counts requests, bodies, answers without one and the most at once, until a reset", async () => {
    await client.post("/__sandbox/stats/reset")
    const { path, url } = await ordinary((headers) => headers.etag !== undefined)
    await client.post("/__sandbox/stats/reset")
    const { etag } = (await raw(url)).headers
    await raw(url, { "if-none-match": etag! })
    const slow = withTrouble("slow")[0]!
    await Promise.all([raw(slow.url), raw(slow.url), raw(slow.url)])
    const stats = await statsOf(client)
    assert.deepInclude(stats, { requests: 5, bodies: 4, notModified: 1, withToken: 0, privateHits: 0, inFlightMax: 3 })
    assert.deepStrictEqual(stats["byPath"], { [path]: 2, [slow.path]: 3 })
    await client.post("/__sandbox/stats/reset")
    assert.strictEqual((await statsOf(client))["requests"], 0)
  })
})

describe("a link with a trouble", () => {
  /** Follows redirects by hand, at most 12. */
  const follow = async (url: string): Promise<{ hops: number; end: string; status: number; body: Buffer }> => {
    for (let hops = 0; ; hops++) {
      const { body, headers, status } = await raw(url)
      if (headers.location === undefined || hops === 12) return { hops, end: url, status, body }
      url = new URL(headers.location, url).href
      if (!url.startsWith(client.files!)) return { hops: hops + 1, end: url, status, body }
    }
  }

  it("redirects one to three times, and then serves the file", async () => {
    const counts = new Set<number>()
    for (const link of withTrouble("redirect")) {
      const { body, hops, status } = await follow(link.url)
      assert.deepStrictEqual([status, sha256(body), link.expected], [200, link.sha256, "fetched"])
      counts.add(hops)
    }
    assert.deepStrictEqual([...counts].toSorted(), [1, 2, 3])
  })

  it("redirects without an end", async () => {
    assert.strictEqual((await follow(withTrouble("loop")[0]!.url)).hops, 12)
  })

  it("leads to an address that is not public, where requests are counted", async () => {
    for (const { expected, url } of withTrouble("redirectPrivate")) {
      assert.match((await follow(url)).end, /^http:\/\/(127\.0\.0\.2|169\.254|10\.|192\.168|\[)/)
      assert.strictEqual(expected, "not public")
    }
    for (const { url } of withTrouble("private")) assert.isFalse(url.startsWith(client.files!))
    assert.strictEqual((await follow(withTrouble("redirectFile")[0]!.url)).end, "file:///etc/passwd")
    const trap = withTrouble("private").find(({ url }) => /^http:\/\/127\.0\.0\.2:\d/.test(url))
    // Not every system has the address 127.0.0.2.
    if (process.platform !== "linux") return
    const before = (await statsOf(client))["privateHits"]
    await raw(trap!.url)
    assert.strictEqual((await statsOf(client))["privateHits"], before + 1)
  })

  it.each([
    ["missing", 404, "gone"],
    ["removed", 410, "gone"],
    ["forbidden", 403, "refused"]
  ])("answers without the file for good: %s", async (trouble, status, expected) => {
    const link = withTrouble(trouble)[0]!
    for (let times = 0; times < 3; times++) assert.strictEqual((await raw(link.url)).status, status)
    assert.deepStrictEqual([link.expected, link.sha256], [expected, null])
  })

  it("fails twice, and then serves the file", async () => {
    const { sha256: digest, url } = withTrouble("flaky")[0]!
    const answers = [await raw(url), await raw(url), await raw(url), await raw(url)]
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [500, 500, 200, 200]
    )
    assert.strictEqual(sha256(answers[2]!.body), digest)
  })

  it("is cut in the middle once, after which the rest or the whole can be read", async () => {
    const ranges = new Set<string>()
    for (const { bytes, sha256: digest, url } of withTrouble("cut")) {
      const first = await raw(url)
      assert.isFalse(first.isWhole)
      assert.strictEqual(first.body.length, Math.floor(bytes! / 2))
      const hasRanges = first.headers["accept-ranges"] === "bytes"
      const second = await raw(url, { range: `bytes=${first.body.length}-` })
      assert.strictEqual(second.status, hasRanges ? 206 : 200)
      const whole = hasRanges ? Buffer.concat([first.body, second.body]) : second.body
      assert.strictEqual(sha256(whole), digest)
      ranges.add(String(first.headers["accept-ranges"]))
    }
    assert.strictEqual(ranges.size, 2)
  })

  it("takes a second for its body", async () => {
    const { sha256: digest, url } = withTrouble("slow")[0]!
    const began = performance.now()
    assert.strictEqual(sha256((await raw(url)).body), digest)
    assert.isAbove(performance.now() - began, 800)
  })

  it("announces more bytes than it sends, however often it is read", async () => {
    const { url } = withTrouble("short")[0]!
    for (let times = 0; times < 2; times++) {
      const { body, headers, isWhole } = await raw(url)
      assert.isFalse(isWhole)
      assert.isBelow(body.length, Number(headers["content-length"]))
    }
  })

  it("announces another type than the bytes have", async () => {
    const picture = withTrouble("pictureAsPage")[0]!
    const page = withTrouble("pageAsPicture")[0]!
    const [first, second] = [await raw(picture.url), await raw(page.url)]
    assert.strictEqual(first.headers["content-type"], "text/html")
    assert.strictEqual(first.body.toString("latin1", 1, 4), "PNG")
    assert.deepStrictEqual([picture.contentType, picture.sentType], ["image/png", "text/html"])
    assert.strictEqual(second.headers["content-type"], "image/png")
    assert.include(second.body.toString(), "<script>")
    assert.strictEqual(sha256(second.body), page.sha256)
  })

  it("is compressed without being requested, and inflates to a gigabyte", { tags: ["slow"] }, async () => {
    const { expected, url } = withTrouble("bomb")[0]!
    const { body, headers } = await raw(url, { "accept-encoding": "identity" })
    assert.strictEqual(headers["content-encoding"], "gzip")
    assert.isBelow(body.length, 3_000_000)
    let bytes = 0
    const unzip = createGunzip({ chunkSize: 1_048_576 })
    unzip.end(body)
    for await (const part of unzip) bytes += (part as Buffer).length
    assert.deepStrictEqual([bytes, expected], [1024 ** 3, "too large"])
  })

  it("has neither a length nor an end", async () => {
    const { body, headers, isWhole } = await raw(withTrouble("endless")[0]!.url, {}, { bytesMax: 20_000_000 })
    assert.isUndefined(headers["content-length"])
    assert.isFalse(isWhole)
    assert.isAbove(body.length, 20_000_000)
  })

  it("has a name that leads out of the folder", async () => {
    const names = await Promise.all(
      withTrouble("name").map(async ({ url }) => (await raw(url)).headers["content-disposition"])
    )
    assert.isTrue(names.some((name) => name?.includes("..")))
  })
})

describe("POST /__sandbox/files", () => {
  it("sets another content, which changes the validators, and another trouble", async () => {
    const link = await ordinary((headers) => headers.etag !== undefined)
    const before = await raw(link.url)
    const content = (link.content! + 10) % 40
    await client.post("/__sandbox/files", { path: link.path, content })
    const after = await raw(link.url, { "if-none-match": before.headers.etag! })
    assert.strictEqual(after.status, 200)
    const changed = (await linksOf(client)).find(({ path }) => path === link.path)!
    assert.deepStrictEqual([sha256(after.body), changed.content], [changed.sha256, content])
    await client.post("/__sandbox/files", { path: link.path, trouble: "removed" })
    assert.strictEqual((await raw(link.url)).status, 410)
  })

  it("sets a link that never sends its body", async () => {
    const { path, url } = withTrouble("none")[3]!
    await client.post("/__sandbox/files", { path, trouble: "stall" })
    const response = await fetch(url)
    assert.strictEqual(response.status, 200)
    const late = new Promise((resolve) => setTimeout(() => resolve("late"), 300))
    assert.strictEqual(await Promise.race([response.text().catch(() => "failed"), late]), "late")
  })

  it("refuses what it does not know", async () => {
    const { path } = withTrouble("none")[4]!
    for (const body of [{ path: "/nothing" }, { path, trouble: "flood" }, { path, content: 1e6 }, {}]) {
      assert.strictEqual((await client.post("/__sandbox/files", body)).status, 400)
    }
  })
})

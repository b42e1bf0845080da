/** What is sent or copied in parts, to a service in memory whose answers come in any order. */
import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import type { Requests } from "../../src/stores/objects/bucket.ts"
import { abortUploads, copyObject, prepareFile, putFile } from "../../src/stores/objects/object.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

type Send = Requests["send"]

/** `failing`: the part, from 1, that the service refuses. `isLost`: the end is carried out, and its first answer is lost. */
const service = (
  seed: number,
  { failing, isLost = false }: { readonly failing?: number; readonly isLost?: boolean } = {}
) => {
  const random = randomFrom(seed)
  const objects = new Map<string, string>()
  const uploads = new Map<string, { readonly key: string; readonly parts: Map<number, string> }>()
  const counts = { together: 0, most: 0, parts: 0 }
  const answer = (status: number, body = "", headers: Record<string, string> = {}) => ({
    status,
    headers: new Headers(headers),
    body: Buffer.from(body)
  })
  const tagOf = (text: string) => `"${createHash("md5").update(text).digest("hex")}"`
  const part = async (upload: string, number: number, text: string) => {
    counts.parts++
    counts.most = Math.max(counts.most, ++counts.together)
    if (number === failing) {
      counts.together--
      throw new Error(`part ${number} is refused`)
    }
    for (let turns = Math.floor(random() * 6); turns > 0; turns--) await setImmediate()
    counts.together--
    uploads.get(upload)!.parts.set(number, text)
    return tagOf(text)
  }
  const send: Send = async (method, name, { query = {}, headers = {}, body } = {}) => {
    const key = `a/${name}`
    const upload = query["uploadId"] ?? ""
    if (method === "POST" && "uploads" in query) {
      const id = `upload-${uploads.size}`
      uploads.set(id, { key, parts: new Map() })
      return answer(200, `<UploadId>${id}</UploadId>`)
    }
    if (method === "GET")
      return answer(
        200,
        [...uploads]
          .filter(([, one]) => one.key.startsWith(query["prefix"] ?? ""))
          .map(([id, one]) => `<Upload><Key>${one.key}</Key><UploadId>${id}</UploadId></Upload>`)
          .join("")
      )
    if (method === "DELETE") return answer(uploads.delete(upload) ? 204 : 404)
    if (method === "PUT" && upload !== "") {
      const range = (headers as Record<string, string>)["x-amz-copy-source-range"]
      const tag = await part(upload, Number(query["partNumber"]), range ?? String(body))
      return range === undefined ? answer(200, "", { etag: tag }) : answer(200, `<ETag>${tag}</ETag>`)
    }
    if (method === "PUT") objects.set(key, String(body))
    if (method === "POST") {
      const { parts } = uploads.get(upload)!
      const listed = [...String(body).matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)</g)]
      assert.deepStrictEqual(
        listed.map(([, number, tag]) => [Number(number), tag]),
        [...parts].toSorted(([one], [other]) => one - other).map(([number, text]) => [number, tagOf(text)]),
        "each part is named with its own tag, in order"
      )
      objects.set(key, listed.map(([, number]) => parts.get(Number(number))).join(""))
      uploads.delete(upload)
      return answer(isLost ? 404 : 200)
    }
    const found = objects.get(key)
    return found === undefined ? answer(404) : answer(200, "", { "content-length": String(lengthOf(found)) })
  }
  const requests: Requests = { place: "s3://objects/a", bucket: "objects", prefix: "a/", send }
  return { requests, objects, uploads, counts }
}

const rangesIn = (text: string) =>
  [...text.matchAll(/bytes=(\d+)-(\d+)/g)].map(([, from, to]) => [Number(from), Number(to)])
const lengthOf = (text: string) => {
  const ranges = rangesIn(text)
  return ranges.length === 0 ? text.length : ranges.reduce((sum, [from, to]) => sum + to! - from! + 1, 0)
}

describe("an object in parts", () => {
  it("is the file, whatever its size and that of a part; a part that fails leaves no upload of this object", async () => {
    const path = join(newFolder(), "file")
    for (let seed = 1; seed <= 40; seed++) {
      const random = randomFrom(seed)
      const below = (n: number) => Math.floor(random() * n)
      const text = Array.from({ length: below(40) }, () => "abcdefgh"[below(8)]).join("")
      writeFileSync(path, text)
      const least = 1 + below(12)
      const prepared = await prepareFile(path, least)
      const parts = Math.max(1, Math.ceil(text.length / least))
      const failing = seed % 3 === 0 && parts > 1 ? 1 + below(parts) : undefined
      const { counts, objects, requests, uploads } = service(seed, {
        isLost: seed % 2 === 0,
        ...(failing !== undefined && { failing })
      })
      await requests.send("POST", "one.csv", { query: { uploads: "" } })
      const sent = putFile(requests, "one", prepared).then(
        () => "sent",
        ({ message }: Error) => message
      )
      assert.strictEqual(await sent, failing === undefined ? "sent" : `part ${failing} is refused`)
      await prepared.close()
      assert.strictEqual(objects.get("a/one"), failing === undefined ? text : undefined, `seed ${seed}`)
      assert.deepStrictEqual(
        [...uploads.values()].map(({ key }) => key),
        ["a/one.csv"],
        "that of another object stays"
      )
      if (failing !== undefined) assert.isAtMost(counts.parts, failing + 3, "none is begun after one has failed")
      else assert.strictEqual(counts.parts, parts === 1 ? 0 : parts)
      assert.isAtMost(counts.most, 4, "as many at once as the memory allows")
      const sumOf = (name: string, data: string | Buffer) => createHash(name).update(data).digest()
      const ofParts = (name: string) =>
        sumOf(
          name,
          Buffer.concat(
            Array.from({ length: parts }, (_, part) => sumOf(name, text.slice(part * least, (part + 1) * least)))
          )
        )
      assert.deepStrictEqual(prepared.content, {
        bytes: text.length,
        sha256: sumOf("sha256", text).toString("hex"),
        md5: sumOf("md5", text).toString("hex"),
        ofParts: { sha256: ofParts("sha256").toString("base64"), md5: `${ofParts("md5").toString("hex")}-${parts}` }
      })
    }
  })

  it("has no more parts than a service takes", async () => {
    const path = join(newFolder(), "file")
    for (const bytes of [9001]) {
      writeFileSync(path, "x".repeat(bytes))
      const prepared = await prepareFile(path, 1)
      assert.isAtMost(prepared.parts, 9000)
      assert.strictEqual(prepared.parts, Math.ceil(bytes / prepared.partBytes))
      await prepared.close()
    }
  })

  it("is a copy of each byte, once", async () => {
    const gb = 1024 ** 3
    for (const bytes of [5 * gb - 1, 5 * gb, 5 * gb + 1, 6 * gb, 6 * gb + 7]) {
      const { objects, requests } = service(bytes)
      if (bytes < 5 * gb) objects.set("a/copy", `bytes=0-${bytes - 1}`)
      const send: Send = (method, name, more) =>
        method === "PUT" && more?.query === undefined ? requests.send("HEAD", name) : requests.send(method, name, more)
      await copyObject({ ...requests, send }, "one", "copy", { bytes, sha256: "" })
      let next = 0
      for (const [from, to] of rangesIn(objects.get("a/copy")!)) {
        assert.strictEqual(from, next)
        assert.isTrue(to! - from! < 5 * gb, "as much as a service copies at once")
        next = to! + 1
      }
      assert.strictEqual(next, bytes)
    }
  })

  it("that was interrupted is removed, and none of an object whose name begins alike", async () => {
    const { requests, uploads } = service(1)
    for (const name of ["one", "one.csv", "one", "another"])
      await requests.send("POST", name, { query: { uploads: "" } })
    await abortUploads(requests, "one")
    assert.deepStrictEqual(
      [...uploads.values()].map(({ key }) => key),
      ["a/one.csv", "a/another"]
    )
  })
})

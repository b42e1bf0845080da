/** What is sent to a bucket, and what happens when the bucket fails. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import { createHash } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Requests, openBucket } from "../../src/stores/objects/bucket.ts"
import {
  abortUploads,
  compareObject,
  copyObject,
  isForeign,
  prepareFile,
  putFile
} from "../../src/stores/objects/object.ts"
import { type Bucket, startBucket } from "../support/bucket.ts"
import { hasObjectStore } from "../support/object-store.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const mb = 1024 * 1024

describe.skipIf(!hasObjectStore)("an object", { tags: ["slow"] }, () => {
  let bucket: Bucket
  let requests: Requests
  beforeAll(async () => {
    bucket = await startBucket("objects")
    requests = await opened()
  })
  afterAll(() => bucket.stop())

  const opened = (
    some: { readonly key?: Redacted.Redacted; readonly secret?: Redacted.Redacted } = {
      key: Redacted.make("key"),
      secret: Redacted.make("secret-5511")
    },
    outageMsMax = 5000
  ) =>
    openBucket(
      {
        place: "s3://objects/a b/c+d",
        key: undefined,
        secret: undefined,
        ...some,
        region: "us-east-1",
        endpoint: bucket.endpoint
      },
      { outageMsMax }
    )

  const fileOf = (bytes: number): string => {
    const random = randomFrom(bytes)
    const path = join(newFolder(), "file")
    writeFileSync(path, Buffer.from(Array.from({ length: bytes }, () => Math.floor(random() * 256))))
    return path
  }
  const put = async (name: string, path: string, to = requests) => {
    const prepared = await prepareFile(path, 5 * mb)
    try {
      await putFile(to, name, prepared)
      return prepared.content
    } finally {
      await prepared.close()
    }
  }
  const uploads = async () => (await requests.send("GET", "", { query: { uploads: "" } })).body.toString("utf8")
  const failed = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => "nothing failed",
      (cause: Error) => cause.message
    )

  it.each([0, 1, 12 * mb])("of %d bytes is the file, and so is a copy of it", async (bytes) => {
    const content = await put(`o${bytes}`, fileOf(bytes))
    await copyObject(requests, `o${bytes}`, `copies of/${bytes}'s`, content)
    for (const name of [`o${bytes}`, `copies of/${bytes}'s`]) {
      assert.strictEqual(await compareObject(requests, name, content), "same")
      assert.strictEqual((await requests.send("GET", name)).body.length, bytes)
    }
    const { bytes: size, md5 } = content
    const other = { bytes: size, md5: md5!, sha256: "0".repeat(64) }
    assert.notStrictEqual(await compareObject(requests, `copies of/${bytes}'s`, other), "same")
    assert.strictEqual(await compareObject(requests, "none", content), "missing")
  })

  it.each(["busy", "reset", "lost", "changed"] as const)(
    "is the file although every third request is %s",
    async (fault) => {
      let count = 0
      bucket.disturb(() => (++count % 3 === 0 ? fault : undefined))
      try {
        const [one, other] = [await put(`small-${fault}`, fileOf(100)), await put(`large-${fault}`, fileOf(11 * mb))]
        bucket.disturb(() => undefined)
        assert.strictEqual(await compareObject(requests, `small-${fault}`, one), "same")
        assert.strictEqual(await compareObject(requests, `large-${fault}`, other), "same")
        assert.notInclude(await uploads(), "<UploadId>")
      } finally {
        bucket.disturb(() => undefined)
      }
    }
  )

  it("that the service stored as something else is no success", async () => {
    bucket.disturb(({ method }) => (method === "PUT" ? "rotten" : undefined))
    const message = await failed(put("rotten", fileOf(100)))
    bucket.disturb(() => undefined)
    assert.strictEqual(message, "s3://objects/a b/c+d/rotten is another content after it was written")
  })

  it("that cannot be sent leaves no parts and names no secret", async () => {
    bucket.disturb(({ url }) => (url.includes("partNumber=2") ? "busy" : undefined))
    const message = await failed(put("cut", fileOf(11 * mb), await opened(undefined, 500)))
    bucket.disturb(() => undefined)
    assert.strictEqual(message, "PUT s3://objects/a b/c+d/cut answered 503 SlowDown")
    assert.notInclude(await uploads(), "<UploadId>")
    // What a killed process has left.
    await requests.send("POST", "left", { query: { uploads: "" } })
    await requests.send("POST", "left-by-others", { query: { uploads: "" } })
    await abortUploads(requests, "left")
    assert.include(await uploads(), "left-by-others")
    assert.notInclude(await uploads(), "left</Key>")
  })

  it("is sent with the credentials of the environment, else of a profile, else of the container", async () => {
    const seen: Array<string> = []
    bucket.disturb(({ headers }) => {
      const [, key] = /Credential=([^/]+)/.exec(headers.authorization ?? "") ?? []
      seen.push([key, headers["x-amz-security-token"]].filter(Boolean).join(" "))
      return undefined
    })
    const container = createServer((_, response) =>
      response.end(
        JSON.stringify({
          AccessKeyId: "of-container",
          SecretAccessKey: "s",
          Token: "t2",
          Expiration: new Date(Date.now() + 3_600_000).toISOString()
        })
      )
    )
    await new Promise<void>((resolve) => container.listen(0, "127.0.0.1", resolve))
    const profiles = join(newFolder(), "credentials")
    writeFileSync(profiles, "[nightly]\naws_access_key_id = of-profile\naws_secret_access_key = s\n")
    const none = { AWS_SHARED_CREDENTIALS_FILE: "/none", AWS_CONFIG_FILE: "/none", AWS_EC2_METADATA_DISABLED: "true" }
    const before = { ...process.env }
    try {
      for (const variables of [
        { AWS_ACCESS_KEY_ID: "of-environment", AWS_SECRET_ACCESS_KEY: "s", AWS_SESSION_TOKEN: "t1" },
        { AWS_SHARED_CREDENTIALS_FILE: profiles, AWS_PROFILE: "nightly" },
        { AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${(container.address() as AddressInfo).port}/role` }
      ]) {
        process.env = { ...before, ...none, ...variables }
        const own = await opened({})
        await own.send("GET", "none", { accept: [404] })
      }
      assert.deepStrictEqual(seen, ["of-environment t1", "of-profile", "of-container t2"])
      process.env = { ...before, ...none }
      assert.match(
        await failed((await opened({})).send("GET", "none")),
        /^GET s3:\/\/objects\/a b\/c\+d\/none: .*credentials/
      )
    } finally {
      process.env = before
      container.close()
      bucket.disturb(() => undefined)
    }
  })
})

describe("a file that is sent to a service", () => {
  /** Stores what it gets, with the last byte changed if `isRotten`. */
  const serving = async (isRotten: boolean) => {
    const stored = new Map<string, Buffer>()
    const server = createServer(async (request, response) => {
      const chunks: Array<Buffer> = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks)
      const path = new URL(request.url!, "http://service").pathname
      if (request.method === "PUT") stored.set(path, isRotten ? Buffer.concat([body.subarray(1), body]) : body)
      const found = stored.get(path)
      if (!found) return void response.writeHead(404).end()
      response.setHeader("etag", `"${createHash("md5").update(found).digest("hex")}"`)
      response.writeHead(200, { "content-length": request.method === "PUT" ? 0 : found.length })
      response.end(request.method === "GET" ? found : undefined)
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return { server, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }
  it.each([false, true])("is a success only if the service has it as it is (changed: %s)", async (isRotten) => {
    const { endpoint, server } = await serving(isRotten)
    const key = Redacted.make("key")
    const requests = await openBucket(
      { place: "s3://objects", key, secret: Redacted.make("secret-5511"), region: "us-east-1", endpoint },
      { outageMsMax: 500 }
    )
    const path = join(newFolder(), "file")
    writeFileSync(path, "a hundred bytes")
    const prepared = await prepareFile(path, 5 * mb)
    try {
      const problem = await putFile(requests, "one", prepared).then(
        () => undefined,
        (cause: Error) => cause.message
      )
      assert.strictEqual(problem, isRotten ? "s3://objects/one is another content after it was written" : undefined)
    } finally {
      await prepared.close()
      server.close()
    }
  })
})

describe("what a service says of an object", () => {
  const sha = (text: string) => createHash("sha256").update(text).digest("hex")
  const md5 = (text: string) => createHash("md5").update(text).digest("hex")
  const base64 = (hex: string) => Buffer.from(hex, "hex").toString("base64")
  const contentOf = (text: string, parts: number) => ({
    bytes: text.length,
    sha256: sha(text),
    md5: md5(text),
    // Of so many parts, whose sums depend on the content alone here.
    ofParts: { sha256: base64(sha(`parts of ${text}`)), md5: `${md5(`parts of ${text}`)}-${parts}` }
  })
  const saying = (headers: Readonly<Record<string, string>> | undefined): Requests => ({
    place: "s3://objects",
    bucket: "objects",
    prefix: "",
    send: async () => ({ status: headers ? 200 : 404, headers: new Headers(headers), body: Buffer.alloc(0) })
  })
  const forms: Readonly<Record<string, (text: string) => Readonly<Record<string, string>>>> = {
    "its checksum": (text) => ({ "x-amz-checksum-sha256": base64(sha(text)), etag: '"any"' }),
    "that of its parts": (text) => ({ "x-amz-checksum-sha256": `${contentOf(text, 3).ofParts.sha256}-3` }),
    "its ETag": (text) => ({ etag: `"${md5(text)}"` }),
    "that of three parts": (text) => ({ etag: `"${contentOf(text, 3).ofParts.md5}"` }),
    "that of two parts": (text) => ({ etag: `"${contentOf(text, 2).ofParts.md5}"` }),
    "an ETag with a key of its own": (text) => ({
      etag: `"${md5(`key ${text}`)}"`,
      "x-amz-server-side-encryption": "aws:kms"
    }),
    "an ETag of another kind": () => ({ etag: '"0x8D"' }),
    nothing: () => ({})
  }
  const isOfSizeOnly = /two parts|of its own|another kind|nothing/
  it.each(Object.entries(forms))(
    "%s: it is never taken for another one, nor another one for it",
    async (form, said) => {
      const content = contentOf("the content", 3)
      for (const there of ["the content", "The content", "content", "the content and more", ""]) {
        const requests = saying({ "content-length": String(there.length), ...said(there) })
        const isSame = there === "the content"
        const expected =
          there.length !== content.bytes ? "other" : isOfSizeOnly.test(form) ? "unknown" : isSame ? "same" : "other"
        assert.strictEqual(await compareObject(requests, "o", content), expected, there)
      }
      assert.strictEqual(await compareObject(saying(undefined), "o", content), "missing")
    }
  )

  it.each(Object.entries(forms))("%s: whether somebody else has put it there", async (form, said) => {
    const sums = new Set([sha("ours"), sha("earlier")])
    const isForeignTo = (text: string | undefined, bytes: number | undefined, name = "o.csv") =>
      isForeign(
        saying(text === undefined ? undefined : { "content-length": String(text.length), ...said(text) }),
        name,
        { bytes, sums }
      )
    assert.isFalse(await isForeignTo(undefined, 4))
    assert.isFalse(await isForeignTo("ours", 4))
    assert.isTrue(await isForeignTo("a stranger's", 4))
    const isSumKnown = form === "its checksum"
    assert.strictEqual(await isForeignTo("hers", 4), isSumKnown, "of the same size")
    assert.strictEqual(await isForeignTo("earlier", 4), !isSumKnown, "which is ours by its checksum alone")
    assert.strictEqual(await isForeignTo("ours", undefined), !isSumKnown, "without a size, it may be anybody's")
    assert.isFalse(await isForeignTo("ours", undefined, `${sha("ours")}.csv`), "unless it is named by its content")
  })
})

/** A bucket may refuse what does not say how it is to be encrypted: each request that makes an object says so, and no other. */
import { assert, it, onTestFinished } from "vitest"
import { type IncomingHttpHeaders, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as Redacted from "effect/Redacted"
import { openBucket } from "../../src/stores/objects/bucket.ts"

const header = "x-amz-server-side-encryption"

it.each([
  [undefined, undefined, undefined],
  ["AES256", "AES256", undefined],
  ["aws:kms", "aws:kms", undefined],
  ["aws:kms:arn:aws:kms:eu-central-1:1:key/2-3", "aws:kms", "arn:aws:kms:eu-central-1:1:key/2-3"]
])("with the setting %s", async (encryption, kind, key) => {
  const received = new Map<string, IncomingHttpHeaders>()
  const server = createServer((request, response) => {
    received.set(`${request.method} ${request.url}`, request.headers)
    request.resume().on("end", () => response.end())
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  onTestFinished(() => void server.close())
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const secret = Redacted.make("s")
  const bucket = { place: "s3://b", key: secret, secret, region: "r", endpoint, encryption }
  const { send } = await openBucket(bucket, { outageMsMax: 100 })
  const body = Buffer.from("x")
  const made = ["PUT /b/a", "PUT /b/copy", "POST /b/large?uploads="]
  await send("PUT", "a", { body })
  await send("PUT", "copy", { headers: { "x-amz-copy-source": "/b/a" } })
  await send("POST", "large", { query: { uploads: "" } })
  await send("PUT", "large", { query: { partNumber: "1", uploadId: "u" }, body })
  await send("POST", "large", { query: { uploadId: "u" }, body })
  await send("GET", "a")
  await send("DELETE", "a")
  assert.strictEqual(received.size, 7)
  for (const [request, headers] of received) {
    const isMade = made.includes(request)
    assert.strictEqual(headers[header], isMade ? kind : undefined, request)
    assert.strictEqual(headers[`${header}-aws-kms-key-id`], isMade ? key : undefined, request)
    if (isMade && kind !== undefined) assert.include(headers.authorization, header, "it is signed")
  }
})

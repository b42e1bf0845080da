/** Requests to a service that checks signatures, as the library of the service's makers computes them. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import { type IncomingHttpHeaders, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { openBucket } from "../../src/stores/objects/bucket.ts"
import { listVersions } from "../../src/stores/objects/list.ts"
import {
  compareObject,
  copyObject,
  prepareFile,
  putBytes,
  putFile,
  removeObject
} from "../../src/stores/objects/object.ts"
import { hasObjectStore, startStrictStore } from "../support/object-store.ts"
import { newFolder } from "../support/sluice.ts"

describe.skipIf(!hasObjectStore)("a signature", { tags: ["slow"] }, () => {
  let store: Awaited<ReturnType<typeof startStrictStore>>
  beforeAll(async () => {
    store = await startStrictStore("signed")
  })
  afterAll(() => store?.stop())

  const open = (secret: string) =>
    openBucket(
      {
        place: "s3://signed/a b/c+d!(x)'*~/ö",
        key: Redacted.make(store.key),
        secret: Redacted.make(secret),
        region: "us-east-1",
        endpoint: store.url
      },
      { outageMsMax: 1000 }
    )

  it("is right for names with any characters, parts, copies and lists", async () => {
    const requests = await open(store.secret)
    await putBytes(requests, "x y=1&z.json", "{}")
    const path = join(newFolder(), "file")
    writeFileSync(path, Buffer.alloc(11 * 1024 * 1024, 7))
    const prepared = await prepareFile(path, 5 * 1024 * 1024)
    await putFile(requests, "objects/large", prepared)
    await prepared.close()
    await copyObject(requests, "objects/large", "copies of/it's", prepared.content)
    assert.strictEqual(await compareObject(requests, "copies of/it's", prepared.content), "same")
    await removeObject(requests, "objects/large")
    assert.deepStrictEqual(
      (await listVersions(requests))?.map(({ name }) => name),
      ["copies of/it's", "x y=1&z.json"]
    )
  })

  it("of another secret is refused at once, and the error names none", async () => {
    const requests = await open("another-secret-0001")
    const message = await putBytes(requests, "x", "{}").then(
      () => "",
      (cause: Error) => cause.message
    )
    assert.strictEqual(message, "PUT s3://signed/a b/c+d!(x)'*~/ö/x answered 403 SignatureDoesNotMatch")
  })
})

it("a request names the key, the day, the region and the service, and never the secret", async () => {
  let headers: IncomingHttpHeaders = {}
  const server = createServer((request, response) => {
    headers = request.headers
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const requests = await openBucket(
    {
      place: "s3://signed",
      key: Redacted.make("the-key"),
      secret: Redacted.make("the-secret-77"),
      region: "eu-central-1",
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    },
    { outageMsMax: 500 }
  )
  await requests.send("GET", "a b")
  server.close()
  assert.match(headers.authorization!, /^AWS4-HMAC-SHA256 Credential=the-key\/\d{8}\/eu-central-1\/s3\/aws4_request, /)
  assert.match(headers.authorization!, /Signature=[0-9a-f]{64}$/)
  assert.notInclude(JSON.stringify(headers), "the-secret-77")
})

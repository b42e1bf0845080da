import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { post } from "../../../../src/features/operations/signals/http.ts"
import type { Secret } from "../../../../src/values/setting.ts"
import { wrong } from "../../../../src/values/finding.ts"
import { type Receiver, startReceiver } from "../../../support/receiver.ts"

let receiver: Receiver
beforeAll(async () => void (receiver = await startReceiver()))
afterAll(() => receiver.stop())
beforeEach(() => {
  receiver.received.length = 0
  receiver.answer = 200
})

const secretOf = (address: string): Secret => ({
  reference: "env:HOOK",
  read: () => Result.succeed(Redacted.make(address))
})
const key = "s3cret-part"
const posted = (address = `${receiver.url}/hook/${key}?key=${key}`) => post(secretOf(address), { body: "{}" })

describe("a report to a server", () => {
  it("that answers is sent once", async () => {
    assert.isUndefined(await posted())
    assert.deepStrictEqual(
      receiver.received.map(({ method, path, type, body }) => [method, path, type, String(body)]),
      [["POST", `/hook/${key}`, "application/json", "{}"]]
    )
  })
  it("that answers 500 is sent twice, and then a problem without the address", async () => {
    receiver.answer = 500
    assert.strictEqual(await posted(), "it answered with status 500")
    assert.lengthOf(receiver.received, 2)
  })
  it("that never answers ends soon, and is a problem without the address", async () => {
    receiver.answer = "hang"
    const start = performance.now()
    assert.strictEqual(await posted(), "it gave no answer within 3 s")
    assert.isBelow(performance.now() - start, 10_000)
    assert.lengthOf(receiver.received, 2)
  })
  it("that begins an answer without an end does not wait for it", async () => {
    const server = createServer((_, response) => void response.writeHead(200).write("begun"))
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    try {
      assert.isUndefined(await posted(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
  it("that drops the connection, or that is not there, is a problem without the address", async () => {
    const server = createServer((request) => request.socket.destroy())
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${key}`
    assert.match((await posted(address))!, /^it cannot be reached \([A-Z_]+\)$/)
    await new Promise((done) => server.close(done))
    assert.strictEqual(await posted(address), "it cannot be reached (ECONNREFUSED)")
  })
  it("is not tried with an address that is none, or that cannot be read", async () => {
    for (const address of [key, `file:///${key}`, `ftp://${key}`])
      assert.strictEqual(await posted(address), "its address is no http or https address")
    const read = () =>
      Result.fail(
        wrong("signals.webhook_url", {
          _tag: "SecretUnavailable" as const,
          reference: "env:HOOK",
          cause: "the variable is not set"
        })
      )
    assert.strictEqual(
      await post({ reference: "env:HOOK", read }, { body: "{}" }),
      "its address cannot be read: the variable is not set"
    )
  })
})

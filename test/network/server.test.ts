/** The one server over HTTP: which address is which route, and who may use it. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { readFile } from "node:fs/promises"
import { request } from "node:http"
import { type Socket, connect } from "node:net"
import { HttpError, type Role, attempt, attemptToEnd, serveRoutes } from "../../src/network/server.ts"

const send = (
  port: number,
  method: string,
  path: string,
  headers: Readonly<Record<string, string | number>> = {},
  body = ""
) =>
  Effect.promise(
    () =>
      new Promise<readonly [status: number, text: string]>((resolve, reject) => {
        const outgoing = request({ host: "127.0.0.1", port, method, path, headers, agent: false }, (incoming) => {
          let text = ""
          incoming.on("data", (part) => (text += part))
          incoming.once("end", () => resolve([incoming.statusCode!, text]))
        })
        outgoing.once("error", reject)
        outgoing.end(method === "POST" ? body : undefined)
      })
  )

const servingWith = (connections?: number) =>
  serveRoutes<{ readonly role: Role }>(
    {
      "GET /open": { right: "anyone", answer: () => Effect.succeed({ is: "open" }) },
      "GET /form": { right: "visitor", answer: () => Effect.succeed({ is: "form" }) },
      "GET /seen": { right: "reader", answer: () => Effect.succeed({ is: "seen" }) },
      "POST /done": { bytes: 20, answer: ({ body }) => Effect.succeed({ body }) },
      "GET /lost": { answer: () => attempt(() => readFile("/nowhere/secret folder/at all")) },
      "GET /broken": { answer: () => attempt(() => Promise.reject(new Error("it is broken"))) },
      "GET /full": {
        cost: () => Promise.reject(new HttpError(503, "later", "Too much is done.")),
        answer: () => Effect.succeed({})
      }
    },
    {
      checkOrigin: ({ headers }) => {
        if (headers["x-from"] !== "here") throw new HttpError(403, "origin", "It comes from elsewhere.")
      },
      whoSends: ({ headers }) => {
        const role = headers["x-role"]
        if (role !== "owner" && role !== "reader") throw new HttpError(401, "token", "Nobody knows you.")
        return { role }
      }
    },
    { host: "127.0.0.1", port: 0, ...(connections !== undefined && { connections }) }
  )
const serving = servingWith()

const here = { "x-from": "here" }
const [owner, reader] = [
  { ...here, "x-role": "owner" },
  { ...here, "x-role": "reader" }
]
const everyone = [{}, { "x-role": "owner" }, here, reader, owner]

it.effect("a route is for the owner, unless it says for whom it is", () =>
  Effect.gen(function* () {
    const { port } = yield* serving
    const statuses = (method: string, path: string) =>
      Effect.forEach(everyone, (who) => Effect.map(send(port, method, path, who, "{}"), ([status]) => status))
    assert.deepStrictEqual(yield* statuses("GET", "/open"), [200, 200, 200, 200, 200])
    assert.deepStrictEqual(yield* statuses("GET", "/form"), [403, 403, 200, 200, 200])
    assert.deepStrictEqual(yield* statuses("GET", "/seen"), [403, 403, 401, 200, 200])
    assert.deepStrictEqual(yield* statuses("POST", "/done"), [403, 403, 401, 403, 200])
    // Only someone with access learns that an address does not exist.
    assert.deepStrictEqual(yield* statuses("GET", "/nowhere"), [403, 403, 401, 404, 404])
    assert.deepStrictEqual(yield* statuses("DELETE", "/done"), [403, 403, 401, 404, 404])
  })
)

it.effect("an address has one spelling, and HEAD says what GET would", () =>
  Effect.gen(function* () {
    const { port } = yield* serving
    for (const path of ["/seen/", "/SEEN", "//seen", "/%73een", "/seen;x", "//evil/seen", "/x/../../seen/", "*"])
      assert.strictEqual((yield* send(port, "GET", path, owner))[0], 404, path)
    assert.strictEqual((yield* send(port, "GET", "/seen%", owner))[0], 400)
    for (const path of ["/open", "/seen?x=1", "/nowhere"]) {
      const [get, head] = [yield* send(port, "GET", path, owner), yield* send(port, "HEAD", path, owner)]
      assert.deepStrictEqual(head, [get[0], ""], path)
    }
  })
)

it.effect("a body is read up to its limit, and by nobody before it is known who sends it", () =>
  Effect.gen(function* () {
    const { port } = yield* serving
    const done = (body: string, who: Readonly<Record<string, string>> = owner) =>
      Effect.map(send(port, "POST", "/done", who, body), ([status]) => status)
    assert.deepStrictEqual(yield* send(port, "POST", "/done", owner, '{"a":1}'), [200, '{"body":{"a":1}}'])
    for (const body of ["", "[]", "null", '"x"', "{"]) assert.strictEqual(yield* done(body), 400, body)
    assert.strictEqual(yield* done(`{"a":"${"x".repeat(20)}"}`), 413)
    assert.strictEqual(yield* done("x".repeat(100_000), reader), 403)
    assert.strictEqual(yield* done("x".repeat(100_000), here), 401)
  })
)

it.effect("every failure has one shape, and the headers of every answer", () =>
  Effect.gen(function* () {
    const { port } = yield* serving
    const broken = yield* send(port, "GET", "/broken", owner)
    assert.deepStrictEqual(broken, [500, '{"error":{"code":"failed","message":"it is broken"}}'])
    // Where a file is, is for the log.
    const lost = yield* send(port, "GET", "/lost", owner)
    assert.strictEqual(lost[0], 500)
    assert.notInclude(lost[1], "/nowhere")
    const full = yield* send(port, "GET", "/full", owner)
    assert.deepStrictEqual(full, [503, '{"error":{"code":"later","message":"Too much is done."}}'])
    for (const path of ["/open", "/broken", "/nowhere"]) {
      const { headers } = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}${path}`, { headers: owner }))
      const [cache, sniff, frame] = ["cache-control", "x-content-type-options", "x-frame-options"]
      assert.deepStrictEqual(
        [headers.get(cache!), headers.get(sniff!), headers.get(frame!)],
        ["no-store", "nosniff", "DENY"]
      )
    }
  })
)

it.live("a connection that sends nothing, or half a header, holds its place for seconds", () =>
  Effect.gen(function* () {
    const { port } = yield* servingWith(2)
    const held = ["", "GET /open HTTP/1.1\r\nHost: a"].map((text) => {
      const socket: Socket = connect(port, "127.0.0.1", () => socket.write(text))
      return new Promise((close) =>
        socket
          .on("error", () => {})
          .once("close", close)
          .resume()
      )
    })
    const [begun, tried] = [Date.now(), Effect.exit(send(port, "GET", "/open"))]
    yield* Effect.sleep(100)
    // A third one is ended before it is read.
    assert.isTrue(Exit.isFailure(yield* tried))
    yield* Effect.promise(() => Promise.all(held))
    assert.isBelow(Date.now() - begun, 15_000)
    assert.strictEqual((yield* send(port, "GET", "/open"))[0], 200)
  })
)

it.effect("what is aborted is waited for: it ends before whoever has interrupted it goes on", () =>
  Effect.gen(function* () {
    const seen: Array<string> = []
    const working = yield* Effect.forkChild(
      attemptToEnd(async (signal) => {
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => setImmediate(resolve)))
        await new Promise((resolve) => setImmediate(resolve))
        seen.push("ended")
      }),
      { startImmediately: true }
    )
    yield* Fiber.interrupt(working)
    seen.push("interrupted")
    assert.deepStrictEqual(seen, ["ended", "interrupted"])
    assert.strictEqual(yield* attemptToEnd(() => Promise.resolve(7)), 7)
    assert.deepStrictEqual(
      yield* Effect.flip(attemptToEnd(() => Promise.reject(new HttpError(400, "no", "x")))),
      new HttpError(400, "no", "x")
    )
  })
)

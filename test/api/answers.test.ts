import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { type RequestListener, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import { Api } from "../../src/api/api.ts"

/** Sends one request to a server that answers as it likes. */
const sendTo = (answer: RequestListener) =>
  Effect.gen(function* () {
    const server = yield* Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<ReturnType<typeof createServer>>((resolve) => {
            const started = createServer(answer).listen(0, "127.0.0.1", () => resolve(started))
          })
      ),
      (started) => Effect.sync(() => started.close())
    )
    const { port } = server.address() as AddressInfo
    const request = { method: "GET" as const, path: "/x", parameters: {} }
    return yield* Effect.flatMap(Api, (api) => api.send({ request, priority: 1, resource: "x" })).pipe(
      Effect.provide(
        Api.layer({
          baseUrl: `http://127.0.0.1:${port}`,
          credentials: { kind: "private", token: Redacted.make("t") },
          limits: { burst: 100, windowMs: 100, reservePerDay: 0 }
        })
      ),
      Effect.result
    )
  }).pipe(Effect.scoped)

describe("an answer", () => {
  it.live("that unpacks to more than we take is refused, not held in memory", () =>
    Effect.gen(function* () {
      const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, " "))
      const before = process.memoryUsage().arrayBuffers
      const result = yield* sendTo((_, response) => response.setHeader("content-encoding", "gzip").end(bomb))
      assert.match(JSON.stringify(result), /Refused.*over our limit of 16 MB/)
      assert.isBelow(process.memoryUsage().arrayBuffers - before, 150 * 1024 * 1024)
    })
  )

  it.live("is tried again after an error, a broken connection and half a body", () =>
    Effect.gen(function* () {
      const answers: Array<RequestListener> = [
        (_, response) => response.writeHead(503).end("<html>"),
        (request) => request.socket.destroy(),
        (_, response) => response.writeHead(200, { "content-length": "20" }).end('{"half":'),
        (_, response) => response.end('{"half":'),
        (_, response) => response.end('{"whole":12345678901234567890}')
      ]
      const result = yield* sendTo((request, response) => answers.shift()!(request, response))
      assert.strictEqual(result._tag, "Success")
      assert.include(JSON.stringify(result), '{"whole":12345678901234567890}')
    })
  )

  it.live("that says who we are not allowed to be is told apart by its words", () =>
    Effect.gen(function* () {
      const kinds: ReadonlyArray<readonly [number, string, string]> = [
        [401, "The token is not authorized for this scope.", "NotPermitted"],
        [401, "This route is not yet supported by the IAM Service", "NotPermitted"],
        [401, "Invalid JWT", "BadCredentials"],
        [401, "version header is invalid", "Refused"],
        [403, "The token does not have access to this location", "WrongLocation"],
        [403, "Forbidden", "NotPermitted"],
        [400, "Contact with id x not found", "Gone"],
        [404, "Not Found", "Gone"],
        [422, "limit must not be greater than 100", "Refused"]
      ]
      for (const [status, message, kind] of kinds) {
        const result = yield* sendTo((_, response) =>
          response.writeHead(status).end(JSON.stringify({ statusCode: status, message }))
        )
        assert.include(JSON.stringify(result), `"_tag":"${kind}"`, message)
      }
    })
  )
})

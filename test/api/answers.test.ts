import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { RequestListener, ServerResponse } from "node:http"
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { Limits, limitsOf } from "../../src/values/limits.ts"
import { sendTo } from "../support/api-server.ts"
import { newFolder } from "../support/sluice.ts"

const { BROTLI_PARAM_QUALITY } = constants
const encodings: Readonly<Record<string, (text: string) => Buffer>> = {
  gzip: gzipSync,
  "x-gzip": gzipSync,
  deflate: deflateSync,
  br: (text) => brotliCompressSync(text, { params: { [BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: zstdCompressSync,
  "gzip, br": (text) => brotliCompressSync(gzipSync(text)),
  identity: Buffer.from,
  // An encoding that is named but not applied.
  rot13: Buffer.from
}
const json = (status: number, message: string) => JSON.stringify({ statusCode: status, message })

describe("a response", () => {
  it.effect(
    "that decompresses to more than the limit is rejected and not held in memory",
    () =>
      Effect.gen(function* () {
        const compressedBody = gzipSync(Buffer.alloc(200 * 1024 * 1024, " "))
        const before = process.memoryUsage().arrayBuffers
        const result = yield* sendTo((_, response) =>
          response.setHeader("content-encoding", "gzip").end(compressedBody)
        )
        assert.match(JSON.stringify(result), /RequestRejected.*over our limit of 16 MB/)
        assert.isBelow(process.memoryUsage().arrayBuffers - before, 150 * 1024 * 1024)
      }),
    { tags: ["slow"] }
  )

  it.effect("is requested again after an error, a broken connection and an incomplete body", () =>
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

  it.effect("with an error is read in every content encoding", () =>
    Effect.gen(function* () {
      const text = json(422, "The limit is too high.")
      for (const [encoding, encode] of Object.entries(encodings)) {
        const result = yield* sendTo((_, response) =>
          response.writeHead(422, { "content-encoding": encoding }).end(encode(text))
        )
        assert.include(JSON.stringify(result), '"message":"422 The limit is too high."', encoding)
      }
    })
  )

  it.effect(
    "with an error whose message cannot be read is requested again, and then fails as unavailable",
    () =>
      Effect.gen(function* () {
        const text = json(401, "The token is not authorized for this scope.")
        const bodies: ReadonlyArray<readonly [encoding: string | undefined, body: Buffer]> = [
          [undefined, gzipSync(text)],
          [undefined, encodings["br"]!(text)],
          [undefined, zstdCompressSync(text)],
          ["gzip", zstdCompressSync(text)],
          ["gzip", gzipSync(text).subarray(0, 30)],
          ["base64", Buffer.from(Buffer.from(text).toString("base64"))],
          ["aes128gcm", gzipSync(text)],
          [undefined, Buffer.from(text, "utf16le")]
        ]
        for (const status of [400, 401, 403])
          for (const [encoding, body] of bodies) {
            let sent = 0
            const result = yield* sendTo((_, response) => {
              sent++
              response.writeHead(status, encoding === undefined ? {} : { "content-encoding": encoding }).end(body)
            })
            assert.match(JSON.stringify(result), /"Unavailable".*cannot be read/, `${status} ${encoding}`)
            assert.isAbove(sent, 1)
          }
      }),
    { tags: ["slow"] }
  )

  it.effect(
    "with an error is read up to the limit; one that is longer is none of the service, and is requested again",
    () =>
      Effect.gen(function* () {
        const ofLength = (status: number, length: number) => json(status, "x".repeat(length - json(status, "").length))
        const errorBytes = 300
        const crossed = new Set<string>()
        const limits = limitsOf({ api: { errorBytes } }, (name) => void crossed.add(name))
        const sent = (status: number, answer: (response: ServerResponse, n: number) => unknown) =>
          Effect.gen(function* () {
            let requests = 0
            const result = yield* sendTo(
              (_, response) => answer(response.writeHead(requests === 1 && status === 503 ? 200 : status), requests++),
              {},
              {},
              2000
            )
            return [requests, JSON.stringify(result)] as const
          }).pipe(Effect.provideService(Limits, limits))
        for (const length of [errorBytes - 1, errorBytes]) {
          const [requests, result] = yield* sent(404, (response) => response.end(ofLength(404, length)))
          assert.strictEqual(requests, 1)
          assert.include(result, "RequestRejected", String(length))
        }
        assert.isEmpty(crossed)
        for (const status of [401, 404]) {
          const [requests, result] = yield* sent(status, (response) => response.end(ofLength(status, errorBytes + 1)))
          assert.strictEqual(requests, 7)
          assert.match(result, /"Unavailable".*something else than the service/)
        }
        assert.isTrue(crossed.has("api.errorBytes"))
        const [, after] = yield* sent(503, (response, n) => response.end(n === 0 ? ofLength(503, 5000) : "[]"))
        assert.include(after, "Success")
        // One that never ends is not waited for.
        const [, endless] = yield* sent(404, (response) => {
          const timer = setInterval(() => response.write("x".repeat(100)), 1)
          response.on("close", () => clearInterval(timer))
        })
        assert.include(endless, "Unavailable")
      })
  )

  it.effect("with partial content is not accepted as complete", () =>
    Effect.gen(function* () {
      let sent = 0
      const result = yield* sendTo((_, response) =>
        sent++ === 0
          ? response.writeHead(206, { "content-range": "bytes 0-1/99" }).end("[]")
          : response.end('["whole"]')
      )
      assert.include(JSON.stringify(result), "whole")
      for (const file of [undefined, newFolder()]) {
        const alwaysPartial = yield* sendTo(
          (_, response) => response.writeHead(206).end("[]"),
          {},
          file === undefined ? {} : { file }
        )
        assert.match(JSON.stringify(alwaysPartial), /"Unavailable".*206 partial/)
      }
    })
  )

  it.effect("loses a byte order mark at its beginning, and keeps others", () =>
    Effect.gen(function* () {
      const result = yield* sendTo((_, response) => response.end('\ufeff["a\ufeffb"]'))
      assert.include(JSON.stringify(result), JSON.stringify({ bytes: Buffer.from('["a\ufeffb"]') }).slice(1, -1))
    })
  )

  it.effect("with an error that cannot be read says nothing, whatever its status", () =>
    Effect.gen(function* () {
      for (const status of [404, 422]) {
        const result = yield* sendTo((_, response) => response.writeHead(status).end(gzipSync("words")), {}, {}, 2000)
        assert.match(JSON.stringify(result), /"Unavailable".*cannot be read/)
      }
    })
  )
})

describe("a throttled request", () => {
  it.effect("is sent again until it succeeds, here after 30 refusals", () =>
    Effect.gen(function* () {
      let sent = 0
      const result = yield* sendTo((_, response) =>
        ++sent <= 30 ? response.writeHead(429).end("{}") : response.end("[]")
      )
      assert.strictEqual(result._tag, "Success")
      assert.strictEqual(sent, 31)
    })
  )

  it.effect(
    "ends with an exhausted budget once it was refused for as long as the limit says, however often it was asked",
    () =>
      Effect.gen(function* () {
        for (const minutes of [2, 4]) {
          let sent = 0
          const result = yield* sendTo(
            (_, response) => {
              sent++
              response.writeHead(429, { "retry-after": sent === 1 ? "0" : "60" }).end("{}")
            },
            {},
            {},
            5000
          ).pipe(Effect.provideService(Limits, limitsOf({ api: { throttledMs: minutes * 60_000 } })))
          assert.match(
            JSON.stringify(result),
            new RegExp(`"BudgetExhausted".*refused a request for ${minutes} minutes`)
          )
          assert.isAtLeast(sent, minutes)
          assert.isAtMost(sent, minutes + 3)
        }
      })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { RequestListener } from "node:http"
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
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
  // Named, and not done.
  rot13: Buffer.from
}
const json = (status: number, message: string) => JSON.stringify({ statusCode: status, message })

describe("an answer", () => {
  it.effect("that unpacks to more than we take is refused, not held in memory", () =>
    Effect.gen(function* () {
      const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, " "))
      const before = process.memoryUsage().arrayBuffers
      const result = yield* sendTo((_, response) => response.setHeader("content-encoding", "gzip").end(bomb))
      assert.match(JSON.stringify(result), /RequestRejected.*over our limit of 16 MB/)
      assert.isBelow(process.memoryUsage().arrayBuffers - before, 150 * 1024 * 1024)
    })
  )

  it.effect("is tried again after an error, a broken connection and half a body", () =>
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

  it.effect("that says who we are not allowed to be is told apart by its words", () =>
    Effect.gen(function* () {
      const kinds: ReadonlyArray<readonly [number, string, string]> = [
        [401, "The token is not authorized for this scope.", "Forbidden"],
        [401, "This route is not yet supported by the IAM Service", "Forbidden"],
        [401, "Invalid JWT", "BadCredentials"],
        [401, "version header is invalid", "RequestRejected"],
        [403, "The token does not have access to this location", "WrongLocation"],
        [403, "Forbidden", "Forbidden"],
        [400, "Contact with id x not found", "NotFound"],
        [404, "Not Found", "NotFound"],
        [422, "limit must not be greater than 100", "RequestRejected"]
      ]
      for (const [status, message, kind] of kinds) {
        const result = yield* sendTo((_, response) =>
          response.writeHead(status).end(JSON.stringify({ statusCode: status, message }))
        )
        assert.include(JSON.stringify(result), `"_tag":"${kind}"`, message)
      }
    })
  )

  it.effect("that is an error is read in whatever encoding it comes", () =>
    Effect.gen(function* () {
      const text = json(401, "The token is not authorized for this scope.")
      for (const [encoding, encode] of Object.entries(encodings)) {
        const result = yield* sendTo((_, response) =>
          response.writeHead(401, { "content-encoding": encoding }).end(encode(text))
        )
        assert.include(JSON.stringify(result), '"_tag":"Forbidden"', encoding)
      }
    })
  )

  it.effect("that is an error whose words cannot be read decides nothing: it is tried again, then given up", () =>
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
    })
  )

  it.effect("that is an error is told apart by its status first, however large it is", () =>
    Effect.gen(function* () {
      const large = (words: string) => Buffer.concat([Buffer.from(words), Buffer.alloc(17 * 1024 * 1024, "x")])
      for (const [status, words, kind] of [
        [401, "Invalid JWT", "BadCredentials"],
        [401, "The token is not authorized for this scope.", "Forbidden"],
        [404, "", "NotFound"]
      ] as const) {
        const result = yield* sendTo((_, response) => response.writeHead(status).end(large(words)))
        assert.include(JSON.stringify(result), `"_tag":"${kind}"`)
      }
      let sent = 0
      const result = yield* sendTo((_, response) =>
        sent++ === 0 ? response.writeHead(503).end(large("")) : response.end("[]")
      )
      assert.strictEqual(result._tag, "Success")
    })
  )

  it.effect("that is a part is not taken for the whole", () =>
    Effect.gen(function* () {
      let sent = 0
      const result = yield* sendTo((_, response) =>
        sent++ === 0
          ? response.writeHead(206, { "content-range": "bytes 0-1/99" }).end("[]")
          : response.end('["whole"]')
      )
      assert.include(JSON.stringify(result), "whole")
      for (const file of [undefined, { folder: newFolder(), name: "f" }]) {
        const never = yield* sendTo((_, response) => response.writeHead(206).end("[]"), {}, file && { file })
        assert.match(JSON.stringify(never), /"Unavailable".*206 a part/)
      }
    })
  )

  it.effect("may begin with a byte order mark, and keeps those within", () =>
    Effect.gen(function* () {
      const result = yield* sendTo((_, response) => response.end('\ufeff["a\ufeffb"]'))
      assert.include(JSON.stringify(result), JSON.stringify({ text: '["a\ufeffb"]' }).slice(1, -1))
    })
  )

  it.effect("that is an error is told apart by its status where that suffices, readable or not", () =>
    Effect.gen(function* () {
      const body = gzipSync("words")
      for (const [status, kind] of [
        [404, "NotFound"],
        [422, "RequestRejected"]
      ] as const) {
        const result = yield* sendTo((_, response) => response.writeHead(status).end(body))
        assert.include(JSON.stringify(result), `"_tag":"${kind}"`)
      }
    })
  )
})

describe("a request that is throttled", () => {
  it.effect("waits for its turn, however often it is refused", () =>
    Effect.gen(function* () {
      let sent = 0
      const result = yield* sendTo((_, response) =>
        ++sent <= 30 ? response.writeHead(429).end("{}") : response.end("[]")
      )
      assert.strictEqual(result._tag, "Success")
      assert.strictEqual(sent, 31)
    })
  )

  it.effect("for a quarter of an hour is for later, and was not asked again in a hurry", () =>
    Effect.gen(function* () {
      let sent = 0
      const result = yield* sendTo(
        (_, response) => {
          sent++
          response.writeHead(429, { "retry-after": sent === 1 ? "0" : "60" }).end("{}")
        },
        {},
        {},
        1000
      )
      assert.match(JSON.stringify(result), /"BudgetExhausted".*refused a request for 15 minutes/)
      assert.isAtMost(sent, 18)
    })
  )
})

/** What each status of the service means, and how many requests it costs: a request that cannot succeed is not repeated. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import type { RequestListener } from "node:http"
import { Api, type Call } from "../../src/stages/api/api.ts"
import { bytesWithoutSecrets, spellings, withoutSecrets } from "../../src/stages/api/response-body.ts"
import { advancingClock, callTo, sendTo, serving, settingsFor } from "../support/api-server.ts"
import { newFolder } from "../support/sluice.ts"

const sent = (answer: RequestListener, call: Partial<Call> = {}) =>
  Effect.gen(function* () {
    let requests = 0
    const result = yield* sendTo(
      (request, response) => {
        requests++
        return answer(request, response)
      },
      {},
      call,
      2000
    )
    const error = Result.isFailure(result) ? JSON.parse(JSON.stringify(result.failure)) : undefined
    return { requests, kind: error?._tag ?? "ok", error: error as Readonly<Record<string, unknown>> }
  })
const withStatus =
  (status: number, message = "no"): RequestListener =>
  (_, response) =>
    response.writeHead(status).end(JSON.stringify({ statusCode: status, message }))

describe("a status of the service", () => {
  it.effect.each([
    [200, "", "ok", 1],
    [201, "", "ok", 1],
    [299, "", "ok", 1],
    [206, "", "Unavailable", 7],
    [300, "", "RequestRejected", 1],
    [301, "", "RequestRejected", 1],
    [400, "limit is wrong", "RequestRejected", 2],
    [400, "Contact not found", "RequestRejected", 2],
    [401, "whatever it says", "BadCredentials", 2],
    [403, "whatever it says", "WrongLocation", 2],
    [404, "no", "RequestRejected", 1],
    [405, "no", "RequestRejected", 1],
    [407, "no", "RequestRejected", 1],
    [408, "no", "Unavailable", 7],
    [409, "not found", "RequestRejected", 1],
    [410, "no", "RequestRejected", 1],
    [422, "not found", "RequestRejected", 1],
    [428, "no", "RequestRejected", 1],
    [430, "no", "RequestRejected", 1],
    [499, "no", "RequestRejected", 1],
    [500, "no", "Unavailable", 7],
    [503, "no", "Unavailable", 7],
    [599, "no", "Unavailable", 7]
  ] as const)("%i %s is %s after %i requests", ([status, message, kind, requests]) =>
    Effect.gen(function* () {
      const found = yield* sent(withStatus(status, message))
      assert.deepStrictEqual([found.kind, found.requests], [kind, requests])
      if (kind === "RequestRejected") assert.strictEqual(found.error["status"], status)
      if (kind !== "ok") assert.strictEqual(found.error["answered"], status)
      if (kind === "Unavailable") assert.isFalse(found.error["later"], "the service is there")
    })
  )

  it.effect.each([
    [true, 3, "ok"],
    [false, 1, "RequestRejected"]
  ] as const)(
    "429 lets the request wait; whether it is still to be sent afterwards is evaluated then: %s",
    ([still, requests, kind]) =>
      Effect.gen(function* () {
        let [answers, checks] = [0, 0]
        const found = yield* sent(
          (_, response) =>
            ++answers < 3 ? response.writeHead(429, { "retry-after": "60" }).end("{}") : response.end("{}"),
          { isDue: Effect.sync(() => ++checks === 1 || still) }
        )
        assert.deepStrictEqual([found.requests, found.kind], [requests, kind])
        if (!still) assert.isTrue(found.error["unsent"])
      })
  )

  it.effect("that never comes means that the service is down, and not that it has an error", () =>
    Effect.gen(function* () {
      const { error, kind, requests } = yield* sent((request) => request.socket.destroy())
      assert.deepStrictEqual([kind, requests, error["later"]], ["Unavailable", 7, true])
      assert.isFalse("answered" in error)
    })
  )

  it.effect("is asked for a file three times at most", () =>
    Effect.gen(function* () {
      const { kind, requests } = yield* sent(withStatus(500), { file: newFolder() })
      assert.deepStrictEqual([kind, requests], ["Unavailable", 3])
    })
  )
})

describe("the message of an error", () => {
  it.effect.each([
    ['{"statusCode":422,"message":"no"}', "no"],
    ['{ "statusCode" : 422, "message" : "say \\"no\\"" }', "say \\no\\"],
    ['{"status":"422","message":["one","two"]}', "one,two"],
    ['{"statusCode":422,"message": [ ] , "error":"Bad"}', " "],
    ['{"error" : "Bad \\"one\\"", "field":"f", "requestId":"r"}', "Bad \\one\\"],
    ['{"error":{"statusCode":422,"message":"inside"}}', "inside"],
    [`{"statusCode":422,"message":"${"x".repeat(400)}"}`, "x".repeat(300)]
  ] as const)("%s is %s", ([body, message]) =>
    Effect.gen(function* () {
      const { error } = yield* sent((_, response) => response.writeHead(422).end(body))
      assert.strictEqual(error!["message"], `422 ${message}`)
    })
  )

  it.effect.each([400, 401, 403])(
    "that cannot be read is none: the status %i may mean anything, and is asked again",
    (status) =>
      Effect.gen(function* () {
        const { error, kind, requests } = yield* sent((_, response) =>
          response.writeHead(status, { "content-encoding": "gzip" }).end("no gzip")
        )
        assert.deepStrictEqual([kind, requests, error!["answered"]], ["Unavailable", 7, status])
        assert.match(String(error!["message"]), /with a body that cannot be read/)
      })
  )
})

describe("an answer with the status of a success", () => {
  it.effect("that is no answer is requested again, and says what it was", () =>
    Effect.gen(function* () {
      const failureIn = () => "it is not a list"
      const { error, kind, requests } = yield* sent(withStatus(200, "please wait"), { failureIn })
      assert.deepStrictEqual([kind, requests, error["answered"]], ["Unavailable", 7, 200])
      assert.match(String(error["message"]), /^it is not a list \(200 please wait\) \(after 7 attempts\)$/)
      let asked = 0
      const once = yield* sent(withStatus(200), { failureIn: () => (++asked === 1 ? "no" : undefined) })
      assert.deepStrictEqual([once.kind, once.requests], ["ok", 2])
    })
  )

  it.effect("that is no JSON is requested again, and one that is nested too deeply is not", () =>
    Effect.gen(function* () {
      const broken = yield* sent((_, response) => response.end("<html>"))
      assert.deepStrictEqual([broken.kind, broken.requests], ["Unavailable", 7])
      const deep = yield* sent((_, response) => response.end("[".repeat(200_000)))
      assert.notStrictEqual(deep.kind, "ok")
    })
  )
})

describe("a request that must not be sent", () => {
  it.effect.each(["/contacts/..", "/contacts/.", "/contacts/../notes", "/./x"])(
    "because its path means another one: %s",
    (path) =>
      Effect.gen(function* () {
        const request = { method: "GET", path, parameters: {} } as unknown as Call["request"]
        const { kind, requests } = yield* sent(withStatus(200), { request })
        assert.deepStrictEqual([kind, requests], ["RequestRejected", 0])
      })
  )

  it.effect("is none with dots in its ids", () =>
    Effect.gen(function* () {
      const request = { method: "GET", path: "/a..b/...", parameters: {} } as unknown as Call["request"]
      assert.strictEqual((yield* sent(withStatus(200), { request })).requests, 1)
    })
  )
})

it.effect(
  "requests are counted with their repetitions, each for its resource, and release their place in the window",
  () =>
    Effect.gen(function* () {
      let requests = 0
      const url = yield* serving((_, response) => response.writeHead(++requests < 3 ? 500 : 200).end("[]"))
      const counts = yield* Effect.flatMap(Api, (api) =>
        Effect.gen(function* () {
          yield* api.send(callTo("/x"))
          yield* api.send({ ...callTo("/y"), resource: "y" })
          assert.isAtLeast(api.responseMs(), 0)
          const { inWindow } = api.usage()
          assert.isAtMost(inWindow, 4)
          return Object.fromEntries(api.requestsByResource)
        })
      ).pipe(Effect.provide(Api.layer(settingsFor(url))), advancingClock)
      assert.deepStrictEqual(counts, { x: 3, y: 1 })
    }).pipe(Effect.scoped)
)

describe("a secret that the service repeats", () => {
  const [old, renewed] = ["first-token-0815", "second/token-4711"]
  /** Refuses the first token, and repeats the header and the address of the request in its answers. */
  const echoing =
    (status: number): RequestListener =>
    (request, response) => {
      const isOld = request.headers.authorization === `Bearer ${old}`
      const echo = `${request.headers.authorization} ${encodeURIComponent(renewed)} ${renewed.replace("/", "\\/")} ${old}`
      const code = isOld ? 401 : status
      response.writeHead(code).end(`{"statusCode":${code},"message":"${echo}"}`)
    }
  const answerOf = (status: number) =>
    sendTo(echoing(status), {
      credentials: {
        kind: "private",
        token: Redacted.make(old),
        readAgain: () => Result.succeed(Redacted.make(renewed))
      }
    })

  it.effect.each([200, 400, 404, 403, 500])("is in no output after the token was renewed: status %i", (status) =>
    Effect.gen(function* () {
      const result = yield* answerOf(status)
      const text = JSON.stringify(Result.isSuccess(result) ? String(result.success.bytes) : result.failure)
      assert.include(text, "<redacted>")
      for (const secret of [old, renewed, encodeURIComponent(renewed), "second", "4711"])
        assert.notInclude(text, secret)
      if (Result.isSuccess(result)) assert.notInclude(JSON.stringify(result.success.body), "4711")
    })
  )

  it("is replaced wherever it is, of any length from eight characters on, and nothing else is", () => {
    assert.strictEqual(withoutSecrets("12345678 1234567", ["1234567", "12345678"]), "<redacted> 1234567")
    const bytes = Buffer.from("a text")
    assert.strictEqual(bytesWithoutSecrets(bytes, ["12345678", "87654321"]), bytes)
    assert.strictEqual(
      String(bytesWithoutSecrets(Buffer.from("é 87654321 é"), ["12345678", "87654321"])),
      "é <redacted> é"
    )
    assert.deepStrictEqual(spellings("a/b&c/d&e"), ["a/b&c/d&e", "a%2Fb%26c%2Fd%26e", String.raw`a\/b&c\/d&e`])
  })

  it.effect("is none of its own after a refresh: neither the access token nor the next refresh token", () =>
    Effect.gen(function* () {
      let issued = 0
      const result = yield* sendTo(
        (request, response) => {
          if (request.url === "/oauth/token")
            return response.end(
              JSON.stringify({ access_token: `access-token-${++issued}`, refresh_token: `refresh-token-${issued}` })
            )
          if (request.headers.authorization === "Bearer access-token-1")
            return response.writeHead(401).end('{"statusCode":401,"message":"Invalid JWT"}')
          return response
            .writeHead(422)
            .end(
              '{"statusCode":422,"message":"access-token-1 access-token-2 refresh-token-1 refresh-token-2 client-secret configured-token"}'
            )
        },
        {
          credentials: {
            kind: "oauth",
            clientId: "client",
            clientSecret: Redacted.make("client-secret"),
            refreshToken: Redacted.make("configured-token"),
            store: `${newFolder()}/tokens.json`
          }
        }
      )
      assert.strictEqual(issued, 2)
      assert.match(JSON.stringify(result), /"message":"422 (<redacted> ?){6}"/)
    })
  )
})

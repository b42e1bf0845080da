import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { IncomingMessage, ServerResponse } from "node:http"
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type SendForm, makeCredentials } from "../../src/stages/api/credentials.ts"
import { Api } from "../../src/stages/api/api.ts"
import { callTo, advancingClock, sendTo, serving, settingsFor } from "../support/api-server.ts"
import { newFolder } from "../support/sluice.ts"

const oauth = () => ({
  kind: "oauth" as const,
  clientId: "client",
  clientSecret: Redacted.make("secret-0815"),
  refreshToken: Redacted.make("refresh-4711"),
  store: join(newFolder(), "tokens.json")
})
const issued = (n: number, more: object = {}) => ({
  access_token: `access-${n}`,
  refresh_token: `refresh-${n}`,
  ...more
})
const form =
  (status: number, body: unknown): SendForm =>
  () =>
    Effect.succeed({ status, body: typeof body === "string" ? body : JSON.stringify(body) })

describe("a renewal", () => {
  it.effect("happens a minute before the token expires, or a tenth of its lifetime if that is shorter", () =>
    Effect.gen(function* () {
      for (const [lifetime, before, after] of [
        [86_399, 86_330, 10],
        ["600", 530, 20],
        [30, 26, 2]
      ] as const) {
        let renewals = 0
        const credentials = yield* makeCredentials(oauth(), (path, fields) => {
          renewals++
          return form(200, issued(renewals, { expires_in: lifetime }))(path, fields)
        })
        for (const [seconds, expected] of [
          [0, 1],
          [before, 1],
          [after, 2]
        ] as const) {
          yield* TestClock.adjust(seconds * 1000)
          assert.strictEqual(yield* credentials.token, `access-${expected}`, String(lifetime))
        }
      }
    }).pipe(Effect.scoped)
  )

  it.effect("of tokens that an earlier version stored happens a minute before they expire", () =>
    Effect.gen(function* () {
      for (const [secondsLeft, expected] of [
        [61, "access-stored"],
        [59, "access-1"]
      ] as const) {
        const settings = oauth()
        const tokens = { accessToken: "access-stored", refreshToken: "refresh-4711", origin: "esh-4711" }
        const expiresAt = (yield* Clock.currentTimeMillis) + secondsLeft * 1000
        mkdirSync(dirname(settings.store), { recursive: true })
        writeFileSync(settings.store, JSON.stringify({ ...tokens, expiresAt }))
        const credentials = yield* makeCredentials(settings, form(200, issued(1)))
        assert.strictEqual(yield* credentials.token, expected)
      }
    }).pipe(Effect.scoped)
  )

  it.effect.each([
    [{}],
    [{ refresh_token: "" }],
    [{ refresh_token: null, expires_in: {}, error: null, message: ["issued"], scope: 7 }],
    [{ refresh_token: 17, expires_in: "soon", error_description: false }]
  ])("without a usable refresh token keeps the one before: %j", ([more]) =>
    Effect.gen(function* () {
      const sent: Array<string | undefined> = []
      const credentials = yield* makeCredentials(oauth(), (path, fields) => {
        sent.push(fields["refresh_token"])
        return form(200, { access_token: `access-${sent.length}`, ...more })(path, fields)
      })
      assert.strictEqual(yield* credentials.token, "access-1")
      yield* TestClock.adjust("2 days")
      assert.strictEqual(yield* credentials.token, "access-2")
      assert.deepStrictEqual(sent, ["refresh-4711", "refresh-4711"])
    }).pipe(Effect.scoped)
  )

  it.effect("is not made while the stored token lasts, unless the settings have another refresh token", () =>
    Effect.gen(function* () {
      const settings = oauth()
      const sent: Array<string | undefined> = []
      const tokenWith = (refreshToken: string) =>
        Effect.flatMap(
          makeCredentials({ ...settings, refreshToken: Redacted.make(refreshToken) }, (path, fields) => {
            sent.push(fields["refresh_token"])
            return form(200, issued(sent.length, { expires_in: 600 }))(path, fields)
          }),
          ({ token }) => token
        )
      assert.strictEqual(yield* tokenWith("refresh-4711"), "access-1")
      assert.strictEqual(yield* tokenWith("refresh-4711"), "access-1")
      assert.strictEqual(yield* tokenWith("of another app"), "access-2")
      assert.deepStrictEqual(sent, ["refresh-4711", "of another app"])
      writeFileSync(settings.store, "{")
      assert.strictEqual(yield* tokenWith("of another app"), "access-3", "a file that cannot be read is none")
    }).pipe(Effect.scoped)
  )

  it.effect("that fails states the reason, and whether the tokens are refused", () =>
    Effect.gen(function* () {
      const kinds: ReadonlyArray<readonly [number, unknown, RegExp]> = [
        [
          400,
          { error: "invalid_grant", error_description: "refresh-4711 is invalid" },
          /"BadCredentials".*invalid_grant: <redacted>/
        ],
        [401, { error: "invalid_client" }, /"BadCredentials".*invalid_client/],
        [400, { error: { code: "invalid_grant", message: "expired" } }, /"BadCredentials".*invalid_grant: expired/],
        [400, { message: ["invalid_grant", "expired"] }, /"BadCredentials".*invalid_grant: expired/],
        [400, { errors: [{ message: "invalid_grant" }] }, /"BadCredentials".*invalid_grant/],
        [200, {}, /"BadCredentials"/],
        [401, issued(1), /"BadCredentials"/],
        [500, { message: "Location is busy" }, /"TransportError"/],
        [408, { message: "Location is slow" }, /"TransportError"/],
        [400, { error: "temporarily_unavailable" }, /"TransportError"/],
        [200, { error: { code: "server_error" } }, /"TransportError"/],
        [400, { statusCode: 400, message: "Location is not active" }, /"Unavailable".*paused.*"later":true/],
        [502, "<html>", /"TransportError"/],
        [400, "<html>", /"TransportError"/],
        [503, { message: "Location is busy" }, /"TransportError"/],
        [429, { message: "Too many" }, /"TransportError"/]
      ]
      for (const [status, body, expected] of kinds) {
        const { token } = yield* makeCredentials(oauth(), form(status, body))
        assert.match(JSON.stringify(yield* Effect.result(token)), expected)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("asks for no token that it has no room for, and removes the room if there is no token", () =>
    Effect.gen(function* () {
      let requests = 0
      const counted: SendForm = (path, fields) => {
        requests++
        return form(503, "busy")(path, fields)
      }
      const settings = oauth()
      const blocked = { ...settings, store: join(settings.store, "tokens.json") }
      writeFileSync(settings.store, "")
      const { token } = yield* makeCredentials(blocked, counted)
      assert.match(JSON.stringify(yield* Effect.result(token)), /"FileFailed"/)
      assert.strictEqual(requests, 0)
      const other = oauth()
      yield* Effect.result((yield* makeCredentials(other, counted)).token)
      assert.deepStrictEqual([requests, readdirSync(dirname(other.store))], [1, []])
    }).pipe(Effect.scoped)
  )

  it.effect("whose token cannot be stored keeps it, uses it, and stores it as soon as possible", () =>
    Effect.gen(function* () {
      for (const end of ["later", "at the end"]) {
        const settings = oauth()
        const part = `${settings.store}.part`
        yield* Effect.scoped(
          Effect.gen(function* () {
            const credentials = yield* makeCredentials(settings, (path, fields) => {
              rmSync(part)
              mkdirSync(part)
              return form(200, issued(1))(path, fields)
            })
            assert.strictEqual(yield* credentials.token, "access-1")
            assert.isFalse(existsSync(settings.store))
            rmSync(part, { recursive: true })
            if (end === "at the end") return
            yield* TestClock.adjust("9 seconds")
            yield* credentials.token
            assert.isFalse(existsSync(settings.store))
            yield* TestClock.adjust("1 second")
            yield* credentials.token
            assert.include(readFileSync(settings.store, "utf8"), "refresh-1")
          })
        )
        assert.include(readFileSync(settings.store, "utf8"), "refresh-1")
      }
    })
  )

  it.effect("that has begun is completed and stored when the run is interrupted", () =>
    Effect.gen(function* () {
      const settings = oauth()
      const sent = yield* Deferred.make<void>()
      const answered = yield* Deferred.make<void>()
      const { token } = yield* makeCredentials(settings, () =>
        Deferred.succeed(sent, undefined).pipe(
          Effect.andThen(Deferred.await(answered)),
          Effect.as({ status: 200, body: JSON.stringify(issued(1)) })
        )
      )
      const waiting = yield* Effect.forkChild(token)
      yield* Deferred.await(sent)
      const ending = yield* Effect.forkChild(Fiber.interrupt(waiting))
      yield* Effect.yieldNow
      yield* Deferred.succeed(answered, undefined)
      yield* Fiber.join(ending)
      assert.include(readFileSync(settings.store, "utf8"), "refresh-1")
    }).pipe(Effect.scoped)
  )
})

const waitUntil = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe("a refused token", () => {
  /** Issues tokens, and accepts those for which `isAccepted` is true. */
  const account = (isAccepted: (n: number) => boolean, onRefused?: () => Promise<void>) => {
    const counts = { issued: 0, refused: 0 }
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      if (request.url === "/oauth/token")
        return void response.end(JSON.stringify(issued(++counts.issued, { expires_in: 86_399 })))
      if (isAccepted(Number(/\d+$/.exec(request.headers.authorization!)![0]))) return void response.end("[]")
      counts.refused++
      await onRefused?.()
      response.writeHead(401).end('{"statusCode":401,"message":"Invalid JWT"}')
    }
    return { answer, counts }
  }

  it.effect("is renewed once, and the request fails if the new token is refused as well", () =>
    Effect.gen(function* () {
      const second = account((n) => n > 1)
      const result = yield* sendTo(second.answer, { credentials: oauth() })
      assert.strictEqual(result._tag, "Success")
      assert.deepStrictEqual(second.counts, { issued: 2, refused: 1 })
      const none = account(() => false)
      const failed = yield* sendTo(none.answer, { credentials: oauth() })
      assert.match(JSON.stringify(failed), /"BadCredentials".*"oauth".*Invalid JWT/)
      assert.deepStrictEqual(none.counts, { issued: 2, refused: 3 })
    })
  )

  it.effect("is replaced by a token that another request has renewed, and renewed again if that one is refused", () =>
    Effect.gen(function* () {
      let allowed = 1
      const waiting: Array<() => void> = []
      const { answer, counts } = account(
        (n) => n >= allowed,
        // The first refusal is delayed until the other request has renewed the token.
        () => new Promise((resolve) => (waiting.length === 0 ? waiting.push(resolve) : resolve()))
      )
      const url = yield* serving(answer)
      const calls = Effect.gen(function* () {
        const api = yield* Api
        const send = (path: string) => api.send(callTo(path))
        yield* send("/first")
        allowed = 2
        const slow = yield* Effect.forkChild(send("/slow"))
        yield* Effect.promise(() => waitUntil(() => waiting.length === 1))
        yield* send("/quick")
        // The newest token expires while the refusal of the old one is in flight.
        allowed = 3
        waiting[0]!()
        yield* Fiber.join(slow)
      })
      const result = yield* calls.pipe(
        Effect.provide(Api.layer({ ...settingsFor(url), credentials: oauth() })),
        advancingClock,
        Effect.result
      )
      assert.strictEqual(result._tag, "Success", JSON.stringify(result))
      // A token that was accepted is refused twice, and by a control, before it is renewed.
      assert.deepStrictEqual(counts, { issued: 3, refused: 7 })
    }).pipe(Effect.scoped)
  )
})

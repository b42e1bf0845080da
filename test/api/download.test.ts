/** Files that the service itself has: they need the token, and cost requests of the budget. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import type { RequestListener } from "node:http"
import { Api } from "../../src/stages/api/api.ts"
import { advancingClock, serving, settingsFor } from "../support/api-server.ts"
import { newFolder } from "../support/sluice.ts"

/** Downloads the files `/1` to `/count` at once. `tokens`: the first one, and those that are found when it is read again. */
const download = (answer: RequestListener, { count = 1, tokens = ["t1"] } = {}) =>
  Effect.gen(function* () {
    const [first, ...later] = tokens
    const sent: Array<string> = []
    const url = yield* serving((request, response) => {
      sent.push(`${request.url} ${request.headers.authorization}`)
      return answer(request, response)
    })
    let renewals = 0
    const readAgain = () => {
      renewals++
      return Result.succeed(Redacted.make(later.shift() ?? first!))
    }
    const folder = newFolder()
    const found = yield* Effect.flatMap(Api, (api) =>
      Effect.all(
        Array.from({ length: count }, (_, index) =>
          api.download({ url: `${url}/${index + 1}`, folder, accepts: () => true }, "files")
        ),
        { concurrency: "unbounded" }
      )
    ).pipe(
      Effect.provide(
        Api.layer({
          ...settingsFor(url),
          credentials: { kind: "private", token: Redacted.make(first!), readAgain }
        })
      ),
      advancingClock
    )
    return { found, renewals, sent }
  }).pipe(Effect.scoped)

const isRefused =
  (token: string): RequestListener =>
  (request, response) =>
    request.headers.authorization === `Bearer ${token}` ? response.writeHead(401).end() : response.end(request.url)

describe("a file of the service", () => {
  it.effect("is requested with the newest token, once the one before is refused", () =>
    Effect.gen(function* () {
      const { found, renewals, sent } = yield* download(isRefused("t1"), { count: 3, tokens: ["t1", "t2"] })
      assert.deepStrictEqual(
        found.map(({ status }) => status),
        ["fetched", "fetched", "fetched"]
      )
      assert.strictEqual(renewals, 1)
      assert.lengthOf(sent, 6)
    })
  )

  it.effect("that is refused with every token is no reason to renew it for each, nor to end the run", () =>
    Effect.gen(function* () {
      const { found, renewals, sent } = yield* download(isRefused("t1"), { count: 3 })
      for (const one of found) assert.deepInclude(one, { status: "refused", reason: "the host answers 401" })
      assert.strictEqual(renewals, 1)
      assert.lengthOf(sent, 3)
    })
  )

  it.effect("waits while the service refuses requests, and has not failed then", () =>
    Effect.gen(function* () {
      let refusals = 5
      const { found, sent } = yield* download((_, response) =>
        refusals-- > 0 ? response.writeHead(429, { "retry-after": "1" }).end() : response.end("x")
      )
      assert.strictEqual(found[0]!.status, "fetched")
      assert.lengthOf(sent, 6)
    })
  )

  it.effect("is requested three times if the service fails", () =>
    Effect.gen(function* () {
      const { found, sent } = yield* download((_, response) => response.writeHead(503).end())
      assert.deepInclude(found[0], { status: "failed", reason: "the host answers 503", isUnanswered: false })
      assert.lengthOf(sent, 3)
    })
  )

  it.effect(
    "that redirects to another host is requested there without the token, which a 401 of that host does not renew",
    () =>
      Effect.gen(function* () {
        const elsewhere: Array<string | undefined> = []
        const other = yield* serving((request, response) => {
          elsewhere.push(request.headers.authorization)
          response.writeHead(401).end()
        })
        const { found, renewals } = yield* download((_, response) =>
          response.writeHead(302, { location: `${other}/file` }).end()
        )
        assert.deepInclude(found[0], { status: "refused" })
        assert.deepStrictEqual(elsewhere, [undefined])
        assert.strictEqual(renewals, 0)
      }).pipe(Effect.scoped)
  )
})

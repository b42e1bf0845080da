/** What a status of another host means for a file, how often it is asked, and how long it is waited for. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { mkdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { Dispatcher } from "undici"
import { Api } from "../../src/stages/api/api.ts"
import { type SendForm, makeCredentials } from "../../src/stages/api/credentials.ts"
import { limitTo, usualLimits } from "../../src/values/limits.ts"
import { fetchFile } from "../../src/stages/api/fetch-file.ts"
import { advancingClock, serving, settingsFor } from "../support/api-server.ts"
import { newFolder } from "../support/sluice.ts"

/** A host in this process, whose n-th answer has this status and these headers. */
const fetched = async (
  statusOf: (n: number) => number,
  headers: Readonly<Record<string, string>> = {},
  attempts?: number
) => {
  let requests = 0
  const dispatcher = {
    dispatch: (_: unknown, handler: Required<Dispatcher.DispatchHandler>) => {
      const controller = { abort: () => {}, pause: () => {}, resume: () => {} } as never
      const status = statusOf(++requests)
      handler.onRequestStart(controller, undefined)
      handler.onResponseStart(controller, status, headers, "")
      handler.onResponseData(controller, Buffer.from("a text of the host"))
      handler.onResponseEnd(controller, {})
      return true
    }
  } as unknown as Dispatcher
  const result = await fetchFile(
    { dispatcher, check: () => Promise.resolve() },
    {
      url: "https://host.example/file",
      folder: newFolder(),
      bytesMax: 1000,
      accepts: () => true,
      signal: new AbortController().signal,
      ...(attempts !== undefined && { attempts: limitTo(attempts) })
    },
    usualLimits.api
  )
  return { requests, result, status: result.status }
}

describe("a file of which the host answers", () => {
  it.each([
    [200, "fetched", 1],
    [404, "gone", 1],
    [410, "gone", 1],
    [401, "refused", 1],
    [403, "refused", 1],
    [400, "failed", 1],
    [402, "failed", 1],
    [405, "failed", 1],
    [409, "failed", 1],
    [416, "failed", 1],
    [204, "failed", 1],
    [304, "failed", 1]
  ])("%i is %s after %i request", async (status, expected, requests) => {
    const found = await fetched(() => status)
    assert.deepStrictEqual([found.status, found.requests], [expected, requests])
    if (expected !== "fetched") assert.include(found.result, { reason: `the host answers ${status}` })
  })

  it.each([408, 429, 500, 503])("%i is asked again, and fetched if the next answer is a file", async (status) => {
    const found = await fetched((n) => (n === 1 ? status : 200), { "retry-after": "0" }, 2)
    assert.deepStrictEqual([found.status, found.requests], ["fetched", 2])
    const never = await fetched(() => status, {}, 1)
    assert.deepInclude(never.result, { status: "failed", reason: `the host answers ${status}`, isUnanswered: false })
    assert.strictEqual(never.requests, 1)
  })

  it("a part of it is not taken for the whole, and it is asked again", async () => {
    const part = await fetched(() => 206, { "content-range": "bytes 0-4/900" }, 1)
    assert.deepStrictEqual([part.status, part.requests], ["failed", 1])
    const whole = await fetched((n) => (n === 1 ? 206 : 200), {}, 2)
    assert.deepStrictEqual([whole.status, whole.requests], ["fetched", 2])
  })

  it("that it is to wait for longer than half a minute, which is left to the next run", async () => {
    const found = await fetched(() => 429, { "retry-after": "31" })
    assert.deepStrictEqual([found.status, found.requests], ["failed", 1])
  })
})

it.effect("a file of the service is not fetched after the deadline of the run", () =>
  Effect.gen(function* () {
    let requests = 0
    const url = yield* serving((_, response) => {
      requests++
      response.end("file")
    })
    const now = yield* Clock.currentTimeMillis
    const outcome = (path: string, deadline: number) =>
      Effect.flatMap(Api, (api) => api.download({ url: path, folder: newFolder(), accepts: () => true }, "files")).pipe(
        Effect.provide(Api.layer({ ...settingsFor(url), limits: { ...settingsFor(url).limits, deadline } })),
        Effect.result,
        advancingClock
      )
    for (const path of [`${url}/file`, "http://127.0.0.1:1/other"])
      assert.match(JSON.stringify(yield* outcome(path, now)), /"BudgetExhausted".*the deadline has passed/)
    assert.strictEqual(requests, 0)
    assert.include(
      JSON.stringify(yield* outcome(`${url}/file`, (yield* Clock.currentTimeMillis) + 3_600_000)),
      '"fetched"'
    )
  }).pipe(Effect.scoped)
)

it.effect("a refreshed token that cannot be stored twice is stored at the third attempt, and used meanwhile", () =>
  Effect.gen(function* () {
    const store = join(newFolder(), "tokens.json")
    const part = `${store}.part`
    const sendForm: SendForm = () =>
      Effect.sync(() => {
        rmSync(part)
        mkdirSync(part)
        return { status: 200, body: JSON.stringify({ access_token: "access-1", refresh_token: "refresh-1" }) }
      })
    const settings = {
      kind: "oauth",
      clientId: "c",
      clientSecret: Redacted.make("secret-0815"),
      refreshToken: Redacted.make("refresh-0"),
      store
    } as const
    const credentials = yield* makeCredentials(settings, sendForm)
    for (const seconds of [0, 10, 10]) {
      yield* TestClock.adjust(seconds * 1000)
      assert.strictEqual(yield* credentials.token, "access-1")
    }
    rmSync(part, { recursive: true })
    yield* TestClock.adjust("10 seconds")
    yield* credentials.token
    assert.include(readFileSync(store, "utf8"), "refresh-1")
    assert.includeMembers([...credentials.secrets], ["access-1", "refresh-1", "secret-0815", "refresh-0"])
  }).pipe(Effect.scoped)
)

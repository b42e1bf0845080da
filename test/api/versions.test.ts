/** The version of the API: where the service refuses the usual one for a family of routes, another one is tried once. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { RequestListener } from "node:http"
import { Api } from "../../src/stages/api/api.ts"
import { isOfAgency } from "../../src/stages/api/token-kind.ts"
import { advancingClock, callTo, serving, settingsFor } from "../support/api-server.ts"

const sending = (answer: RequestListener, paths: ReadonlyArray<string>, version?: string) =>
  Effect.gen(function* () {
    const sent: Array<string> = []
    const url = yield* serving((request, response) => {
      sent.push(`${request.headers["version"]} ${request.url}`)
      return answer(request, response)
    })
    const settings = { ...settingsFor(url), location: "L", ...(version !== undefined && { version }) }
    const results = yield* Effect.flatMap(Api, (api) =>
      Effect.forEach(paths, (path) => Effect.result(api.send({ ...callTo(path), pathTemplate: path })))
    ).pipe(Effect.provide(Api.layer(settings)), (all) => advancingClock(all, 1000))
    return { kinds: results.map((one) => (one._tag === "Success" ? "ok" : one.failure._tag)), sent }
  }).pipe(Effect.scoped)

/** Refuses the version for conversations, in any words and with any status that is seen. */
const refusing =
  (status: number, versions: ReadonlyArray<string>): RequestListener =>
  (request, response) =>
    request.url!.startsWith("/conversations") && versions.includes(String(request.headers["version"]))
      ? response.writeHead(status).end(JSON.stringify({ statusCode: status, message: "any words" }))
      : response.end("[]")

describe("a version", () => {
  it.effect.each([400, 401, 403])("that is refused for a family of routes is replaced for that family: %i", (status) =>
    Effect.gen(function* () {
      const paths = ["/contacts", "/conversations/search", "/conversations/c/messages", "/contacts/x"]
      const { kinds, sent } = yield* sending(refusing(status, ["v3"]), paths)
      assert.deepStrictEqual(kinds, ["ok", "ok", "ok", "ok"])
      assert.deepStrictEqual(sent.slice(-2), ["2021-07-28 /conversations/c/messages", "v3 /contacts/x"])
    })
  )

  it.effect("that is refused as well costs one request for the family", () =>
    Effect.gen(function* () {
      const { kinds, sent } = yield* sending(refusing(401, ["v3", "2021-07-28"]), [
        "/contacts",
        "/conversations/search",
        "/conversations/c/messages"
      ])
      assert.deepStrictEqual(kinds, ["ok", "Forbidden", "Forbidden"])
      assert.lengthOf(
        sent.filter((one) => one.startsWith("2021")),
        1
      )
    })
  )

  it.effect("is that of the settings", () =>
    Effect.gen(function* () {
      const { sent } = yield* sending(refusing(401, []), ["/contacts"], "2021-07-28")
      assert.deepStrictEqual(sent, ["2021-07-28 /contacts"])
    })
  )
})

describe("a token", () => {
  it.effect.each<readonly [string, number, unknown, boolean]>([
    ["that reads other locations is an agency's", 200, { locations: [{ id: "L" }, { id: "M" }] }, true],
    ["that reads its own location is the location's", 200, { locations: [{ id: "L" }] }, false],
    ["that may not ask for locations is not known to be an agency's", 401, { statusCode: 401, message: "no" }, false]
  ])("%s", ([, status, body, expected]) =>
    Effect.gen(function* () {
      const url = yield* serving((request, response) =>
        request.url!.startsWith("/locations/search")
          ? response.writeHead(status).end(JSON.stringify(body))
          : response.end("{}")
      )
      const found = yield* isOfAgency("L", undefined).pipe(
        Effect.provide(Api.layer({ ...settingsFor(url), location: "L" })),
        advancingClock
      )
      assert.strictEqual(found, expected)
    }).pipe(Effect.scoped)
  )
})

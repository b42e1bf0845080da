/** What an answer means: its status, who speaks, and, for a conclusion about the token or the location, what a control says. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import type { RequestListener, ServerResponse } from "node:http"
import { isSame, kindOfId, neverIssued, refusalIn } from "../../src/stages/api/author.ts"
import { sendTo } from "../support/api-server.ts"
import { randomFrom } from "../support/random.ts"

type Answer = readonly [status: number, body: string, type?: string]
const send = (response: ServerResponse, [status, body, type = "application/json"]: Answer) =>
  response.writeHead(status, { "content-type": type }).end(body)

const own = (status: number, message: unknown = "any sentence"): Answer => [
  status,
  JSON.stringify({ statusCode: status, message })
]
const data: Answer = [200, '{"location":{"id":"L"}}']

/** Each author, with what it sends. */
const authors: Readonly<Record<string, ReadonlyArray<(status: number) => Answer>>> = {
  service: [
    own,
    (status) => own(status, ["one", "two"]),
    (status) => [status, JSON.stringify({ status, message: "m", name: "HttpException", traceId: "t" })],
    (status) => [status, JSON.stringify({ error: { statusCode: status, message: "inside" } })]
  ],
  between: [
    (status) => [status, "<!DOCTYPE html><title>Just a moment…</title>", "text/html"],
    (status) => [status, JSON.stringify({ statusCode: status, message: "no" }), "text/html"],
    (status) => [status, '{"message":"no Route matched with those values"}'],
    (status) => [status, JSON.stringify({ statusCode: status + 1, message: "of another status" })],
    (status) => [status, JSON.stringify([{ statusCode: status, message: "in a list" }])],
    (status) => [status, '"a text"'],
    (status) => [status, "default backend", "text/plain"]
  ],
  unknown: [(status) => [status, ""]]
}

/** Sends a request for contacts to a service whose record of the location is the control. */
const meaningOf = (contacts: Answer, control: Answer | "reset" = data) =>
  Effect.gen(function* () {
    const counts = { contacts: 0, controls: 0 }
    const answer: RequestListener = (request, response) => {
      const isControl = request.url!.startsWith("/locations/") || request.url!.startsWith("/workflows/")
      counts[isControl ? "controls" : "contacts"]++
      if (!isControl) return send(response, contacts)
      return control === "reset" ? request.socket.destroy() : send(response, control)
    }
    const request = { method: "GET", path: "/contacts", parameters: {} } as const
    const result = yield* sendTo(answer, { location: "L" }, { request, pathTemplate: "/contacts" }, 2000)
    return { kind: Result.isFailure(result) ? result.failure._tag : "ok", result, ...counts }
  })

describe("a status means", () => {
  const statuses = [400, 401, 402, 403, 404, 405, 409, 410, 418, 422, 451]
  it.effect.each(statuses)("%i: something only if the service itself sends it", (status) =>
    Effect.gen(function* () {
      for (const answer of authors["service"]!) {
        const { contacts, controls, kind } = yield* meaningOf(answer(status))
        const isRefusal = status === 401 || status === 403
        assert.deepStrictEqual(
          [kind, contacts, controls],
          // Once for a family of routes, the other version of the API is tried.
          isRefusal ? ["Forbidden", 3, 1] : ["RequestRejected", status === 400 ? 2 : 1, 0],
          answer(status)[1]
        )
      }
      for (const answer of [...authors["between"]!, ...authors["unknown"]!]) {
        const { contacts, controls, kind } = yield* meaningOf(answer(status))
        assert.deepStrictEqual([kind, contacts, controls], ["Unavailable", 7, 0], answer(status)[1])
      }
    })
  )

  it.effect.each([408, 500, 502, 503, 599])("%i: not now, whoever sends it", (status) =>
    Effect.gen(function* () {
      for (const answer of Object.values(authors).flat())
        assert.deepStrictEqual((yield* meaningOf(answer(status))).kind, "Unavailable")
    })
  )

  it.effect("in one sentence, what answered in place of the service", () =>
    Effect.gen(function* () {
      const { result } = yield* meaningOf([403, "<html>", "text/html"])
      assert.match(JSON.stringify(result), /"isBetween":true/)
      assert.match(
        JSON.stringify(result),
        /403 from something else than the service, such as a firewall or a proxy \(text\/html\)/
      )
    })
  )
})

describe("a refusal concludes something about the token or the location", () => {
  it.effect.each<readonly [string, number, Answer | "reset", string]>([
    ["401", 401, data, "Forbidden"],
    ["403", 403, data, "Forbidden"],
    ["401 and a control with 401", 401, own(401), "BadCredentials"],
    ["401 and a control with 403", 401, own(403), "WrongLocation"],
    ["403 and a control with 401", 403, own(401), "BadCredentials"],
    ["403 and a control with 403", 403, own(403), "WrongLocation"],
    ["401 and a control that is a page", 401, [401, "<html>", "text/html"], "Unavailable"],
    ["403 and a control that fails", 403, own(500), "Unavailable"],
    ["401 and a control without an answer", 401, "reset", "Unavailable"],
    ["401 and a control that is not found", 401, own(404), "Unavailable"]
  ])("only by its control: %s", ([, status, control, kind]) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* meaningOf(own(status), control)).kind, kind)
    })
  )

  it.effect("and one refusal among answers concludes nothing", () =>
    Effect.gen(function* () {
      for (const status of [401, 403]) {
        let requests = 0
        const result = yield* sendTo((_, response) => send(response, ++requests === 1 ? own(status) : data), {
          location: "L"
        })
        assert.deepStrictEqual([result._tag, requests], ["Success", 2])
      }
    })
  )

  it.effect("and a private token that is replaced meanwhile is read again", () =>
    Effect.gen(function* () {
      const result = yield* sendTo(
        (request, response) => send(response, request.headers.authorization === "Bearer new" ? data : own(401)),
        {
          location: "L",
          credentials: {
            kind: "private",
            token: Redacted.make("old"),
            readAgain: () => Result.succeed(Redacted.make("new"))
          }
        }
      )
      assert.strictEqual(result._tag, "Success")
    })
  )
})

describe("the form of a refusal", () => {
  const random = randomFrom(7)
  const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
  const idOf = (length: number) => Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join("")
  const refusal = (body: unknown, status = 404) =>
    refusalIn(status, Buffer.from(JSON.stringify(body)), "application/json")

  it("is the same for every id, whatever is said of it, and not for another status, type, member or text", () => {
    for (let n = 0; n < 200; n++) {
      const [one, other] = [idOf(20), idOf(20)]
      const words = Array.from({ length: 1 + Math.floor(random() * 6) }, () => idOf(1 + Math.floor(random() * 7)))
      const said = (id: string) => ({
        statusCode: 404,
        message: [...words, id, ...words].join(" "),
        id,
        traceId: `${idOf(8)}-1-${idOf(12)}`,
        at: 1.7e12 + n
      })
      const form = { refusal: refusal(said(one)), ids: [one] }
      assert.isTrue(isSame(form, { refusal: refusal(said(other)), ids: [other] }), said(one).message)
      for (const different of [
        refusal(said(other), 400),
        refusal({ ...said(other), message: `${words.join(" ")} about the owner` }),
        refusal({ ...said(other), field: "more" }),
        refusalIn(404, Buffer.from(JSON.stringify(said(other))), "text/html")
      ])
        assert.isFalse(isSame(form, { refusal: different, ids: [other] }), different)
    }
  })

  it("is asked for with an id of the same kind that is always the same, and never the one it is made from", () => {
    for (const id of [idOf(20), idOf(24), "507f1f77bcf86cd799439011", "6a1f-00b2_1700000000000_3600", "12345678"]) {
      const never = neverIssued(id)
      assert.strictEqual(never, neverIssued(id))
      assert.notStrictEqual(never, id)
      assert.strictEqual(kindOfId(never), kindOfId(id))
    }
    assert.match(neverIssued("507f1f77bcf86cd799439011"), /^[0-9a-f]{24}$/)
    assert.notStrictEqual(kindOfId("abcdefghijklmnopqrst"), kindOfId("abcdefghijklmnopqrst_1700000000_3600"))
  })
})

/** What an error proves about the record of a request: nothing, unless the service says so itself of this very record. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { sendTo } from "../support/api-server.ts"

const id = "7kuwT7VJLhM370QRXg8D"
const contact = { path: `/contacts/${id}`, template: "/contacts/{contactId}" }

const kindOf = (status: number, body: string, { path, template } = contact) =>
  sendTo(
    (_, response) => response.writeHead(status).end(body),
    {},
    { request: { method: "GET", path, parameters: { locationId: "LocationOfTheAccount1" } }, pathTemplate: template },
    2000
  ).pipe(Effect.map((result) => (Result.isFailure(result) ? result.failure._tag : "ok")))

const error = (message: unknown, statusCode: unknown = 404) => JSON.stringify({ statusCode, message })

describe("a record", () => {
  it.effect.each([
    ["by its id", 404, error(`Contact with id ${id} not found`)],
    ["by its id with the status that is observed", 400, error(`Contact with id ${id} not found`, 400)],
    ["by its id in a list of messages", 404, error([`Contact with id ${id} not found`])],
    ["by its kind", 404, error("Contact not found")],
    ["in the other form", 404, JSON.stringify({ status: 404, message: "Contact not found", name: "HttpException" })],
    ["in other words", 404, error("The contact does not exist")]
  ] as const)("is gone if the service says so %s", ([, status, body]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* kindOf(status, body), "NotFound")
    })
  )

  it.effect.each([
    ["an empty body", 404, ""],
    ["a page of a proxy", 404, "<html><body>404 Not Found</body></html>"],
    ["a text", 404, "default backend - 404"],
    ["a gateway without a route", 404, '{"message":"no Route matched with those values"}'],
    ["a gateway in the form of the service", 404, error("no Route matched with those values")],
    ["a router of the service", 404, error(`Cannot GET /contacts/${id}`)],
    ["a contact, without a status", 404, '{"message":"Contact not found"}'],
    ["a contact, with another status", 404, error("Contact not found", 500)],
    ["no kind", 404, error("Not Found")],
    ["another contact", 404, error("Contact with id 1vzlZcxXkIcDHtD7p1Ue not found")],
    ["a service", 404, error("Contact service not found")],
    ["something behind the service", 404, error("Contact not found in index")],
    ["a longer id", 404, error(`Session ${id}x not found`)],
    ["the location", 404, error("Location LocationOfTheAccount1 not found")],
    ["a token", 400, error("Token not found", 400)],
    ["a contact, in a list", 404, `[${error("Contact not found")}]`],
    ["a contact that is not authorised", 400, error(`Contact with id ${id} is locked`, 400)],
    ["a contact, with a status that says something else", 410, error(`Contact with id ${id} not found`, 410)]
  ] as const)("is not gone if the error speaks of %s", ([, status, body]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* kindOf(status, body), "RequestRejected")
    })
  )

  it.effect("of another location stops no reading of this one", () =>
    Effect.gen(function* () {
      const body = error("The token does not have access to this location", 403)
      assert.strictEqual(yield* kindOf(403, body), "RequestRejected")
      const list = { path: "/locations/L/customFields", template: "/locations/{locationId}/customFields" }
      assert.strictEqual(yield* kindOf(403, body, list), "WrongLocation")
    })
  )
})

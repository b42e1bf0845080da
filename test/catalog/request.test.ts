/** How the placeholders of a request are replaced. */
import { assert, describe, it } from "@effect/vitest"
import { emails } from "../../pipelines/conversations/emails.ts"
import { contactNotes } from "../../pipelines/crm/contact_notes.ts"
import { coupons } from "../../pipelines/payments/coupons.ts"
import { subscriptions } from "../../pipelines/payments/subscriptions.ts"
import { type Request, bind, cursorOr, get, location, parent, since, size } from "../../src/catalog/request.ts"
import { columnsOfRequest, requestForRow } from "../../src/catalog/get-one.ts"

const bindings = { location: "L", company: "C", id: "c/1", partition: "SMS" }
const pathOf = (path: Request["path"]) => bind(get(path), bindings).path

describe("a path", () => {
  it.each([
    ["/locations/{locationId}/tasks", "/locations/L/tasks"],
    ["/companies/{companyId}", "/companies/C"],
    ["/contacts/{contactId}/notes", "/contacts/c%2F1/notes"],
    [
      "/conversations/messages/{messageId}/locations/{locationId}/recording",
      "/conversations/messages/c%2F1/locations/L/recording"
    ],
    ["/locations/{locationId}/channels/{partition}", "/locations/L/channels/SMS"]
  ] as const)("binds the names of the API's documents: %s", (path, bound) => assert.strictEqual(pathOf(path), bound))

  it("does not become the path of a list if an id is empty", () => {
    assert.strictEqual(bind(get("/contacts/{contactId}"), { id: "" }).path, "/contacts/.")
  })

  it("contains the parent and the record if both are given", () => {
    const request = get("/contacts/{contactId}/notes/{id}")
    assert.strictEqual(bind(request, { id: "n", parent: { name: "contactId", id: "c" } }).path, "/contacts/c/notes/n")
  })

  it("that names two rows is refused", () => {
    assert.throws(() => pathOf("/contacts/{contactId}/notes/{id}"), /names more than one row: contactId, id/)
  })
})

describe("the request that reads the record of a row", () => {
  const row = { id: "r", contact_id: "c", code: "SPRING", subscription_id: "at the provider" }

  it.each([
    ["the id", subscriptions, "/payments/subscriptions/r", {}],
    ["the parent's id", contactNotes, "/contacts/c/notes/r", {}],
    ["the id in another column's name", emails, "/conversations/messages/email/r", {}],
    ["another column", coupons, "/payments/coupon", { id: "r", code: "SPRING" }]
  ])("needs %s", (_, resource, path, parameters) => {
    const request = requestForRow(resource, row, { location: "L" })!
    assert.strictEqual(request.path, path)
    assert.deepInclude(request.parameters, parameters)
  })

  it("can confirm a deletion from the id, the parent or another column of the row", () => {
    assert.deepStrictEqual(
      [subscriptions, contactNotes, coupons].map((resource) => columnsOfRequest(resource)),
      [["id"], ["id", "contact_id"], ["id", "code"]]
    )
  })
})

it("leaves out a parameter whose placeholder is unbound", () => {
  const request = get("/calendars/events", {
    locationId: location,
    calendarId: parent,
    limit: size,
    skip: cursorOr(0),
    from: since("date")
  })
  assert.deepStrictEqual(bind(request, bindings).parameters, { locationId: "L", calendarId: "c/1", skip: 0 })
})

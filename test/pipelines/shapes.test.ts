/** Shapes of records that the documents do not contain, and the rows that they become. */
import { assert, describe, it } from "@effect/vitest"
import { locationTimezones } from "../../pipelines/account/location_timezones.ts"
import { appointments } from "../../pipelines/calendars/appointments.ts"
import { freeSlots } from "../../pipelines/calendars/free_slots.ts"
import { contacts } from "../../pipelines/crm/contacts.ts"
import { opportunities } from "../../pipelines/crm/opportunities.ts"
import { orders } from "../../pipelines/payments/orders.ts"
import { subscriptions } from "../../pipelines/payments/subscriptions.ts"
import { transactions } from "../../pipelines/payments/transactions.ts"
import { products } from "../../pipelines/products/products.ts"
import type { Resource } from "../../src/catalog/resource.ts"
import { normaliserOf } from "../../src/stages/load/normalise/normalise.ts"

/** A record as the service sends it; the tests that compare it write out its shape. */
type Shown = Readonly<Record<string, any>>

describe("undocumented shapes", () => {
  const readAs = (resource: Resource, record: unknown) =>
    (resource.transform?.(record) ?? [record]).map((one) => {
      const { row, rejectedRecords } = normaliserOf(resource)(one, {
        location: "L",
        given: resource.childOf ? { [resource.childOf.column]: "c" } : {}
      })
      return { row: JSON.parse(row ?? "{}") as Shown, rejected: rejectedRecords.map(({ record }) => record) }
    })

  const zonesIn = (answer: unknown) =>
    [answer].flat().flatMap((one) => readAs(locationTimezones, one).map(({ row }) => row))

  const sent = { firstName: "anna", lastName: "de vries" }
  it.each([
    [{ ...sent, name: "anna de vries" }, "Anna de Vries"],
    [{ contactName: "anna de vries", ...sent }, "Anna de Vries"],
    [{ ...sent, name: "garden club" }, "garden club"]
  ])("a contact's names are those typed, whatever the order of the fields: %j", (names, name) => {
    const typed = { firstNameRaw: "Anna", lastNameRaw: "de Vries" }
    for (const record of [
      { id: "1", ...typed, ...names },
      { id: "1", ...names, ...typed }
    ]) {
      const { row } = readAs(contacts, record)[0]!
      assert.deepInclude(row, { first_name: "Anna", last_name: "de Vries", name })
      assert.notProperty(row, "_extra")
    }
  })

  it("a second alias with a different value is reported", () => {
    const record = { id: "1", address1: "1 First St", address: "2 Second St", name: "Anna", contactName: "Anna" }
    const { row, rejectedValues } = normaliserOf(contacts)(record, { location: "L" })
    assert.strictEqual(JSON.parse(row!).address1, "1 First St")
    assert.deepStrictEqual(
      rejectedValues.map(({ column, value, reason }) => [column, value, reason]),
      [["address1", '"2 Second St"', "address differs from the stored value"]]
    )
  })

  it.each([null, ""])("a contact keeps its name if the name as typed is %j", (firstNameRaw) => {
    assert.strictEqual(readAs(contacts, { id: "1", firstName: "anna", firstNameRaw })[0]!.row["first_name"], "anna")
  })

  it.each([
    ["active", { status: "active" }],
    [
      { type: "active", since: 1 },
      { status: "active", status_details: '{"type":"active","since":1}' }
    ]
  ])("the status of a subscription is a text, whatever its shape: %j", (status, expected) => {
    assert.deepEqual(readAs(subscriptions, { _id: "s", status })[0]!.row, { id: "s", ...expected })
  })

  it.each([
    ["u1", {}],
    [
      { userId: "u1", source: "user" },
      { created_by_source: "user", created_by: '{"userId":"u1","source":"user"}' }
    ],
    [
      { sourceId: "u1", channel: "APP" },
      { created_by_channel: "APP", created_by: '{"sourceId":"u1","channel":"APP"}' }
    ]
  ])("the creator of a payment is an id, whatever its shape: %j", (createdBy, expected) => {
    for (const resource of [transactions, subscriptions, orders])
      assert.deepEqual(readAs(resource, { _id: "x", createdBy })[0]!.row, { id: "x", created_by_id: "u1", ...expected })
  })

  it.each([
    [
      { qty: 3, price: { _id: "p", amount: 33.333333, currency: "EUR" } },
      { line_amount: "99.999999", currency: "EUR" }
    ],
    [
      { qty: "2", price: { _id: "p", amount: "0.1" } },
      { line_amount: "0.2", unit_amount: "0.1" }
    ],
    [
      { qty: 2, amount: 15, price: { _id: "p", amount: 10 } },
      { line_amount: "15", unit_amount: "10" }
    ]
  ])("a line of an order has its amount, as sent or calculated: %j", (item, expected) => {
    const { row } = readAs(orders, { _id: "o", items: [{ product: { _id: "d", name: "Deck" }, ...item }] })[0]!
    assert.deepInclude(row["order_items"][0], { product_id: "d", product_name: "Deck", price_id: "p", ...expected })
  })

  it("a line of an order without a price has no amount, and one with the ids of product and price keeps them", () => {
    const { row, rejected } = readAs(orders, {
      _id: "o",
      items: [{ qty: 2 }, { qty: 1, product: "d", price: "p" }]
    })[0]!
    assert.deepStrictEqual(row["order_items"], [
      { position: 0, qty: "2" },
      { position: 1, product_id: "d", price_id: "p", qty: "1" }
    ])
    assert.deepStrictEqual(rejected, [])
  })

  it.each([[["UTC"]], [{ timezones: ["UTC"], traceId: "t" }], [{ traceId: "t", data: ["UTC"] }]])(
    "time zones are the list in the response, under any name: %j",
    (answer) => assert.deepEqual(zonesIn(answer), [{ timezone: "UTC" }])
  )

  it("a response without a list of time zones is a rejected record", () => {
    assert.deepEqual(zonesIn({ timezones: [] }), [])
    assert.deepEqual(readAs(locationTimezones, { zones: "UTC" })[0]!.rejected, ['{"zones":"UTC"}'])
  })

  it.each([
    ["fieldValue", "x", "x"],
    ["fieldValueString", "x", "x"],
    ["fieldValueNumber", 1.5, "1.5"],
    ["fieldValueArray", ["a", "b"], "a, b"],
    ["fieldValueDate", 1_766_534_400_000, "1766534400000"],
    ["fieldValueBoolean", false, "false"],
    ["fieldValueFiles", [{ url: "u" }], '[{"url":"u"}]'],
    ["fieldValueObject", { a: 1 }, '{"a":1}'],
    ["fieldValueOfAnotherKind", "x", "x"]
  ])("a custom value of an opportunity is read whatever its type: %s", (name, value, text) => {
    const { row } = readAs(opportunities, { id: "o", customFields: [{ id: "f", type: "t", [name]: value }] })[0]!
    assert.deepEqual(row["opportunity_custom_values"], [
      { custom_field_id: "f", value: JSON.stringify(value), value_text: text, type: "t" }
    ])
  })

  it("the taxes of a product may be ids or objects", () => {
    const taxes = ["t1", { _id: "t2", name: "TVA", rate: 20, calculation: "exclusive" }]
    const { row, rejected } = readAs(products, { _id: "p", taxes })[0]!
    const shown = { id: "t2", name: "TVA", rate: "20", calculation: "exclusive" }
    assert.deepEqual([row["product_taxes"], rejected], [[{ id: "t1" }, shown], []])
  })

  it("an appointment of a series keeps its id and the fields of the series", () => {
    const series = { rrule: "RRULE:FREQ=DAILY;COUNT=5", deleted: true }
    const id = "abc_1700000000000_3600"
    const { row } = readAs(appointments, { id, masterEventId: "abc", isRecurring: "true", ...series })[0]!
    assert.deepInclude(row, { id, master_event_id: "abc", is_recurring: true, ...series })
  })

  it("free slots ignore a trace id and days without slots, and reject anything else", () => {
    const days = { "2026-01-02": { slots: ["2026-01-02T09:00:00-05:00"] }, "2026-01-03": { slots: [] } }
    const [slot, ...others] = readAs(freeSlots, { ...days, traceId: "t", note: "x" })
    assert.strictEqual(slot!.row["date"], "2026-01-02")
    assert.strictEqual(Date.parse(slot!.row["starts_at"]), Date.parse("2026-01-02T14:00:00Z"))
    assert.deepStrictEqual(
      others.flatMap(({ rejected }) => rejected),
      ['{"note":"x"}']
    )
  })
})

import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 40 })
const { locationId } = s

const field = async (fields: Json): Promise<string> => {
  const { id: like } = (await s.records("customFields")).find((row) => row["dataType"] === "TEXT")!
  const id = `field${planted++}`
  await s.post("/__sandbox/plant", { collection: "customFields", like, id, fields })
  return id
}
let planted = 0
const seeded = async (fieldKey: string): Promise<string> =>
  (await s.records("customFields")).find((row) => row["fieldKey"] === fieldKey)!["id"]
const onContact = (entry: Json) => s.post("/contacts/", { locationId, customFields: [entry] })
const onOpportunity = async (entry: Json) => {
  const [[pipeline], [contact]] = [await s.records("pipelines"), await s.records("contacts")]
  const opportunity = { locationId, pipelineId: pipeline!["id"], name: "D", status: "open", contactId: contact!["id"] }
  return s.post("/opportunities/", { ...opportunity, customFields: [entry] })
}
const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

/** Checks that the field accepts some values and refuses others, for contacts and opportunities. */
const check = async (fields: Json, accepted: ReadonlyArray<unknown>, refused: ReadonlyArray<unknown>) => {
  for (const [model, send] of [
    ["contact", onContact],
    ["opportunity", onOpportunity]
  ] as const) {
    const id = await field({ ...fields, model })
    for (const fieldValue of accepted) assert.equal((await send({ id, fieldValue })).status, 201, String(fieldValue))
    for (const fieldValue of refused) assert.equal((await send({ id, fieldValue })).status, 422, String(fieldValue))
  }
}

describe("a custom field value", () => {
  it("is one of the options, unless custom options are allowed", async () => {
    const picklistOptions = ["a", "b"]
    await check({ dataType: "SINGLE_OPTIONS", picklistOptions }, ["a", ""], ["c", ["a"]])
    await check({ dataType: "CHECKBOX", picklistOptions }, [["a", "b"], []], [["a", "c"], "a"])
    await check({ dataType: "RADIO", picklistOptions, isAllowedCustomOption: true }, ["a", "c"], [["c"]])
    await check({ dataType: "MULTIPLE_OPTIONS" }, [["anything"]], [])
  })

  it("is a date that exists, and obeys the rules of its field", async () => {
    const dated = (dateTimeValidation: Json) => ({ dataType: "DATE", dateTimeValidation })
    const wrong = ["2026-02-30", "31/01/1990", "soon", 5]
    await check({ dataType: "DATE" }, ["2026-02-03", "02/03/2026", "2026-02-03T04:05:06Z"], wrong)
    await check(dated({ mode: "future_only" }), [day(2)], [day(-2)])
    await check(dated({ mode: "future_only", bufferDays: 5 }), [day(6)], [day(2)])
    await check(dated({ mode: "future_only", rollingDays: 5 }), [day(2)], [day(9)])
    await check(dated({ mode: "past_only" }), [day(-2)], [day(2)])
    const range = { mode: "range", rangeMin: "2027-01-01", rangeMax: "2027-02-01", daysAllowed: [1] }
    await check(dated(range), ["2027-01-04", "2027-02-01"], ["2027-01-05", "2026-12-28", "2027-02-08"])
  })

  it("is an address of a domain that its field allows", async () => {
    const of = (urlValidation: Json) => ({ dataType: "URL", urlValidation })
    const [ours, theirs] = ["https://www.example.com/x", "https://example.org/"]
    await check(of({ mode: "allow_all" }), [ours, theirs], ["not one"])
    await check(of({ mode: "allow_only", allowedDomains: ["example.com"] }), [ours, "example.com"], [theirs])
    await check(of({ mode: "block", blockedDomains: ["example.com"] }), [theirs], [ours])
  })

  it("is required with its field, and a null clears it", async () => {
    const id = await seeded("contact.gate_instructions")
    assert.equal((await onContact({ id })).status, 422)
    assert.equal((await onContact({ fieldValue: "x" })).status, 422)
    assert.deepEqual((await onContact({ id, fieldValue: null })).body["contact"].customFields, [])
    const { body } = await onContact({ key: "gate_instructions", field_value: "left" })
    assert.deepEqual(body["contact"].customFields, [{ id, value: "left" }])
  })

  it("belongs to a field of the same model", async () => {
    const [ours, theirs] = [await seeded("contact.lot_size_sq_ft"), await seeded("opportunity.crew_size")]
    assert.equal((await onContact({ id: ours, fieldValue: 5 })).status, 201)
    assert.equal((await onOpportunity({ id: theirs, fieldValue: 5 })).status, 201)
    assert.equal((await onOpportunity({ id: theirs, fieldValue: "5" })).status, 201)
    assert.equal((await onOpportunity({ id: theirs, fieldValue: "five" })).status, 422)
    assert.equal((await onOpportunity({ id: ours, fieldValue: 5 })).status, 422)
    assert.equal((await onContact({ id: theirs, fieldValue: 5 })).status, 422)
    assert.equal((await onContact({ key: "opportunity.crew_size", fieldValue: 5 })).status, 422)
  })
})

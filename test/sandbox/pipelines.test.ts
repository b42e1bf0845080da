import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 120 })
const { locationId } = s
const path = "/opportunities/pipelines"

describe("a pipeline", () => {
  it("can be read and listed in order of its position", async () => {
    const { pipelines } = (await s.get(`${path}?locationId=${locationId}`)).body
    for (const pipeline of pipelines) assert.deepEqual((await s.get(`${path}/${pipeline.id}`)).body, pipeline)
    const positions = pipelines.map((row: Json) => row["position"])
    assert.deepEqual(positions, positions.toSorted())
    assert.equal(new Set(positions).size, positions.length)
    assert.equal((await s.get(`${path}/none`)).status, 404)
  })

  it("is deleted with its opportunities", async () => {
    const { pipelines } = (await s.get(`${path}?locationId=${locationId}`)).body
    const { id } = pipelines.at(-1)
    const count = async (query: string) =>
      (await s.get(`/opportunities/search?locationId=${locationId}&${query}`)).body["meta"].total
    const [all, own] = [await count(""), await count(`pipelineId=${id}`)]
    assert.isAbove(own, 0)
    const deleted = await s.send("DELETE", `${path}/${id}`)
    assert.deepEqual(Object.keys(deleted.body), ["success", "message"])
    assert.equal(await count(""), all - own)
    assert.equal((await s.get(`${path}/${id}`)).status, 404)
    assert.equal((await s.send("DELETE", `${path}/${id}`)).status, 404)
  })

  it("needs other scopes to be read and deleted than to be listed", async () => {
    const { pipelines } = (await s.get(`${path}?locationId=${locationId}`)).body
    const one = `${path}/${pipelines[0].id}`
    const refused = async (removeScope: string, ask: () => Promise<{ status: number }>) => {
      await s.post("/__sandbox/token", { removeScope })
      const { status } = await ask()
      await s.post("/__sandbox/token", { addScope: removeScope })
      return status
    }
    assert.equal(await refused("pipelines.readonly", () => s.get(one)), 403)
    assert.equal(await refused("pipelines.readonly", () => s.get(`${path}?locationId=${locationId}`)), 200)
    assert.equal(await refused("opportunities.readonly", () => s.get(one)), 200)
    assert.equal(await refused("opportunities.readonly", () => s.get(`${path}?locationId=${locationId}`)), 403)
    assert.equal(await refused("pipelines.write", () => s.send("DELETE", one)), 403)
  })
})

describe("an opportunity", () => {
  const pipelineId = async () => (await s.records("pipelines"))[0]!["id"]
  const contactId = async () => (await s.records("contacts"))[0]!["id"]

  it("enters a pipeline at its first stage by default, and otherwise keeps its stage", async () => {
    const [one, two] = (await s.records("pipelines")) as [Json, Json]
    const base = { locationId, pipelineId: one["id"], name: "D", status: "open", contactId: await contactId() }
    const { id } = (await s.post("/opportunities/", { ...base, pipelineStageId: one["stages"][2].id })).body[
      "opportunity"
    ]
    const stageAfter = async (fields: Json) =>
      (await s.send("PUT", `/opportunities/${id}`, fields)).body["opportunity"].pipelineStageId
    assert.equal(await stageAfter({ pipelineId: one["id"] }), one["stages"][2].id)
    assert.equal(await stageAfter({ pipelineId: two["id"] }), two["stages"][0].id)
    assert.equal((await s.post("/opportunities/", base)).body["opportunity"].pipelineStageId, one["stages"][0].id)
  })

  it("needs a stage of its pipeline, a probability of at most 100, and a close date in an accepted format", async () => {
    const base = { locationId, pipelineId: await pipelineId(), name: "D", status: "open", contactId: await contactId() }
    const status = async (fields: Json) => (await s.post("/opportunities/", { ...base, ...fields })).status
    const formats = "2027-01-02 2027/01/02 01/02/2027 01-02-2027 2027.01.02 01.02.2027 2027-01-02T03:04:05Z".split(" ")
    for (const forecastExpectedCloseDate of formats) assert.equal(await status({ forecastExpectedCloseDate }), 201)
    for (const forecastExpectedCloseDate of [
      "soon",
      "2026-05-01Tzzz",
      "2026-99-99T10:00:00Z",
      "13/01/2026",
      "2026-02-30",
      "2026-02-30T10:00:00Z",
      "2026_02_03"
    ]) {
      assert.equal(await status({ forecastExpectedCloseDate }), 422, forecastExpectedCloseDate)
    }
    assert.equal(await status({ forecastProbability: 101 }), 422)
    assert.equal(await status({ forecastProbability: "50" }), 400)
    assert.equal(await status({ pipelineStageId: "none" }), 422)
    assert.equal(await status({ pipelineId: "none" }), 422)
    assert.equal(await status({ contactId: "none" }), 422)
    assert.equal(await status({ assignedTo: "none" }), 422)
    assert.equal(await status({ status: "on_hold" }), 422)
    assert.equal(await status({ customFields: [{ key: "permit_number", fieldValue: "77" }] }), 201)
    assert.equal(await status({ customFields: [{ key: "shoe_size", fieldValue: "77" }] }), 422)
  })
})

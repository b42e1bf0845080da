import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 120 })
const { locationId } = s
const path = "/opportunities/pipelines"
const create = (fields: Json = {}) =>
  s.post(path, { locationId, name: `Pipeline ${Math.random()}`, stages: [{ name: "One" }, { name: "Two" }], ...fields })

describe("a pipeline", () => {
  it("can be created, read, listed with its stages in order, changed and deleted", async () => {
    const { body, status } = await create({
      stages: [
        { name: "B", position: 2 },
        { name: "A", position: 1 }
      ]
    })
    assert.equal(status, 200)
    assert.deepEqual(
      body["stages"].map((stage: Json) => [stage["name"], stage["position"]]),
      [
        ["A", 0],
        ["B", 1]
      ]
    )
    assert.isString(body["position"])
    assert.deepEqual((await s.get(`${path}/${body["id"]}`)).body, body)
    const { pipelines } = (await s.get(`${path}?locationId=${locationId}`)).body
    assert.deepEqual(pipelines.at(-1), body)
    const changed = await s.send("PUT", `${path}/${body["id"]}`, { showInFunnel: false, colorRenderMode: "none" })
    assert.deepEqual(changed.body, { ...body, showInFunnel: false, colorRenderMode: "none" })
    assert.deepEqual(Object.keys((await s.send("DELETE", `${path}/${body["id"]}`)).body), ["success", "message"])
    assert.equal((await s.get(`${path}/${body["id"]}`)).status, 404)
    assert.equal((await s.send("PUT", `${path}/${body["id"]}`, {})).status, 404)
    assert.equal((await s.send("DELETE", `${path}/${body["id"]}`)).status, 404)
  })

  it("has a unique position that sorts as text in the order of the list", async () => {
    const list = async () => (await s.get(`${path}?locationId=${locationId}`)).body["pipelines"] as Array<Json>
    const [first, second] = (await list()) as [Json, Json]
    for (let count = 0; count < 12; count++) await create()
    await s.send("DELETE", `${path}/${(await list())[5]!["id"]}`)
    const { body } = await create()
    await s.send("PUT", `${path}/${second["id"]}`, { showInFunnel: true })
    const positions = (await list()).map((row) => row["position"])
    assert.deepEqual(positions, positions.toSorted())
    assert.equal(new Set(positions).size, positions.length)
    const shown = await list()
    assert.deepEqual([shown[0]!["id"], shown[1]!["id"], shown.at(-1)!["id"]], [first["id"], second["id"], body["id"]])
  })

  it("needs a unique name, and stages with unique names", async () => {
    const { body } = await create({ name: "Ours" })
    assert.equal((await create({ name: "OURS" })).status, 409)
    assert.equal((await create({ stages: [] })).status, 422)
    assert.equal((await create({ stages: undefined })).status, 422)
    assert.equal((await create({ stages: [{ name: "x" }, { name: "X" }] })).status, 422)
    assert.equal((await create({ stages: [{ name: "x", stageWinProbability: 101 }] })).status, 422)
    assert.equal((await create({ colorRenderMode: "glow" })).status, 422)
    const update = (fields: Json) => s.send("PUT", `${path}/${body["id"]}`, fields)
    assert.equal((await update({ name: "ours" })).status, 200)
    assert.equal((await update({ name: "Renovations" })).status, 409)
    assert.equal((await update({ stages: [] })).status, 422)
    assert.equal((await update({ stages: [{ name: "New" }] })).status, 422)
    assert.equal((await update({ stages: [{ id: "none", name: "New" }] })).status, 422)
  })

  it("calculates probabilities from the positions unless every stage has one", async () => {
    const of = async (...given: ReadonlyArray<number | undefined>) => {
      const stages = given.map((stageWinProbability, index) => ({ name: String(index), stageWinProbability }))
      const { body } = await create({ useOpportunityProbability: true, stages })
      return body["stages"].map((stage: Json) => stage["stageWinProbability"])
    }
    assert.deepEqual(await of(7, 9), [7, 9])
    assert.deepEqual(await of(7, undefined), [50, 100])
  })

  it("moves opportunities of a removed stage to the lowest remaining one, and is deleted with its opportunities", async () => {
    const [pipeline] = (await s.get(`${path}?locationId=${locationId}`)).body["pipelines"]
    const count = async (query: string) =>
      (await s.get(`/opportunities/search?locationId=${locationId}&${query}`)).body["meta"].total
    const [first, second, ...rest] = pipeline.stages
    const [inFirst, inSecond] = [
      await count(`pipelineStageId=${first.id}`),
      await count(`pipelineStageId=${second.id}`)
    ]
    assert.isAbove(inFirst, 0)
    const stages = [{ name: "Fresh" }, second, ...rest].map((stage, position) => ({ ...stage, position }))
    const changed = await s.send("PUT", `${path}/${pipeline.id}`, { stages })
    assert.equal(changed.body["stages"][0].name, "Fresh")
    assert.equal(await count(`pipelineStageId=${first.id}`), 0)
    assert.equal(await count(`pipelineStageId=${second.id}`), inFirst + inSecond)
    const all = await count("")
    const own = await count(`pipelineId=${pipeline.id}`)
    await s.send("DELETE", `${path}/${pipeline.id}`)
    assert.equal(await count(""), all - own)
  })

  it("needs other scopes to be read, created and changed than to be listed", async () => {
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
    assert.equal(await refused("pipelines.create", () => create()), 403)
    assert.equal(await refused("pipelines.write", () => s.send("PUT", one, {})), 403)
    assert.equal(await refused("pipelines.write", () => s.send("DELETE", one)), 403)
  })
})

describe("an opportunity", () => {
  const pipelineId = async () => (await s.records("pipelines"))[0]!["id"]
  const contactId = async () => (await s.records("contacts"))[0]!["id"]

  it("is updated by an upsert with its id, which adds, removes or clears followers", async () => {
    const [one, two] = (await s.records("users")).map((user) => user["id"])
    const upsert = async (fields: Json) => {
      const base = {
        locationId,
        pipelineId: await pipelineId(),
        followersActionType: "add",
        isRemoveAllFollowers: false
      }
      return s.post("/opportunities/upsert", { ...base, followers: [], ...fields })
    }
    const created = await upsert({ followers: [one], name: "Porch" })
    assert.deepEqual([created.status, created.body["new"]], [200, true])
    const { id } = created.body["opportunity"]
    const followers = async (fields: Json) => {
      const { body } = await upsert({ id, ...fields })
      assert.deepEqual([body["new"], body["opportunity"].id], [false, id])
      return body["opportunity"].followers
    }
    assert.deepEqual(await followers({ followers: [two, one] }), [one, two])
    assert.deepEqual(await followers({ followers: [one], followersActionType: "remove" }), [two])
    assert.deepEqual(await followers({ followers: [one], isRemoveAllFollowers: true }), [])
    assert.equal((await s.get(`/opportunities/${id}`)).body["opportunity"].name, "Porch")
    assert.equal((await upsert({ followers: ["nobody"] })).status, 422)
    assert.equal((await upsert({ followers: undefined })).status, 422)
    assert.equal((await upsert({ followersActionType: "swap" })).status, 422)
    assert.equal((await upsert({ isRemoveAllFollowers: "no" })).status, 400)
    assert.equal((await upsert({ id: "none" })).status, 404)
  })

  it("enters a pipeline at its first stage by default, and otherwise keeps its stage", async () => {
    const [one, two] = (await s.records("pipelines")) as [Json, Json]
    const base = { locationId, followers: [], followersActionType: "add", isRemoveAllFollowers: false }
    const upsert = async (fields: Json) => {
      const { body } = await s.post("/opportunities/upsert", { ...base, ...fields })
      const { id, pipelineId, pipelineStageId } = body["opportunity"]
      return { id, pipelineId, pipelineStageId }
    }
    const created = await upsert({ pipelineId: one["id"], pipelineStageId: one["stages"][2].id })
    assert.deepEqual(await upsert({ id: created.id, pipelineId: one["id"] }), created)
    const moved = { id: created.id, pipelineId: two["id"], pipelineStageId: two["stages"][0].id }
    assert.deepEqual(await upsert({ id: created.id, pipelineId: two["id"] }), moved)
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

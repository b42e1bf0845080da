import { assert, describe, it } from "vitest"
import { ids, type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 40 })
const { locationId } = s
const path = `/locations/${locationId}/customFields`

describe("custom fields of contacts and opportunities", () => {
  it("are listed by model, and include the fields of all values of contacts", async () => {
    const all = (await s.get(path)).body["customFields"]
    const contact = (await s.get(`${path}?model=contact`)).body["customFields"]
    const opportunity = (await s.get(`${path}?model=opportunity`)).body["customFields"]
    assert.deepEqual(ids(all), ids([...contact, ...opportunity]))
    assert.deepEqual(ids((await s.get(`${path}?model=all`)).body["customFields"]), ids(all))
    assert.equal((await s.get(`${path}?model=user`)).status, 422)
    const known = new Set(ids(contact))
    const used = (await s.records("contacts")).flatMap((row) => row["customFields"].map((value: Json) => value["id"]))
    assert.isNotEmpty(used)
    assert.isTrue(used.every((id) => known.has(id)))
  })

  it("can be read by id and by key", async () => {
    const [first] = (await s.get(path)).body["customFields"]
    assert.deepEqual((await s.get(`${path}/${first.id}`)).body, { customField: first })
    assert.deepEqual((await s.get(`${path}/${first.fieldKey}`)).body, { customField: first })
    assert.equal((await s.get(`${path}/none`)).status, 404)
  })
})

describe("custom-object fields", () => {
  const objectKey = "custom_objects.project"
  const list = async () => (await s.get(`/custom-fields/object-key/${objectKey}?locationId=${locationId}`)).body

  it("are listed with their folders, and can be read individually", async () => {
    const { fields, folders } = await list()
    assert.isNotEmpty(folders)
    assert.isTrue(fields.every((row: Json) => folders.some((folder: Json) => folder["id"] === row["parentId"])))
    assert.deepEqual((await s.get(`/custom-fields/${fields[0].id}`)).body, { field: fields[0] })
    assert.equal((await s.get("/custom-fields/none")).status, 404)
    assert.equal((await s.get(`/custom-fields/object-key/${objectKey}`)).status, 422)
    assert.equal((await s.get(`/custom-fields/object-key/none?locationId=${locationId}`)).status, 404)
  })
})

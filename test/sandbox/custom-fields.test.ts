import { assert, describe, it } from "vitest"
import { ids, type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 40 })
const { locationId } = s
const path = `/locations/${locationId}/customFields`
/** Adds a custom field of text with other members. */
const plant = async (fields: Json): Promise<Json> => {
  const { id: like } = (await s.records("customFields")).find((row) => row["dataType"] === "TEXT")!
  const id = `field${planted++}`
  await s.post("/__sandbox/plant", { collection: "customFields", like, id, fields })
  return (await s.get(`${path}/${id}`)).body["customField"]
}
let planted = 0

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

  it("can be changed except for their type", async () => {
    const { id, ...customField } = await plant({ dataType: "NUMERICAL" })
    const one = `${path}/${id}`
    const changed = await s.send("PUT", one, { name: "Age of roof", dataType: "NUMERICAL" })
    assert.deepEqual(changed.body["customField"], { id, ...customField, name: "Age of roof" })
    assert.equal((await s.send("PUT", one, { dataType: "TEXT" })).status, 422)
    assert.equal((await s.send("PUT", `${path}/none`, { name: "x" })).status, 404)
  })

  it("accept the properties of their type, and none of other types", async () => {
    const update = async ({ dataType, ...fields }: Json) => {
      const { id } = await plant({ dataType })
      return s.send("PUT", `${path}/${id}`, fields)
    }
    const refused: Array<Json> = [
      { dataType: "URL" },
      { dataType: "TIME" },
      { dataType: "DATE_TIME" },
      { dataType: "USER" },
      { dataType: "TEXT", acceptedFormat: [".pdf"] },
      { dataType: "FILE_UPLOAD", acceptedFormat: ["pdf"] },
      { dataType: "TEXT", urlValidation: { mode: "allow_all" } },
      { dataType: "URL", urlValidation: { mode: "allow_only" } },
      { dataType: "URL", urlValidation: { mode: "block", blockedDomains: [] } },
      { dataType: "URL", urlValidation: {} },
      { dataType: "TEXT", optionDisplayType: "TEXT_ONLY" },
      { dataType: "RADIO", optionDisplayType: "ICONS" },
      { dataType: "TEXTBOX_LIST", textBoxListOptions: [{ prefillValue: "x" }] },
      { dataType: "DATE", dateTimeValidation: { mode: "range" } },
      { dataType: "DATE", dateTimeValidation: { mode: "past_only", bufferDays: 1 } },
      { dataType: "DATE", dateTimeValidation: { mode: "future_only", bufferDays: 1, rollingDays: 2 } },
      { dataType: "DATE", dateTimeValidation: { mode: "any", daysAllowed: [1] } },
      { dataType: "DATE", dateTimeValidation: { mode: "past_only", daysAllowed: [7] } },
      { dataType: "DATE", dateTimeValidation: { mode: "any", inputType: "date_only" } }
    ]
    for (const fields of refused) assert.equal((await update(fields)).status, 422, JSON.stringify(fields))
    const accepted: Array<Json> = [
      { dataType: "URL", urlValidation: { mode: "allow_only", allowedDomains: ["example.com"] } },
      { dataType: "DATE_TIME", dateTimeValidation: { mode: "future_only", rollingDays: 9, inputType: "time_only" } },
      { dataType: "DATE", dateTimeValidation: { mode: "range", rangeMin: "2027-01-01", rangeMax: "2027-02-01" } },
      { dataType: "FILE_UPLOAD", acceptedFormat: [".pdf"], isMultipleFile: true, maxNumberOfFiles: 3 },
      { dataType: "TEXTBOX_LIST", textBoxListOptions: [{ label: "Kitchen", prefillValue: "" }] },
      { dataType: "RADIO", picklistOptions: ["a", "b"] }
    ]
    const changed: Array<Json> = []
    for (const fields of accepted) {
      const { body, status } = await update(fields)
      assert.equal(status, 200, JSON.stringify(fields))
      changed.push(body["customField"])
    }
    assert.deepEqual(changed[0]!["urlValidation"], accepted[0]!["urlValidation"])
    assert.deepEqual([changed[3]!["isMultiFileAllowed"], changed[3]!["maxFileLimit"]], [true, 3])
    const { id } = await plant({ dataType: "USER", userFieldConfig: { multiSelect: true } })
    const multi = { userFieldConfig: { multiSelect: false } }
    assert.equal((await s.send("PUT", `${path}/${id}`, multi)).status, 422)
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

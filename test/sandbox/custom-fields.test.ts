import { assert, describe, it } from "vitest"
import { ids, type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 40 })
const { locationId } = s
const path = `/locations/${locationId}/customFields`
const create = (fields: Json) => s.post(path, { name: `Field ${Math.random()}`, ...fields })

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

  it("can be created, changed except for their type, and deleted with the misspelt response", async () => {
    const created = await create({ name: "Roof age", dataType: "NUMERICAL" })
    const { customField } = created.body
    assert.deepEqual([created.status, customField.fieldKey, customField.position], [201, "contact.roof_age", 0])
    assert.equal((await create({ name: "roof AGE", dataType: "TEXT" })).status, 409)
    const one = `${path}/${customField.id}`
    const changed = await s.send("PUT", one, { name: "Age of roof", dataType: "NUMERICAL" })
    assert.deepEqual(changed.body["customField"], { ...customField, name: "Age of roof" })
    assert.equal((await s.send("PUT", one, { dataType: "TEXT" })).status, 422)
    assert.deepEqual((await s.send("DELETE", one)).body, { succeded: true })
    assert.equal((await s.get(one)).status, 404)
    assert.equal((await s.send("DELETE", one)).status, 404)
    assert.equal((await s.send("PUT", one, { name: "x" })).status, 404)
  })

  it("need the properties of their type, and accept none of other types", async () => {
    const refused: Array<Json> = [
      {},
      { dataType: "MONETARY" },
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
      { dataType: "DATE", dateTimeValidation: { mode: "any", inputType: "date_only" } },
      { dataType: "TEXT", model: "company" }
    ]
    for (const fields of refused) assert.equal((await create(fields)).status, 422, JSON.stringify(fields))
    const accepted: Array<Json> = [
      { dataType: "URL", urlValidation: { mode: "allow_only", allowedDomains: ["example.com"] } },
      { dataType: "DATE_TIME", dateTimeValidation: { mode: "future_only", rollingDays: 9, inputType: "time_only" } },
      { dataType: "DATE", dateTimeValidation: { mode: "range", rangeMin: "2027-01-01", rangeMax: "2027-02-01" } },
      { dataType: "USER", userFieldConfig: { multiSelect: true } },
      { dataType: "FILE_UPLOAD", acceptedFormat: [".pdf"], isMultipleFile: true, maxNumberOfFiles: 3 },
      { dataType: "TEXTBOX_LIST", textBoxListOptions: [{ label: "Kitchen", prefillValue: "" }] },
      { dataType: "RADIO", picklistOptions: ["a", "b"], model: "opportunity" }
    ]
    const made: Array<Json> = []
    for (const fields of accepted) {
      const { body, status } = await create(fields)
      assert.equal(status, 201, JSON.stringify(fields))
      made.push(body["customField"])
    }
    assert.deepEqual([made[4]!["isMultiFileAllowed"], made[4]!["maxFileLimit"]], [true, 3])
    assert.deepEqual([made[6]!["optionDisplayType"], made[6]!["model"]], ["TEXT_ONLY", "opportunity"])
    const multi = { userFieldConfig: { multiSelect: false } }
    assert.equal((await s.send("PUT", `${path}/${made[3]!["id"]}`, multi)).status, 422)
    const urls = { urlValidation: { mode: "allow_all" } }
    const replaced = await s.send("PUT", `${path}/${made[0]!["id"]}`, urls)
    assert.deepEqual(replaced.body["customField"].urlValidation, urls.urlValidation)
  })

  it("accept files in a form", async () => {
    const [{ id }] = (await s.records("contacts")) as [Json]
    const upload = async (fields: Record<string, string>, files: Record<string, number>) => {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.append(name, value)
      for (const [name, size] of Object.entries(files)) form.append(name, new Blob([new Uint8Array(size)]), name)
      const headers = { Version: "v3", Authorization: `Bearer ${s.token}` }
      const response = await s.fetch(`${path}/upload`, { method: "POST", body: form, headers })
      return { status: response.status, body: (await response.json()) as Json }
    }
    const { body, status } = await upload({ id, maxFiles: "2" }, { "a.pdf": 10, "b c.png": 20 })
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body["uploadedFiles"]), ["a.pdf", "b c.png"])
    assert.deepEqual(
      body["meta"].map((file: Json) => [file["originalname"], file["size"], file["url"]]),
      [
        ["a.pdf", 10, body["uploadedFiles"]["a.pdf"]],
        ["b c.png", 20, body["uploadedFiles"]["b c.png"]]
      ]
    )
    assert.equal((await upload({ id, maxFiles: "1" }, { a: 1, b: 1 })).status, 422)
    assert.equal((await upload({ maxFiles: "1" }, { a: 1 })).status, 422)
    assert.equal((await upload({ id: "none" }, { a: 1 })).status, 422)
    assert.equal((await upload({ id }, {})).status, 422)
    assert.equal((await upload({ id }, { big: 5_000_001 })).status, 413)
    assert.equal((await s.post(`${path}/upload`, { id })).status, 415)
    const broken = { "Content-Type": "multipart/form-data; boundary=x" }
    assert.equal((await s.post(`${path}/upload`, "--y", broken)).status, 400)
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

  it("must obey their rules, and keep their type, keys, folder and options", async () => {
    const { folders } = await list()
    const options = [
      { key: "a", label: "A" },
      { key: "b", label: "B" }
    ]
    const sent = {
      locationId,
      dataType: "RADIO",
      fieldKey: "custom_object.project.colour",
      objectKey,
      parentId: folders[0].id,
      showInForms: true,
      options: [{ ...options[0], url: "https://files.example/a.png" }, options[1]],
      allowCustomOption: true
    }
    const created = await s.post("/custom-fields/", sent)
    assert.equal(created.status, 201)
    const { field } = created.body
    assert.deepEqual(field.options, sent.options)
    const refused = [
      [sent, 409],
      [{ ...sent, fieldKey: "colour" }, 422],
      [{ ...sent, fieldKey: "custom_object.business.colour" }, 422],
      [{ ...sent, fieldKey: "custom_object.project.x", parentId: "none" }, 422],
      [{ ...sent, fieldKey: "custom_object.project.x", dataType: "CHECKBOX" }, 422],
      [{ ...sent, fieldKey: "custom_object.project.x", dataType: "TEXT" }, 422],
      [{ ...sent, fieldKey: "custom_object.project.x", acceptedFormats: ".pdf" }, 422],
      [{ ...sent, fieldKey: "custom_object.project.x", options: [{ key: "a" }] }, 422],
      [{ ...sent, showInForms: undefined }, 422],
      [{ ...sent, showInForms: "yes" }, 400],
      [{ ...sent, locationId: "other" }, 403]
    ] as const
    for (const [body, status] of refused) assert.equal((await s.post("/custom-fields/", body)).status, status)

    const update = (body: Json) =>
      s.send("PUT", `/custom-fields/${field.id}`, { locationId, showInForms: false, ...body })
    const more = [...sent.options, { key: "c", label: "C" }]
    assert.deepEqual((await update({ options: more, name: "Colour" })).body["field"].options, more)
    assert.equal((await update({ options })).status, 422)
    for (const name of ["dataType", "fieldKey", "objectKey", "parentId"]) {
      assert.equal((await update({ [name]: name === "dataType" ? "TEXT" : "x" })).status, 422, name)
    }
    assert.equal((await s.send("PUT", `/custom-fields/${field.id}`, { locationId })).status, 422)
    assert.equal((await s.send("PUT", "/custom-fields/none", { locationId, showInForms: true })).status, 404)
  })
})

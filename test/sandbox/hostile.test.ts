import { assert, describe, it } from "vitest"
import { routes } from "../../sandbox/routes.ts"
import type { Field, Shape } from "../../sandbox/http/shape.ts"
import { type Json, sandbox } from "./client.ts"
import { operations } from "./operations.ts"

const s = await sandbox({ contacts: 60 })
const { companyId, locationId } = s
const ofDocument1 = new Set(Object.values(operations).flat())
const tested = routes.filter(({ method, path }) => ofDocument1.has(`${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`))

const first = async (name: string): Promise<string> => (await s.records(name))[0]!["id"]
const ids: Record<string, string> = {
  locationId,
  contactId: await first("contacts"),
  workflowId: await first("workflows"),
  pipelineId: await first("pipelines"),
  userId: await first("users"),
  calendarId: await first("calendars"),
  eventId: await first("appointments"),
  conversationId: await first("conversations"),
  messageId: await first("messages"),
  emailMessageId: await first("emails"),
  objectKey: "business",
  type: "add"
}
const idsOfFolder: Record<string, string> = {
  notes: await first("notes"),
  customFields: await first("customFields"),
  "custom-fields": await first("objectFields"),
  opportunities: await first("opportunities"),
  "recurring-tasks": await first("recurringTasks")
}

const pathOf = (path: string): string =>
  path.replaceAll(/([\w-]+)\/:(\w+)/g, (_, folder: string, name: string) => {
    return `${folder}/${name === "id" ? idsOfFolder[folder] : ids[name]}`
  })

const hostile = [null, true, -1, 1e300, "", "\u0000", "__proto__", [], [null], [[]], {}, { a: { b: null } }]

/** A valid value of a field, so that only one member of a body is invalid at a time. */
const fitting = (name: string, field: Field): unknown => {
  if (name in ids) return ids[name]
  if (name === "companyId") return companyId
  if (field.choices !== undefined) return field.choices[0]
  if (field.format === "date-time") return "2027-01-02T03:04:05Z"
  if (field.type === "array") return field.items === undefined ? [] : [fitting(name, field.items)]
  if (field.type === "object") return members(field.fields ?? {})
  const values = { string: "x", number: 1, integer: 1, boolean: true, any: [] }
  return field.format === "email" ? "x@y.example" : field.format === "phone" ? "+12075550100" : values[field.type]
}

const members = (shape: Shape): Json =>
  Object.fromEntries(
    Object.entries(shape).flatMap(([name, field]) => (field.required ? [[name, fitting(name, field)]] : []))
  )

interface Attempt {
  sent: string
  path: string
  body?: Json
}

describe("no value in any body or query makes the server fail", () => {
  for (const route of tested.filter((one) => one.method !== "DELETE")) {
    it(`${route.method} ${route.path}`, async () => {
      const path = pathOf(route.path)
      const inQuery = route.location?.in === "query" ? `locationId=${locationId}&` : ""
      const base = { ...members(route.body ?? {}), ...(route.location?.in === "body" && { locationId }) }
      const query = members(route.query ?? {}) as Record<string, string>
      const at = (fields: Record<string, string>): string => `${path}?${inQuery}${new URLSearchParams(fields)}`
      const attempts: Array<Attempt> = [{ sent: "nothing", path: at(query) }]
      for (const name of Object.keys(route.body ?? {})) {
        for (const value of hostile) {
          attempts.push({ sent: `${name}=${JSON.stringify(value)}`, path: at(query), body: { ...base, [name]: value } })
        }
      }
      for (const name of Object.keys(route.query ?? {})) {
        for (const value of ["-1", "\u0000", "9".repeat(25), "__proto__", "a,b", "[]"]) {
          attempts.push({ sent: `${name}=${value}`, path: at({ ...query, [name]: value }) })
        }
      }
      const failed: Array<string> = []
      for (const attempt of attempts) {
        if ((await s.send(route.method, attempt.path, attempt.body)).status >= 500) failed.push(attempt.sent)
      }
      assert.deepEqual(failed, [])
    })
  }

  it("reads do not fail after these writes", async () => {
    const broken: Array<string> = []
    for (const route of tested.filter((one) => one.method === "GET" && one.query === undefined)) {
      const inQuery = route.location?.in === "query" ? `?locationId=${locationId}` : ""
      const headers = { Version: "v3", Authorization: `Bearer ${s.token}` }
      const response = await s.fetch(pathOf(route.path) + inQuery, { headers })
      await response.arrayBuffer()
      if (response.status >= 500) broken.push(route.path)
    }
    assert.deepEqual(broken, [])
    for (const name of "contacts opportunities appointments calendars users customFields tasks".split(" ")) {
      assert.isNotEmpty(await s.records(name))
    }
  })
})

describe("every operation", () => {
  it("is refused without its scope, a token or a version, and with a body of the wrong type", async () => {
    for (const route of tested) {
      const name = `${route.method} ${route.path}`
      const path = pathOf(route.path)
      const body = route.method === "GET" ? undefined : {}
      await s.post("/__sandbox/token", { removeScope: route.scope })
      assert.equal((await s.send(route.method, path, body)).status, 403, name)
      await s.post("/__sandbox/token", { addScope: route.scope })
      assert.equal((await s.send(route.method, path, body, { Authorization: "" })).status, 401, name)
      assert.equal((await s.send(route.method, path, body, { Version: "", Authorization: "" })).status, 401, name)
      if (route.body === undefined) continue
      assert.equal((await s.send(route.method, path, "a=b", { "Content-Type": "text/plain" })).status, 415, name)
      assert.equal((await s.send(route.method, path, "{")).status, 400, name)
    }
  })
})

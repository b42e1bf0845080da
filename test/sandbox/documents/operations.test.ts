import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { documentRecordShapes } from "../../../sandbox/description/document-records.ts"
import { recordShapes } from "../../../sandbox/description/records.ts"
import { furtherRoutes } from "../../../sandbox/families/further/routes.ts"
import type { Route } from "../../../sandbox/http/route.ts"
import { routes } from "../../../sandbox/routes.ts"
import { sandbox } from "../client.ts"
import { operations } from "./operations.ts"

const families = /^\/(emails|products|invoices|payments|social-media-posting|blogs|funnels|forms|surveys)\//
const written = (path: string): string => path.replaceAll(/:(\w+)/g, "{$1}")
const known = new Map(routes.map((route) => [`${route.method} ${written(route.path)}`, route]))

const isOfDocument3 = (route: Route): boolean => furtherRoutes.includes(route)

describe("the operations of document 2", () => {
  it("are exactly the routes of their families", () => {
    const documented = operations.map(({ method, path }) => `${method} ${path}`)
    assert.equal(new Set(documented).size, 50)
    assert.deepEqual(
      documented.filter((name) => !known.has(name)),
      []
    )
    const routed = routes
      .filter((route) => families.test(route.path) && !isOfDocument3(route))
      .map((route) => `${route.method} ${written(route.path)}`)
    assert.deepEqual(routed.toSorted(), documented.toSorted())
  })

  it("have a test file with the last part of their path", () => {
    for (const { path, testFile } of operations) {
      const text = readFileSync(new URL(testFile, import.meta.url), "utf8")
      const last = path.split("/").findLast((part) => /^[a-z]/.test(part))!
      assert.include(text, last, `${path} in ${testFile}`)
    }
  })

  it("need the documented scope, or none", () => {
    for (const { method, path, scope } of operations) {
      assert.equal(known.get(`${method} ${path}`)?.scope, scope, `${method} ${path}`)
    }
  })

  it("have a summary and described records", () => {
    for (const [name, route] of known) {
      if (!families.test(route.path)) continue
      assert.isNotEmpty(route.summary, name)
      assert.isTrue(route.returns !== undefined || route.status === 204, name)
    }
    const named = new Set(
      JSON.stringify(routes)
        .matchAll(/"record":"(\w+)"/g)
        .map(([, record]) => record!)
    )
    const described = { ...recordShapes, ...documentRecordShapes }
    assert.deepEqual(
      [...named].filter((record) => !(record in described)),
      []
    )
  })
})

const s = await sandbox({ contacts: 60 })
const l = s.locationId
const filled = (path: string): string =>
  path.replace("{locationId}", l).replaceAll(/\{\w+\}/g, "unknown") + `?locationId=${l}&altId=${l}&altType=location`

describe("every operation of document 2", () => {
  it("is refused without its scope and to another location", async () => {
    for (const { method, path, scope } of operations) {
      if (scope === undefined) continue
      await s.post("/__sandbox/token", { removeScope: scope })
      const body = method === "GET" ? undefined : { locationId: l, altId: l, altType: "location" }
      assert.equal((await s.send(method, filled(path), body)).status, 403, `${method} ${path}`)
      await s.post("/__sandbox/token", { addScope: scope })
    }
    for (const { method, path } of operations) {
      const body = method === "GET" ? undefined : { locationId: "other", altId: "other", altType: "location" }
      const { status } = await s.send(method, filled(path).replaceAll(l, "other"), body)
      assert.equal(status, 403, `${method} ${path}`)
    }
  })

  it("does not fail for hostile values in all members or all parameters", async () => {
    const values = [null, true, -1, "", "x", [null], [{}], { type: null, rrule: null }]
    for (const { method, path } of operations) {
      const route = known.get(`${method} ${path}`)!
      for (const value of values) {
        const all = Object.fromEntries(Object.keys(route.body ?? {}).map((name) => [name, value]))
        const account = { locationId: l, altId: l, altType: "location" }
        const body = method === "GET" ? undefined : { ...all, ...account }
        assert.isBelow(
          (await s.send(method, filled(path), body)).status,
          500,
          `${method} ${path} ${JSON.stringify(value)}`
        )
      }
      for (const value of ["-1", "1e9", "x", "%00", "2026-02-30"]) {
        const query = Object.keys(route.query ?? {}).map((name) => (name === "altType" ? "" : `&${name}=${value}`))
        const body = method === "GET" ? undefined : { locationId: l, altId: l, altType: "location" }
        const { status } = await s.send(method, filled(path) + query.join(""), body)
        assert.isBelow(status, 500, `${method} ${path} ${value}`)
      }
    }
  })
})

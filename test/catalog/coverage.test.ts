/** The coverage report compared with the read operations of the documents, as the sandbox lists them. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { coverageOf } from "../../src/catalog/coverage.ts"
import { discover } from "../../src/catalog/discover.ts"
import { tablesOf } from "../../src/catalog/tables.ts"
import { type Service, startService } from "../support/service.ts"

const catalogue = await discover()
const covered = coverageOf(catalogue)
/** The report names the parameter of a partition `{id}`; every other parameter has its name in the documents. */
const plain = (operation: string) =>
  operation.replace(/\{(type|objectKey|schemaKey|resourceType|source)\}|(?<=stats\/)[a-z-]+(?=\/)/, "{id}")
/** The POST requests that read. */
const searches = /(search|posts\/list|queues\/list|items)$/

describe("the coverage report", () => {
  let service: Service
  let documented: ReadonlyArray<string>
  beforeAll(async () => {
    service = await startService("--limits", "off", "--contacts", "5")
    const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, unknown>>
    }
    documented = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => method === "get" || (method === "post" && searches.test(path)))
        .map((method) => plain(`${method.toUpperCase()} ${path}`))
    )
  })
  afterAll(() => service.stop())

  it("lists every read operation of the two documents", () => {
    const named = new Set(covered.map(({ operation }) => plain(operation)))
    assert.isAbove(documented.length, 80)
    assert.deepStrictEqual(
      documented.filter((operation) => !named.has(operation)),
      []
    )
  })

  it("lists no operation that the documents do not have, and none twice", () => {
    const named = covered.map(({ operation }) => plain(operation)).filter((operation) => /^(GET|POST) /.test(operation))
    assert.deepStrictEqual(
      named.filter((operation) => !documented.includes(operation)),
      []
    )
    // Statistics are one operation, with the kind of campaign in its path.
    const separate = named.filter((operation) => !operation.includes("/stats/"))
    assert.deepStrictEqual(separate, [...new Set(separate)])
  })

  it("gives a reason for each operation without a table", () => {
    for (const { operation, tables, reason } of covered)
      assert.isTrue(tables.length > 0 || reason.length > 10, operation)
  })

  it("is as long as README.md says", () => {
    const readme = readFileSync("README.md", "utf8")
    const { resources } = catalogue
    assert.include(readme, `into ${resources.flatMap((one) => tablesOf(one)).length} tables`)
    assert.include(readme, `${resources.filter(({ unproven }) => unproven).length} lists are known`)
  })
})

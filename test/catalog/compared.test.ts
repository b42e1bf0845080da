/** Each resource is compared with the service by some test: one that nobody decided about fails here. */
import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { discover } from "../../src/catalog/discover.ts"
import { comparedElsewhere, tableByCollection } from "../support/compare.ts"

it("every resource is compared with a collection of the service, or by the test that is named for it", async () => {
  const { resources } = await discover()
  const compared = new Set<string>(Object.values(tableByCollection))
  assert.deepStrictEqual(
    resources.map(({ table }) => table).filter((table) => !compared.has(table) && !(table in comparedElsewhere)),
    []
  )
  const known = new Set(resources.map(({ table }) => table))
  assert.deepStrictEqual(
    [...compared, ...Object.keys(comparedElsewhere)].filter((table) => !known.has(table)),
    []
  )
  for (const [table, test] of Object.entries(comparedElsewhere))
    assert.match(readFileSync(test, "utf8"), new RegExp(`\\b${table}\\b`), `${test} reads ${table}`)
})

/** What one statement reads of many tables. */
import { assert, it } from "@effect/vitest"
import { inGroups } from "../../src/stores/warehouse/groups.ts"
import { limitsOf } from "../../src/values/limits.ts"
import { randomFrom } from "../support/random.ts"

it("groups hold every table once, in order, and no more tables or rows than one statement reads together", () => {
  const random = randomFrom(11)
  const crossed = new Set<string>()
  for (let round = 0; round < 200; round++) {
    const [tablesTogether, rowsTogether] = [1 + Math.floor(random() * 4), Math.floor(random() * 30)]
    const { warehouse } = limitsOf({ warehouse: { tablesTogether, rowsTogether } }, (name) => crossed.add(name))
    const tables = Array.from({ length: Math.floor(random() * 12) }, () => ({ size: Math.floor(random() * 20) }))
    const groups = inGroups(tables, warehouse)
    assert.deepStrictEqual(groups.flat(), tables)
    for (const group of groups) {
      assert.isAtMost(group.length, tablesTogether)
      // A table that is larger alone has a statement of its own.
      if (group.length > 1)
        assert.isAtMost(
          group.reduce((sum, { size }) => sum + size, 0),
          rowsTogether
        )
    }
  }
  assert.sameMembers([...crossed], ["warehouse.tablesTogether", "warehouse.rowsTogether"])
})

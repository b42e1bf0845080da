import { assert, it } from "@effect/vitest"
import type { Column } from "../../src/catalog/tables.ts"
import { same } from "../../src/features/verify/sampling.ts"

it.each([
  ["decimal", "7.5000", 7.5, true],
  ["decimal", "0.000000500", "0.0000005", true],
  ["decimal", "0.333333330", "0.3333333", false],
  ["text", "7.50", "7.5", false]
] as const)("a %s %s and %s mean the same: %s", (type, ours, theirs, expected) => {
  const column: Column = { name: "c", type, sql: "", description: "", personal: "none", detail: false }
  assert.strictEqual(same(column, ours, theirs), expected)
})

/** When the value of a row and that of the service are the same, and how they are shown. */
import { assert, describe, it } from "@effect/vitest"
import type { Column } from "../../src/catalog/tables.ts"
import { epochMs, isCompared, same, shown, textOf } from "../../src/features/verify/sampling.ts"

const column = (type: Column["type"]): Column => ({
  name: "c",
  type,
  sql: "",
  description: "",
  personal: "none",
  detail: false
})

describe("a value of the warehouse is that of the service", () => {
  it.each([
    ["text", "a", "a", true],
    ["text", "a", "A", false],
    ["text", "a", "\uFEFFa", true],
    ["text", "a\uFEFF", "a", false],
    ["text", "1", 1, true],
    ["instant", "1767225600000", "2026-01-01T00:00:00Z", true],
    ["instant", "1767225600000", 1_767_225_600_000, true],
    ["instant", "1767225600000", "2026-01-01T00:00:00.001Z", false],
    ["instant", "1767225600000", "soon", false],
    ["decimal", "7.5000", 7.5, true],
    ["decimal", "7", "7.000", true],
    ["decimal", "-0", 0, true],
    ["decimal", "-0.000", 0, true],
    ["decimal", "70", 7, false],
    ["decimal", "12345678901234567890.1", JSON.rawJSON("12345678901234567890.10"), true],
    ["decimal", "12345678901234567890.1", JSON.rawJSON("12345678901234567890.2"), false],
    ["count", "100", 100, true],
    ["count", "100", 10, false],
    ["json", '{"a":1,"b":[2]}', { b: [2], a: 1 }, true],
    ["json", '{"a":1}', '{ "a": 1 }', true],
    ["json", '{"a":1}', { a: 2 }, false],
    ["json", "not JSON", "not JSON", true],
    ["flag", "true", true, true],
    ["flag", "true", false, false],
    ["date", "2026-01-01", "2026-01-02", false]
  ] as const)("%s: %j and %j: %o", (type, ours, theirs, expected) =>
    assert.strictEqual(same(column(type), ours, theirs), expected)
  )
})

it("a value is shown in JSON, a time as one, and a long text in part", () => {
  assert.strictEqual(shown(column("instant"), "1767225600000"), '"2026-01-01T00:00:00.000Z"')
  assert.strictEqual(shown(column("instant"), "-1"), '"1969-12-31T23:59:59.999Z"')
  assert.strictEqual(shown(column("instant"), "soon"), '"soon"')
  assert.strictEqual(shown(column("text"), "1767225600000"), '"1767225600000"')
  assert.strictEqual(shown(column("text"), "x".repeat(60)), `"${"x".repeat(60)}"`)
  assert.strictEqual(shown(column("text"), "x".repeat(61)), `"${"x".repeat(60)}…"`)
})

it("a number keeps all its digits, and only columns of the service are compared", () => {
  assert.strictEqual(textOf(JSON.rawJSON("0.10000000000000000001")), "0.10000000000000000001")
  assert.strictEqual(textOf(7), "7")
  assert.isNaN(epochMs("soon"))
  assert.isFalse(isCompared(column("system" as Column["type"])))
  assert.isTrue(isCompared(column("text")))
})

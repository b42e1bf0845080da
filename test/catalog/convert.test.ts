/** What becomes of a value in a column of each type: it is stored as it was meant, is none, or is rejected; never another one. */
import { assert, describe, it } from "@effect/vitest"
import {
  Adjusted,
  Rounded,
  converters,
  hasLoneSurrogates,
  readable,
  rejected,
  unfitForKey,
  wellFormed
} from "../../src/catalog/convert.ts"
import type { ColumnType } from "../../src/catalog/fields.ts"

const converted = (type: ColumnType, value: unknown): unknown => {
  const found = converters[type](value)
  if (found === rejected) return "rejected"
  if (found instanceof Adjusted) return found.value === rejected ? "rejected with a reason" : { adjusted: found.value }
  return found instanceof Rounded ? { rounded: found.value } : found
}
const raw = JSON.rawJSON

describe("a value", () => {
  it.each([
    ["text", "a", "a"],
    ["text", "", ""],
    ["text", 7, "7"],
    ["text", false, "false"],
    ["text", raw("12345678901234567890"), "12345678901234567890"],
    ["text", { a: 1 }, "rejected"],
    ["text", ["a"], "rejected"],
    ["flag", true, true],
    ["flag", false, false],
    ["flag", "", null],
    ["flag", "TRUE", true],
    ["flag", "false", false],
    ["flag", "yes", "rejected"],
    ["flag", 1, "rejected"],
    ["flag", 0, "rejected"],
    ["count", 7, 7],
    ["count", -7, -7],
    ["count", 0, 0],
    ["count", "", null],
    ["count", "007", "007"],
    ["count", 7.5, "rejected"],
    ["count", "7.0", "rejected"],
    ["count", 2 ** 53 - 1, 2 ** 53 - 1],
    ["count", 2 ** 53, "rejected"],
    ["count", raw("9223372036854775807"), "9223372036854775807"],
    ["count", raw("9223372036854775808"), "rejected"],
    ["count", "-9223372036854775808", "-9223372036854775808"],
    ["count", "-9223372036854775809", "rejected"],
    ["count", "12345678901234567890", "rejected"],
    ["count", true, "rejected"],
    ["decimal", 7.5, "7.5"],
    ["decimal", "7.50", "7.5"],
    ["decimal", "", null],
    ["decimal", 0, "0"],
    ["decimal", "1e3", "1000"],
    ["decimal", "seven", "rejected"],
    ["decimal", "1,5", "rejected"],
    ["decimal", true, "rejected"],
    ["decimal", "1".repeat(60), "rejected with a reason"],
    ["instant", "", null],
    ["instant", "soon", "rejected"],
    ["instant", true, "rejected"],
    ["date", "2026-01-31", "2026-01-31"],
    ["date", "2026-01-31T23:00:00-05:00", "2026-01-31"],
    ["date", "", null],
    ["date", "31.01.2026", "rejected"],
    ["json", "a", '"a"'],
    ["json", 'say "a"', String.raw`"say \"a\""`],
    ["json", 7, "7"],
    ["json", { a: [1, null] }, '{"a":[1,null]}'],
    ["json", raw("1.10"), "1.10"]
  ] as ReadonlyArray<readonly [ColumnType, unknown, unknown]>)(
    "of type %s that is %j becomes %j",
    (type, sent, expected) => assert.deepStrictEqual(converted(type, sent), expected)
  )

  it("of more decimals than a column has is rounded, and said to be", () => {
    const found = converted("decimal", `0.${"1".repeat(40)}`) as { readonly rounded?: string }
    assert.match(found.rounded!, /^0\.1+$/)
    assert.isBelow(found.rounded!.length, 42)
  })
})

describe("a text with half a character", () => {
  it("is stored with the sign for a character that cannot be read, and noticed", () => {
    assert.strictEqual(wellFormed({ a: "x\ud800y", "\udc00": 1 }), '{"a":"x\ufffdy","\ufffd":1}')
    assert.strictEqual(wellFormed(String.raw`\ud800`), String.raw`"\\ud800"`, "six plain characters are no half")
    assert.strictEqual(wellFormed("🌊"), '"🌊"')
    assert.deepStrictEqual(["\ud800", { a: ["\udfff"] }, { "\ud800": 1 }].map(hasLoneSurrogates), [true, true, true])
    assert.deepStrictEqual(["🌊", { a: ["🌊"] }, 5, null, String.raw`\ud800`].map(hasLoneSurrogates), [
      false,
      false,
      false,
      false,
      false
    ])
  })

  it("is no key, and nor is one with a NUL", () =>
    assert.deepStrictEqual(["a\ud800", "a\0", "a", 5, ""].map(unfitForKey), [true, true, false, false, false]))
})

it("a value is readable as a text, a list with commas, or else as JSON", () => {
  assert.deepStrictEqual(["a", 7, ["a", 1, true], [], [["a"]], { a: 1 }, null].map(readable), [
    "a",
    "7",
    "a, 1, true",
    "",
    '[["a"]]',
    '{"a":1}',
    "null"
  ])
})

/** A page whose records are parsed when something is read of them is the page that JSON.parse returns. */
import { assert, describe, it } from "@effect/vitest"
import { at, parseExact } from "../../src/catalog/json.ts"
import { parsePage } from "../../src/catalog/sent-page.ts"
import { randomFrom } from "../support/random.ts"

const values = [
  '"plain"',
  '"ünï 😀"',
  '""',
  "0",
  "-12.5",
  "true",
  "null",
  "[]",
  "{}",
  '["a",{"b":[1]}]',
  '{"id":"inner","a.b":1}',
  '"quoted \\"id\\":1"',
  String.raw`"caf\u00e9"`,
  String.raw`"\ud800"`,
  "1E400",
  "12345678901234567890",
  "1.50",
  '{"a":1,"a":2}',
  '{"2":1,"1":2}',
  '{"__proto__":{"x":1}}',
  '{ "a" : 1 }'
]
const names = ["id", "_id", "dateAdded", "toString", "__proto__", "constructor", "7", "a.b", "ü", "length"]

/** Long enough to be searched. */
const padding = `"padding":"${"x".repeat(9000)}"`

const read = (text: string, path: string | undefined) => parsePage(Buffer.from(text), path)

describe("the records of a page", () => {
  it("have the values of JSON.parse, in whatever way they are read", () => {
    const random = randomFrom(11)
    const pick = (from: ReadonlyArray<string>) => from[Math.floor(random() * from.length)]!
    for (let page = 0; page < 200; page++) {
      const records = Array.from({ length: 5 }, () => {
        const members = Array.from({ length: Math.floor(random() * 7) }, () => `"${pick(names)}":${pick(values)}`)
        return random() < 0.05 ? pick(values) : `{${members.join(random() < 0.1 ? " , " : ",")}}`
      })
      const text = `{${padding},"meta":{"list":[${records.join(",")}],"total":${pick(values)}},"traceId":"t"}`
      const expected = parseExact(text) as object
      const { body, hasBigNumbers } = read(text, "meta.list")
      if (text.includes("1E400") || text.includes("12345678901234567890")) assert.isTrue(hasBigNumbers)
      const [found, parsed] = [body, expected].map((one) => at(one, "meta.list") as ReadonlyArray<object>)
      assert.strictEqual(found!.length, parsed!.length)
      for (const [index, record] of found!.entries())
        for (const name of [...names, "absent", "hasOwnProperty"])
          assert.strictEqual(JSON.stringify(at(record, name)), JSON.stringify(at(parsed![index], name)), name)
      for (const [index, record] of found!.entries()) {
        const other = parsed![index]!
        if (typeof other !== "object" || other === null) continue
        assert.deepStrictEqual(Object.keys(record), Object.keys(other))
        assert.deepStrictEqual(JSON.stringify({ ...record }), JSON.stringify({ ...other }))
        assert.strictEqual("id" in record, "id" in other)
        assert.strictEqual(Array.isArray(record), Array.isArray(other))
      }
      assert.strictEqual(JSON.stringify(body), JSON.stringify(expected))
    }
  })

  it.each([
    ["a list that is there twice", `{"list":[{"id":1}],${padding},"list":[{"id":2}]}`, "list"],
    ["no list", `{${padding},"list":{"id":1}}`, "list"],
    ["a name with an escape", String.raw`{${padding},"li\u0073t":[{"id":1}]}`, "list"],
    ["a list that is the body", `[{"id":1},{${padding}}]`, ""],
    ["no path", `{"list":[{"id":1}],${padding}}`, undefined]
  ])("%s is read as JSON.parse reads it", (_, text, path) =>
    assert.strictEqual(JSON.stringify(read(text, path).body), JSON.stringify(JSON.parse(text)))
  )

  it.each([
    `{${padding},"list":[{"id":1}`,
    `{${padding},"list":[{"id":1}]}x`,
    `{${padding},"list":[{"id":01}]}`,
    `{${padding},"list":[{"id":"\t"}]}`
  ])("what is not JSON is an error", (text) => assert.throws(() => read(text, "list"), SyntaxError))
})

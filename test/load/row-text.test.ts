/** The text of a row, on which its fingerprint depends: a change of one character would make every row a changed one. */
import { evolving } from "../../src/catalog/schema-policy.ts"
import { limitsOf } from "../../src/values/limits.ts"
import { assert, describe, it } from "@effect/vitest"
import { parseExact } from "../../src/catalog/json.ts"
import { boolean, count, decimal, id, json, map, rows, text, values } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { defineList } from "../../src/catalog/resource.ts"
import { randomFrom } from "../support/random.ts"
import { normaliserOf } from "../../src/stages/load/normalise/normalise.ts"

const things = defineList({
  table: "things",
  description: "Things.",
  source: "test",
  scope: "any",
  full: [{ request: get("/things"), paging: { kind: "once" }, records: "things", pageSize: 10 }],
  fields: {
    lines: rows("thing_lines", "Lines.", {
      sku: text("Article"),
      parts: rows("thing_parts", "Parts.", { id: id("Id"), bits: values("thing_bits", "Bits.", "bit", text("Bit")) }, [
        "id"
      ]),
      _id: text("Line id", { column: "id" })
    }),
    id: id("Id"),
    name: text("Name"),
    price: decimal("Price"),
    amount: count("Amount"),
    on: boolean("On"),
    meta: json("Anything", { textColumn: "meta_text" }),
    settings: map("thing_settings", "Settings.", { name: "channel", field: text("Channel") }, { status: text("S") }),
    tags: values("thing_tags", "Tags.", "tag", text("Tag"), { constants: { kind: "own" } })
  }
})
const normalise = normaliserOf(things)
/** What is derived from the others is left out. */
const read = (body: string) => {
  const { keyText: _text, hashNumber: _number, ...normalised } = normalise(parseExact(body), { location: "L" })
  return normalised
}

it("has the columns in the order of the definition, a key first, and those of child rows likewise", () =>
  assert.deepStrictEqual(
    read(
      `{"tags":["t"],"settings":{"SMS":{"status":"on"}},"meta":"m","on":true,"amount":7,"price":1.50,"name":"n","new":1,"id":"a",
        "lines":[{"_id":"l","parts":[{"id":"p","bits":["b"]}],"sku":"s"},{"parts":[{"id":"q"}]}]}`
    ),
    {
      row:
        '{"id":"a","thing_lines":[{"position":0,"sku":"s","id":"l"},{"position":1}],' +
        '"thing_parts":[{"id":"p","thing_line_id":"l"},{"id":"q"}],' +
        '"thing_bits":[{"bit":"b","thing_part_id":"p","thing_line_id":"l"}],' +
        '"name":"n","price":"1.5","amount":7,"on":true,"meta":"\\"m\\"","meta_text":"m",' +
        '"thing_settings":[{"channel":"SMS","status":"on"}],"thing_tags":[{"kind":"own","tag":"t"}],"_extra":"{\\"new\\":1}"}',
      key: ["a"],
      hash: "df738a228d9debb7909cfaace00f86da",
      unknown: [{ table: "things", field: "new", value: 1 }],
      roundedValues: [],
      unreadable: [],
      rejectedValues: [],
      rejectedRecords: [],
      unlistedValues: []
    }
  ))

describe("is printed as JSON.stringify prints it", () => {
  it.each([
    '"plain"',
    '""',
    String.raw`"quoted \"word\", back\\slash, \ud83d\ude00"`,
    String.raw`"\u0000\u0007\b\t\n\f\r\u001f\u007f\u0080\u2028\ufeff\ufffd"`,
    String.raw`"a backslash before \\ud800"`,
    "0",
    "-0",
    "1e21",
    "12345678901234567890",
    "true",
    "[]",
    '{"a":[1,"x",null]}',
    '["a","b"]',
    String.raw`["\"a\"", 2]`
  ])("%s", (value) => {
    for (const field of ["name", "meta", "new"]) {
      const { row } = read(`{"id":"a","${field}":${value},"tags":[${value}],"settings":{"c":{"status":${value}}}}`)
      assert.strictEqual(JSON.stringify(JSON.parse(row!)), row)
    }
  })

  it("whatever its length, also beside others", () => {
    const random = randomFrom(4)
    const letters = ["a", "Z", "0", " ", "'", '"', "\\", "\n", "é", "€", "😀", "<", "\u007f"]
    for (let length = 0; length < 300; length = length < 80 ? length + 1 : length + 17)
      for (const kinds of [5, letters.length]) {
        const text = Array.from({ length }, () => letters[Math.floor(random() * kinds)]!).join("")
        const { row } = read(JSON.stringify({ id: `i${text}`, name: text, tags: [text, "last"], meta: text }))
        const { _extra: _, ...found } = JSON.parse(row!) as Record<string, unknown>
        assert.deepStrictEqual(
          found,
          {
            id: `i${text}`,
            name: text,
            meta: JSON.stringify(text),
            meta_text: text,
            thing_tags: [text, "last"].map((tag) => ({ kind: "own", tag }))
          },
          JSON.stringify(text)
        )
      }
  })

  it("but lone surrogates become U+FFFD, in values and in names", () => {
    const { row } = read(String.raw`{"id":"a","name":"\ud800","meta":["\\\udfff"],"n\udc00":"\ud800\ud800"}`)
    assert.strictEqual(
      row,
      String.raw`{"id":"a","name":"�","meta":"[\"\\\\�\"]","meta_text":"\\�","_extra":"{\"n�\":\"��\"}"}`
    )
  })
})

it("a record whose row is longer than one may be is rejected whole, and one that is not is loaded", () => {
  const { load } = limitsOf({ load: { rowLength: 300 } })
  const long = (name: string) => normaliserOf(things, evolving, load)({ id: "a", name }, { location: "L" })
  assert.isDefined(long("x").row)
  const { rejectedRecords, row } = long("x".repeat(300))
  assert.isUndefined(row)
  assert.match(rejectedRecords[0]!.reason, /^larger than 0\.0002\d* MB$/)
})

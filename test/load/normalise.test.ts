import { assert, describe, it } from "@effect/vitest"
import { parseExact } from "../../src/catalog/json.ts"
import {
  enumeration,
  openEnum,
  count,
  date,
  decimal,
  map,
  boolean,
  id,
  instant,
  json,
  object,
  rows,
  text,
  ignored,
  values,
  alias
} from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { defineList } from "../../src/catalog/resource.ts"
import { normaliserOf } from "../../src/stages/load/normalise/normalise.ts"

const things = defineList({
  table: "things",
  description: "Things.",
  source: "test",
  scope: "things.readonly",
  full: [{ request: get("/things"), paging: { kind: "once" }, records: "things", pageSize: 10 }],
  fields: {
    _id: id("Id"),
    id: alias("_id"),
    name: text("Name"),
    at: instant("When"),
    day: date("Day"),
    price: decimal("Price in `currency`"),
    share: decimal("Share, 0 to 100"),
    count: count("Count"),
    on: boolean("On"),
    kind: openEnum("Kind"),
    meta: json("Anything", { textColumn: "meta_text" }),
    cursor: ignored,
    locationId: text("Location", { column: "location_id" }),
    business: object({ name: text("Name of the business") }),
    owner: object(
      { id: text("Id of the owner", { column: "owner_id" }), userId: alias("id") },
      { whole: json("The owner, as sent", { column: "owner" }), plain: "id" }
    ),
    taxes: rows("thing_taxes", "Taxes.", { id: text("Tax id"), rate: decimal("Rate") }, ["id"], { plain: "id" }),
    tags: values("thing_tags", "Tags.", "tag", text("Tag")),
    lines: rows("thing_lines", "Lines.", { sku: text("Article"), qty: decimal("Quantity") }),
    settings: map(
      "thing_settings",
      "Settings.",
      { name: "channel", field: text("Channel") },
      { status: text("Status") }
    )
  }
})
const normalise = normaliserOf(things)
const read = (body: string) => {
  const { row, ...rest } = normalise(parseExact(body), { location: "L" })
  return { row: row === undefined ? undefined : (JSON.parse(row) as Record<string, unknown>), ...rest }
}
const column = (name: string, json: string) => {
  const { row, rejectedValues } = read(`{"_id":"a","${name}":${json}}`)
  return rejectedValues.length > 0 ? "rejected" : (row?.[name] ?? null)
}

describe("a value", () => {
  it.each([
    ["at", '"2026-01-31T10:00:00.000Z"', "2026-01-31T10:00:00.000Z"],
    ["at", '"2024-02-29T10:00:00Z"', "2024-02-29T10:00:00Z"],
    ["at", '"2026-01-05T10:00:00.1234567Z"', "2026-01-05T10:00:00.123456Z"],
    ["at", '"2026-01-31T10:00:00+02:00"', "2026-01-31T10:00:00.000000+02:00"],
    ["at", '"2026-01-31T10:00:00+99:99"', "rejected"],
    ["at", '"2026-01-31T10:00:00.123456789-0530"', "2026-01-31T10:00:00.123456-05:30"],
    ["at", '"2021-07-16 11:00:00"', "2021-07-16T11:00:00.000000Z"],
    ["at", "1700000000000", "2023-11-14T22:13:20.000Z"],
    ["at", '"1700000000000"', "2023-11-14T22:13:20.000Z"],
    ["at", '"2026-01-31"', "2026-01-31"],
    ["at", '"2026-01-31T24:00:00Z"', "2026-02-01T00:00:00.000000Z"],
    ["day", "7776000000", "1970-04-01"],
    ["day", '"2026-01-31T23:00:00-05"', "2026-01-31"],
    ["day", '"1980/12/31"', "1980-12-31"],
    ["day", '"12/31/1980"', "1980-12-31"],
    ["day", '"1980-12-31"', "1980-12-31"],
    ["day", '"12-31-1980"', "1980-12-31"],
    ["day", '"1980.12.31"', "1980-12-31"],
    ["day", '"12.31.1980"', "1980-12-31"],
    ["day", '"1980_12_31"', "1980-12-31"],
    ["day", '"12_31_1980"', "1980-12-31"],
    ["day", '"2024-02-29T23:00:00.000Z"', "2024-02-29"],
    ["day", '"1980/12/31 23:00"', "1980-12-31"],
    ["day", '"1980-12-31T23:00:00.123456789+0200"', "1980-12-31"],
    ["price", "0.10", "0.1"],
    ["price", '"1234.50"', "1234.5"],
    ["price", "-3", "-3"],
    ["price", "12345678901234.1234", "12345678901234.1234"],
    ["share", "0.9876543", "0.9876543"],
    ["share", '" +12345678901234.50 "', "12345678901234.5"],
    ["share", "5e-7", "0.0000005"],
    ["share", "-1.25e-5", "-0.0000125"],
    ["share", '"1E+3"', "1000"],
    ["share", "1.5e3", "1500"],
    ["count", '"42"', "42"],
    ["count", "9007199254740993", "9007199254740993"],
    ["on", '"true"', true],
    ["on", "false", false],
    ["name", "12345678901234567890", "12345678901234567890"],
    ["name", '""', ""],
    ["kind", '"an unlisted value"', "an unlisted value"],
    ["meta", '{"a":[1.5,null,"x"]}', '{"a":[1.5,null,"x"]}'],
    ["meta", "12345678901234567890123", "12345678901234567890123"]
  ])("%s %s becomes %s", (name, json, expected) => assert.strictEqual(column(name, json), expected))
})

describe("a value that does not fit is rejected and leaves NULL", () => {
  it.each([
    ["at", '"2026-02-30T10:00:00Z"'],
    ["at", '"2026-02-29T10:00:00Z"'],
    ["at", '"0000-01-05T10:00:00Z"'],
    ["at", '"yesterday"'],
    ["at", '"2026-01-31T25:00:00Z"'],
    ["at", "5"],
    ["at", "1e300"],
    ["at", "{}"],
    ["day", '"31/12/1980"'],
    ["day", '"2023-02-29"'],
    ["day", '"1980-02-03Tgarbage"'],
    ["day", '"1980-02-03T"'],
    ["day", '"1980-02-03T25:00:00Z"'],
    ["price", '"1,234.50"'],
    ["price", '"€ 12.50"'],
    ["price", '"12.50 EUR"'],
    ["price", "true"],
    ["price", "1e31"],
    ["price", "12345678901234567890123456789012"],
    ["share", '"a third"'],
    ["count", "1.5"],
    ["count", '"9223372036854775808"'],
    ["on", '"yes"'],
    ["name", '{"first":"Ann"}'],
    ["name", "[]"]
  ])("%s %s", (name, json) => {
    const { row, rejectedValues } = read(`{"_id":"a","${name}":${json}}`)
    assert.notProperty(row, name)
    assert.deepStrictEqual(
      rejectedValues.map(({ column, key, table }) => [table, key, column]),
      [["things", "a", name]]
    )
    assert.deepStrictEqual(JSON.parse(rejectedValues[0]!.value), JSON.parse(json))
  })
})

describe("a number with more decimals than its column is rounded half-even and counted", () => {
  it.each([
    ["33.333333333333336", "33.3333333"],
    ["0.123456789012345678", "0.1234568"],
    ["1000000.00000001", "1000000"],
    ['"0.00000025"', "0.0000002"],
    ["1e-10", "0"]
  ])("%s becomes %s", (sent, rounded) => {
    const { row, rejectedValues, roundedValues } = read(`{"_id":"a","price":${sent}}`)
    assert.strictEqual(row?.["price"], rounded)
    assert.deepStrictEqual(roundedValues, [{ table: "things", column: "price" }])
    assert.deepStrictEqual(rejectedValues, [])
  })

  it.each([
    ["0.30000000000000004", "0.3"],
    ["10.049999999999999", "10.05"],
    ["4750.650000000001", "4750.65"],
    ["-99.99999999999986", "-100"],
    ['"1256650834.2866001"', "1256650834.2866001"],
    ["1256650834.28660012", "1256650834.2866001"],
    ["3.3000000000000003e2", "330"]
  ])("unless only the noise of a floating-point number is dropped: %s is %s", (sent, stored) => {
    const { row, rejectedValues, roundedValues } = read(`{"_id":"a","price":${sent}}`)
    assert.strictEqual(row?.["price"], stored)
    assert.deepStrictEqual([rejectedValues, roundedValues], [[], []])
  })

  it("a number too large for its column is rejected with that reason", () => {
    const { rejectedValues } = read('{"_id":"a","price":12345678901234567890123456789012}')
    assert.deepStrictEqual(
      rejectedValues.map(({ value, reason, stored }) => [value, reason, stored]),
      [["12345678901234567890123456789012", "has more than 31 digits before the point", undefined]]
    )
  })
})

describe("data that has no column", () => {
  it("unknown fields at any depth go to _extra, even one called __proto__", () => {
    const { row } = read(
      '{"_id":"a","new":{"x":1},"__proto__":{"y":2},"business":{"name":"B","vat":"DE1"},"cursor":"c"}'
    )
    assert.strictEqual(row?.["business_name"], "B")
    assert.strictEqual(row?.["_extra"], '{"new":{"x":1},"__proto__":{"y":2},"business.vat":"DE1"}')
  })

  it.each([
    ['"u1"', { owner_id: "u1" }],
    ["7", { owner_id: "7" }],
    ['{"userId":"u1","name":"Ann"}', { owner_id: "u1", owner: '{"userId":"u1","name":"Ann"}' }]
  ])("a plain value in place of an object goes to the same column: %s", (owner, expected) => {
    const { row, rejectedValues } = read(`{"_id":"a","owner":${owner}}`)
    assert.deepStrictEqual(row, { id: "a", ...expected })
    assert.deepStrictEqual(rejectedValues, [])
  })

  it("a record that names another parent stays with the requested one, and is reported", () => {
    const notes = defineList({
      ...things,
      childOf: { table: "persons", column: "person_id", refreshAfter: "1 day", strategy: things.full[0]! },
      fields: { _id: id("Id"), personId: text("Person") }
    })
    const normaliseChild = (record: object) =>
      normaliserOf(notes)(record, { location: "L", given: { person_id: "p1" } })
    for (const record of [{ _id: "a" }, { _id: "a", personId: "p1" }]) {
      const { row, rejectedValues } = normaliseChild(record)
      assert.deepStrictEqual([JSON.parse(row!).person_id, rejectedValues], ["p1", []])
    }
    const { row, rejectedValues } = normaliseChild({ _id: "a", personId: "p2" })
    assert.strictEqual(JSON.parse(row!).person_id, "p1")
    const reason = "names a parent other than the one it was requested for, which is stored"
    assert.deepStrictEqual(rejectedValues, [
      { table: "things", key: "a", column: "person_id", value: '"p2"', reason, stored: true }
    ])
  })

  it("rejects of child rows name the row by its key, or by its position if it has none", () => {
    const { rejectedRecords, rejectedValues } = read(
      '{"_id":"a","price":"x","lines":[{"sku":"s"},{"qty":"many"},7],"taxes":[{"id":"t1","rate":"high"},{"rate":1}],' +
        '"settings":{"SMS":{"status":{}},"Call":3},"tags":["x","x"]}'
    )
    assert.deepStrictEqual(
      rejectedValues.map(({ table, key, column }) => [table, key, column]),
      [
        ["things", "a", "price"],
        ["thing_lines", "a/thing_lines/1", "qty"],
        ["thing_taxes", "a/thing_taxes/t1", "rate"],
        ["thing_settings", "a/thing_settings/SMS", "status"]
      ]
    )
    assert.deepStrictEqual(
      rejectedRecords.map(({ reason }) => reason),
      [
        "not an object; in a/thing_lines/2",
        "no id; in a/thing_taxes/1",
        "not an object; in a/thing_settings/Call",
        "duplicate tag; in a/thing_tags/1"
      ]
    )
  })

  it("a list may contain ids, objects and invalid items", () => {
    const { row, rejectedRecords } = read('{"_id":"a","taxes":["t1",{"id":"t2","rate":19},["t3"],null]}')
    assert.deepStrictEqual(row?.["thing_taxes"], [{ id: "t1" }, { id: "t2", rate: "19" }])
    assert.deepStrictEqual(
      rejectedRecords.map(({ record }) => record),
      ['["t3"]', "null"]
    )
  })

  it("the id of another location is kept, that of the own location is not repeated", () => {
    assert.notProperty(read('{"_id":"a","locationId":"L"}').row, "_extra")
    assert.strictEqual(read('{"_id":"a","locationId":"M"}').row?.["_extra"], '{"locationId":"M"}')
  })

  it.each(['{"name":"x"}', '{"_id":""}', '{"_id":null}', '{"_id":{"$oid":"1"}}', '"text"', "7", "null"])(
    "a record without an id is rejected whole: %s",
    (body) => {
      const { row, rejectedRecords } = read(body)
      assert.isUndefined(row)
      assert.deepStrictEqual(JSON.parse(rejectedRecords[0]!.record), JSON.parse(body))
    }
  )

  it("children keep their position, and items that cannot be child rows are rejected", () => {
    const { row, rejectedRecords, rejectedValues } = read(
      '{"_id":"a","tags":["x","y","x"],"lines":[{"sku":"s","qty":"2.5"},"odd",{"qty":"many"}],"settings":{"SMS":{"status":"on","why":1}}}'
    )
    assert.deepStrictEqual(row?.["thing_tags"], [{ tag: "x" }, { tag: "y" }])
    assert.deepStrictEqual(row?.["thing_lines"], [{ position: 0, sku: "s", qty: "2.5" }, { position: 2 }])
    assert.deepStrictEqual(row?.["thing_settings"], [{ channel: "SMS", status: "on", _extra: '{"why":1}' }])
    assert.deepStrictEqual(
      rejectedRecords.map(({ table }) => table),
      ["thing_tags", "thing_lines"]
    )
    assert.deepStrictEqual(
      rejectedValues.map(({ table, column }) => [table, column]),
      [["thing_lines", "qty"]]
    )
  })

  it("any text is stored unchanged, but a lone surrogate as U+FFFD", () => {
    const name = 'line\nline\t"quoted" =1+1 \u0000 Zoë 👩‍👩‍👧 ' + "x".repeat(65_536)
    assert.strictEqual(read(JSON.stringify({ _id: "a", name })).row?.["name"], name)
    const lone = read('{"_id":"a","name":"\\ud800!"}')
    assert.strictEqual(lone.row?.["name"], "\ufffd!")
    assert.lengthOf(lone.rejectedValues, 1)
    const replacementCharacter = read('{"_id":"a","name":"\ufffd!"}')
    assert.strictEqual(replacementCharacter.row?.["name"], "\ufffd!")
    assert.deepStrictEqual(replacementCharacter.rejectedValues, [])
  })

  it("a body nested thousands deep is rejected, not a crash", () => {
    const { row, rejectedRecords } = read(`{"_id":"a","meta":${"[".repeat(20_000)}${"]".repeat(20_000)}}`)
    assert.isUndefined(row)
    assert.match(rejectedRecords[0]!.reason, /nested/)
  })
})

describe("the fingerprint", () => {
  const hashOf = (body: string) => read(body).hash
  it("does not depend on the order of the fields", () =>
    assert.strictEqual(
      hashOf('{"_id":"a","name":"n","tags":["t"],"lines":[{"sku":"s","qty":1}]}'),
      hashOf('{"lines":[{"qty":1,"sku":"s"}],"tags":["t"],"name":"n","_id":"a"}')
    ))
  it("changes with a value, a child and an unknown field", () => {
    const all = [
      '{"_id":"a"}',
      '{"_id":"a","name":"n"}',
      '{"_id":"a","tags":["t"]}',
      '{"_id":"a","tags":[]}',
      '{"_id":"a","new":1}'
    ]
    assert.strictEqual(new Set(all.map(hashOf)).size, all.length)
  })
  it("does not change with a field used for paging only", () =>
    assert.strictEqual(hashOf('{"_id":"a","cursor":1}'), hashOf('{"_id":"a","cursor":2}')))
})

describe("a value of an enum column that the definition does not list", () => {
  const deals = defineList({
    ...things,
    table: "deals",
    fields: {
      id: id("Id"),
      status: enumeration(["open", "won"]),
      state: alias("status"),
      kind: openEnum("Kind"),
      visits: rows(
        "deal_visits",
        "Visits",
        {
          id: id("Id"),
          end: enumeration(["kept", "missed"]),
          calls: rows("deal_calls", "Calls", { result: enumeration(["answered"]) })
        },
        ["id"]
      )
    }
  })
  const unlisted = (record: object, given = {}) => normaliserOf(deals)(record, { location: "L", given }).unlistedValues

  it.each([
    [{ status: "won" }, []],
    [{ status: "" }, []],
    [{ status: null, kind: null }, []],
    [{ status: {} }, []],
    [{ status: "on_hold" }, ["deals.status = on_hold"]],
    [{ status: 7 }, ["deals.status = 7"]],
    [{ status: "won", state: "lost" }, []],
    [{ status: "\ud800" }, ["deals.status = \ufffd"]],
    [{ kind: "any" }, ["deals.kind = any"]],
    [{ kind: "a\0b" }, ["deals.kind = a\0b"]],
    [
      {
        visits: [
          { id: "1", end: "kept" },
          { id: "2", end: "late", calls: [{ result: "busy" }, { result: "answered" }] }
        ]
      },
      ["deal_visits.end = late", "deal_calls.result = busy"]
    ],
    [{ visits: [{ id: "1" }, { id: "1", end: "late", calls: [{ result: "busy" }] }] }, []],
    [{ visits: [{ end: "late" }, "late"] }, []]
  ])("%j", (record, expected) =>
    assert.deepStrictEqual(
      unlisted({ id: "a", ...record }).map(({ table, column, value }) => `${table}.${column} = ${value}`),
      expected
    )
  )

  it("is found if it follows from where the record was read, and not in a rejected record", () => {
    assert.deepStrictEqual(unlisted({ id: "a" }, { status: "lost" }), [
      { hasList: true, table: "deals", column: "status", value: "lost" }
    ])
    assert.deepStrictEqual(unlisted({ status: "lost" }), [])
  })
})

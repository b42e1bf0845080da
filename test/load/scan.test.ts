/**
 * Reading records as bytes gives what the normaliser gives, for every definition: random records with the values and the oddities
 * of the live service, and with those of nobody's.
 */
import { evolving } from "../../src/catalog/schema-policy.ts"
import { limitsOf, usualLimits } from "../../src/values/limits.ts"
import { assert, describe, it } from "@effect/vitest"
import { hash } from "node:crypto"
import type { Field, Fields } from "../../src/catalog/fields.ts"
import { discover } from "../../src/catalog/discover.ts"
import { at, parseExact } from "../../src/catalog/json.ts"
import { type Resource, transformed } from "../../src/catalog/resource.ts"
import { tablesOf } from "../../src/catalog/tables.ts"
import { type Origin, normaliserOf } from "../../src/stages/load/normalise/normalise.ts"
import { listsIn } from "../../src/stages/load/scan/child-lists.ts"
import {
  type ReadRecord,
  type RecordFilter,
  type StoredPage,
  pageReaderOf
} from "../../src/stages/load/scan/scan-page.ts"
import { randomFrom } from "../support/random.ts"

const { resources } = await discover()

/** Values as JSON: those that columns expect, and others. */
const usual: Readonly<Record<string, ReadonlyArray<string>>> = {
  text: ['"plain"', '"ünï 😀"', '""', String.raw`"a \"quoted\" line\nand a tab\t"`, "7", "true"],
  instant: ['"2026-11-25T10:00:00.000Z"', '"2026-01-31T23:59:59Z"', '""'],
  date: ['"2026-11-25"', '"1970-12-31"'],
  decimal: ["12.5", "0", "-3", "1000000.25"],
  count: ["0", "12", "-4"],
  flag: ["true", "false"],
  json: ['"text"', "1.5", '["a","b, c",1,true]', '{"a":{"b":[1,null]},"c":""}', "[]", "{}", "false"]
}
const odd = [
  "null",
  '""',
  "-0",
  "1.50",
  "1e3",
  "1E400",
  "12345678901234567890",
  "0.1234567890123456789",
  "-12.340",
  "1700000000000",
  String.raw`"\ud800"`,
  String.raw`"a\u0000b"`,
  String.raw`"caf\u00e9"`,
  String.raw`"\u2028"`,
  String.raw`"sl\/ash"`,
  '"\ufeffbom"',
  '"\ufffd"',
  '"2024-02-30T10:00:00Z"',
  '"2024-02-29T10:00:00.123456Z"',
  '"2024-02-28T10:00:00.1234567Z"',
  '"31.01.2024"',
  '"2024-01-31T10:00:00+02:00"',
  '"0000-01-01T00:00:00Z"',
  '"9999-12-30T23:59:59Z"',
  '"infinity"',
  '"TRUE"',
  "[null]",
  '[["a"]]',
  '[{"x":1}]',
  '{"a":1,"a":2}',
  '{"2":1,"1":2}',
  '{"__proto__":1}',
  '[ 1 , "a" ]',
  '{"a" : 1.50}',
  '"   "',
  '"1700000000000"',
  "99999999999999999",
  '{"id":"u1"}',
  '{"_id":5,"name":"n"}',
  "[1,1.50]",
  '["a","a"]',
  "[true]"
]

class Records {
  private readonly random: () => number
  private readonly isOdd: boolean

  constructor(random: () => number, isOdd: boolean) {
    this.random = random
    this.isOdd = isOdd
  }

  /** The text of a record. */
  record({ childOf, detail, fields, key = ["id"] }: Resource, location: string): string {
    const text = this.object({ ...fields, ...detail?.fields }, location, key)
    return childOf === undefined ? text : text.replace(parentField(childOf.column), '$1"parent1"')
  }

  private pick<A>(from: ReadonlyArray<A>): A {
    return from[Math.floor(this.random() * from.length)]!
  }

  private happens(probability: number): boolean {
    return this.isOdd && this.random() < probability
  }

  private object(fields: Fields, location: string, key: ReadonlyArray<string> = []): string {
    const members = Object.entries(fields).flatMap(([name, field]): ReadonlyArray<string> => {
      const isKey = field.kind === "column" && key.includes(field.column ?? name)
      if (!isKey && this.random() < (field.kind === "alias" ? (this.isOdd ? 0.9 : 1) : 0.3)) return []
      const sent = name.endsWith("*") ? `${name.slice(0, -1)}Any` : name
      const value = this.happens(isKey ? 0.02 : 0.06) ? this.pick(odd) : this.value(field, fields, location, isKey)
      return this.happens(0.01) ? [`"${sent}":${value}`, `"${sent}":${this.pick(odd)}`] : [`"${sent}":${value}`]
    })
    if (this.random() < 0.2) members.push(`"newField":${this.pick(usual["json"]!)}`)
    if (this.happens(0.1))
      members.push(`"${this.pick(["new.field", "7", "__proto__", "traceId", ""])}":${this.pick(odd)}`)
    if (this.happens(0.3)) members.reverse()
    const [space, comma] = this.happens(0.1) ? ["\n  ", " ,\t"] : ["", ","]
    return `{${space}${members.join(comma)}${space}}`
  }

  private value(field: Field, fields: Fields, location: string, isKey: boolean): string {
    switch (field.kind) {
      case "column":
        if (field.column === "location_id") return JSON.stringify(this.happens(0.05) ? "elsewhere" : location)
        return isKey
          ? `"k${Math.floor(this.random() * 1e9)}"`
          : this.pick([...usual[field.type]!, ...(field.enumValues ?? []).map((word) => `"${word}"`)])
      case "alias":
        return field.of in fields && fields[field.of]!.kind !== "alias"
          ? this.value(fields[field.of]!, fields, location, false)
          : '"x"'
      case "transport":
        return this.pick(['"c"', "[1,2]"])
      case "object":
        return this.random() < 0.1
          ? '"plain"'
          : this.object(
              field.rest ? { ...field.fields, answer: { ...field.rest.fields["value"]! } } : field.fields,
              location
            )
      case "list":
      case "entries": {
        const items = Array.from({ length: Math.floor(this.random() * 4) }, (_, n) => {
          const names = Object.keys(field.fields)
          const isScalar = names.join() === "value"
          const item = isScalar
            ? this.value(field.fields["value"]!, {}, location, false)
            : this.object(field.fields, location, field.key)
          return field.kind === "entries"
            ? `"${this.happens(0.1) ? "7" : `key${n}`}":${this.happens(0.03) ? "null" : item}`
            : this.happens(0.03)
              ? this.pick(odd)
              : item
        })
        return field.kind === "entries" ? `{${items.join(",")}}` : `[${items.join(",")}]`
      }
    }
  }
}

/** The field that fills a column, up to its value, and the value if it is a text. */
const parentField = (column: string) =>
  new RegExp(`("${column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())}":)"[^"\\\\]*"`)

/** What both ways of reading return. */
type Read = Omit<ReturnType<ReturnType<typeof normaliserOf>>, "row"> & { readonly row: string | Buffer | undefined }

const comparable = ({ row, unknown, unlistedValues, ...read }: Read) => ({
  ...read,
  row: row?.toString(),
  unknown: unknown.map(({ field, table, value }) => `${table}.${field} ${JSON.stringify(value)}`).toSorted(),
  unlistedValues: unlistedValues.map((value) => JSON.stringify(value)).toSorted()
})

const given = ({ childOf }: Resource) => (childOf ? { [childOf.column]: "parent1" } : {})

const readAll = (
  resource: Resource,
  page: StoredPage,
  origin: Origin,
  limits = usualLimits.load
): ReadonlyArray<ReadRecord> => {
  const reading = pageReaderOf(resource, evolving, limits)(page, origin)
  let step = reading.next()
  while (!step.done) step = reading.next()
  // The bytes of a row are valid until the next page is read.
  return step.value.map((read) => ({ ...read, row: read.row instanceof Buffer ? Buffer.from(read.row) : read.row }))
}

/** Leaves out about two thirds. */
const filter: RecordFilter = (_resource, _location, key) => hash("md5", key.join()) < "5"

/** A filter leaves out no record that it accepts, and whatever else. Returns how many it leaves out unread. */
const compareFiltered = (resource: Resource, page: StoredPage, origin: Origin): number => {
  const all = readAll(resource, page, origin)
  const filtered = readAll(resource, { ...page, filter }, origin)
  const accepted = (some: ReadonlyArray<ReadRecord>) =>
    some
      .filter(({ key, row }) => row !== undefined && filter(resource, "L", key))
      .map((one) => {
        const { childLists: _, ...read } = one
        return comparable(read)
      })
  assert.deepStrictEqual(accepted(filtered), accepted(all))
  return all.length - filtered.length
}

const compare = (
  resource: Resource,
  records: ReadonlyArray<string>,
  limits = usualLimits.load
): { inBytes: number; leftOut: number } => {
  const body = `{"meta":{"total":3,"list":[]},"data":{"list":[${records.join(",")}]},"traceId":"t"}`
  const origin = { location: "L", given: given(resource) }
  const page = { body: Buffer.from(body), hasBigNumbers: true, path: "data.list", isMixed: false }
  const read = readAll(resource, page, origin, limits)
  const normalise = normaliserOf(resource, evolving, limits)
  const expected = (at(parseExact(body, true), "data.list") as ReadonlyArray<unknown>).flatMap((record) =>
    transformed(resource, record).map((one) => normalise(one, origin))
  )
  let inBytes = 0
  const tables = tablesOf(resource).map(({ name }) => name)
  const found = read.map(({ childLists, ...read }) => {
    if (read.row instanceof Buffer) {
      inBytes++
      const { from, numbers, to } = childLists!
      assert.deepStrictEqual(Array.from(numbers.slice(from, to)), [...listsIn(read.row, tables.slice(1)).numbers])
    }
    return read
  })
  assert.deepStrictEqual(found.map(comparable), expected.map(comparable))
  return { inBytes, leftOut: compareFiltered(resource, page, origin) }
}

describe("records of bytes become the rows of the normaliser", () => {
  for (const resource of resources)
    it(resource.table, () => {
      const random = randomFrom(resource.table.length * 7919)
      for (let page = 0; page < 12; page++) {
        const records = new Records(random, true)
        const [rowLength, few] = [Math.floor(random() * 2000), Math.floor(random() * 3)]
        const small = limitsOf({ load: { rowLength, learntFields: few, scannedRows: few, enumValues: few } })
        compare(
          resource,
          Array.from({ length: 20 }, () => records.record(resource, "L")),
          page % 3 === 0 ? small.load : usualLimits.load
        )
      }
      const records = new Records(random, false)
      const plain = compare(
        resource,
        Array.from({ length: 50 }, () => records.record(resource, "L"))
      )
      const isRead = resource.transform === undefined || resource.transformedBy !== undefined
      if (isRead) assert.isAbove(plain.inBytes, 4, "records without oddities are read as bytes")
      if (resource.table === "contacts")
        assert.isAbove(plain.leftOut, 20, "records that a filter leaves out are not read")
    })
})

describe("a page is read by the normaliser", () => {
  const contacts = resources.find(({ table }) => table === "contacts")!
  const read = (body: string | Buffer) => {
    const page = { body: Buffer.from(body), hasBigNumbers: false, path: "contacts", isMixed: false }
    return readAll(contacts, page, { location: "L" }).map(({ key, row }) => [String(key), typeof row])
  }
  it("if its list is repeated, and the last one counts", () =>
    assert.deepStrictEqual(read('{"contacts":[{"id":"a"}],"contacts":[{"id":"b"}]}'), [["b", "string"]]))
  it("if the name of its list has an escape", () =>
    assert.deepStrictEqual(read(String.raw`{"cont\u0061cts":[{"id":"a"}]}`), [["a", "string"]]))
  it("not if there are blanks between its tokens", () =>
    assert.deepStrictEqual(read('{ "contacts" : [ {"id" : "a" } , { "id":"b"} ] }\n'), [
      ["a", "object"],
      ["b", "object"]
    ]))
  it("and a page without a list has no records", () => assert.deepStrictEqual(read('{"total":0}'), []))
})
